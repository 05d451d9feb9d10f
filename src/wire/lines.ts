// Newline-delimited JSON on a stream, with a limit on what one line may be.
import { jsonIn } from "../base/json.ts";

/** Many times the size of a command line with a large environment; no client has a reason to send more. */
export const MAX_LINE = 1 << 20;
const NEWLINE = 10;

/** Cuts a stream into lines. */
export class LineReader {
  readonly #most: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(most: number = MAX_LINE) {
    this.#most = most;
  }

  /** The lines that are complete now; undefined if one is over the limit. */
  push(bytes: Uint8Array): string[] | undefined {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const lines: string[] = [];
    for (let end = this.#rest.indexOf(NEWLINE); end >= 0; end = this.#rest.indexOf(NEWLINE)) {
      if (end > this.#most) return undefined;
      lines.push(this.#rest.toString("utf8", 0, end));
      this.#rest = this.#rest.subarray(end + 1);
    }
    return this.#rest.length > this.#most ? undefined : lines;
  }
}

export function encodeLine(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** The value in a line; undefined if it is not a JSON object. */
export function decodeLine(line: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(line);
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
