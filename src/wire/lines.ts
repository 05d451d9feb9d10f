// Newline-delimited JSON on a stream, with a limit on what one line may be.

import { ByteQueue } from "../base/byte-queue.ts";
import { jsonIn } from "../base/json.ts";

/** Many times the size of a command line with a large environment; no client has a reason to send more. */
export const MAX_LINE = 1 << 20;
/** What a client reads: one answer that is not a list, or a list from a daemon that knows no pages. */
export const MAX_ANSWER = 64 << 20;
const NEWLINE = 10;
const UTF8 = new TextEncoder();

/** Cuts a stream into lines. */
export class LineReader {
  readonly #most: number;
  readonly #queue = new ByteQueue();

  constructor(most: number = MAX_LINE) {
    this.#most = most;
  }

  /** The lines that are complete now; undefined if one is over the limit. */
  push(bytes: Uint8Array): string[] | undefined {
    const queue = this.#queue;
    queue.push(bytes);
    const lines: string[] = [];
    for (let end = queue.find(NEWLINE); end >= 0; end = queue.find(NEWLINE)) {
      if (end > this.#most) return undefined;
      lines.push(queue.text(end));
      queue.drop(end + 1);
    }
    return queue.length > this.#most ? undefined : lines;
  }
}

export function encodeLine(value: unknown): Uint8Array {
  return UTF8.encode(`${JSON.stringify(value)}\n`);
}

/** The value in a line; undefined if it is not a JSON object, or has more values than `most`. */
export function decodeLine(line: string, most?: number): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(line, most);
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
