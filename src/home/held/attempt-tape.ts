// The output of an attempt of a step, read from its tape without its holder: lines as they are completed.
import { joinPath } from "../../base/path.ts";
import { PlainText } from "../../core/terminal/plain-text.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Disk } from "../../world/disk.ts";

const PART_BYTES = 1 << 20;
/** To find the last lines: twenty that fit a window are not longer. */
const LAST_BYTES = 4 << 10;

export type Stream = "stdout" | "stderr";

const NAMES: Readonly<Record<Stream, string>> = { stdout: "tape", stderr: "stderr-tape" };

function tapeOf(disk: Disk, directory: string, stream: Stream): TapeReader {
  return new TapeReader(disk, joinPath(directory, NAMES[stream]));
}

export class AttemptTape {
  readonly #reader: TapeReader;
  readonly #plain = new PlainText();
  #at: number;

  constructor(disk: Disk, directory: string, stream: Stream) {
    this.#reader = tapeOf(disk, directory, stream);
    this.#at = this.#reader.start;
  }

  /** What is new since the last call. */
  *lines(): Generator<string> {
    for (;;) {
      const found = this.#reader.read(this.#at, PART_BYTES);
      if (found.kind === "end") return;
      if (found.kind === "bytes") yield* this.#plain.push(found.bytes);
      else this.#plain.gap();
      this.#at = found.kind === "bytes" ? found.offset + found.bytes.length : found.to;
    }
  }

  /** The unfinished line; empty if there is none. */
  get last(): string {
    return this.#plain.last;
  }
}

/** The newest non-empty lines, of the last `bytes`. */
export function lastLines(disk: Disk, directory: string, stream: Stream, bytes: number = LAST_BYTES): string[] {
  const reader = tapeOf(disk, directory, stream);
  const plain = new PlainText();
  const lines: string[] = [];
  for (let at = Math.max(reader.start, reader.end - bytes), left = bytes; left > 0; ) {
    const found = reader.read(at, left);
    if (found.kind === "end") break;
    if (found.kind === "bytes") lines.push(...plain.push(found.bytes));
    const to = found.kind === "bytes" ? found.offset + found.bytes.length : found.to;
    left -= to - at;
    at = to;
  }
  return [...lines, plain.last].filter((line) => line !== "");
}

/** The complete output; undefined if the tape is gone. */
export function wholeText(disk: Disk, directory: string, stream: Stream): string | undefined {
  if (disk.stat(joinPath(directory, NAMES[stream])) === undefined) return undefined;
  const reader = tapeOf(disk, directory, stream);
  const parts: Uint8Array[] = [];
  for (let at = reader.start; ; ) {
    const found = reader.read(at, PART_BYTES);
    if (found.kind === "end") return new TextDecoder().decode(Buffer.concat(parts));
    if (found.kind === "bytes") parts.push(found.bytes);
    at = found.kind === "bytes" ? found.offset + found.bytes.length : found.to;
  }
}
