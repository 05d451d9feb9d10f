// Newline-delimited JSON on a stream, with a limit on what one line may be.

/** A command line with a large environment fits many times; nobody sends more in earnest. */
export const MAX_LINE = 1 << 20;
const NEWLINE = 10;

/** Cuts a stream into lines. */
export class LineReader {
  readonly #most: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(most: number = MAX_LINE) {
    this.#most = most;
  }

  /** The lines that are whole now; undefined where one is over the limit. */
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

/** The value in a line; undefined where it is no JSON object. */
export function decodeLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
