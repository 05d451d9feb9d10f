// What a program needs that is started before there is work for it: it waits for one line, and shows what it does then.
// WL1. It waits in a system call and not in the event loop: whoever waits costs nothing, and signals end it as usual.
// WL2. Nothing of the line's way is left: standard input is empty from then on.
// WL3. What is shown is only for people and their tools: if the system does not permit the change, all else works.
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import { attempt } from "./attempt.ts";
import { fieldsIn } from "./identities.ts";

const PIECE = 4096;
const NEWLINE = 10;
const OURS = "/proc/self";
/** Where our arguments are in our memory; the manual counts from 1, and two fields come before the rest. */
const ARGUMENTS_START = 48 - 3;

/** The first line of our standard input; undefined if it ends before, or the line is longer than `most` (WL1). */
export function firstLine(most: number): string | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= most; ) {
    const piece = Buffer.allocUnsafe(PIECE);
    const read = attempt("read", "standard input", () => readSync(0, piece, 0, PIECE, null));
    if (read === 0) return undefined;
    const end = piece.subarray(0, read).indexOf(NEWLINE);
    pieces.push(piece.subarray(0, end < 0 ? read : end));
    length += read;
    if (end >= 0) return emptied(Buffer.concat(pieces).toString());
  }
  return undefined;
}

/** WL2. The lowest free number is the one that was just closed. */
function emptied(line: string): string {
  attempt("replace", "standard input", () => {
    closeSync(0);
    openSync("/dev/null", "r");
  });
  return line;
}

/** From now on our last argument reads like this in lists of processes; it must be as long as before (WL3). */
export function showArgument(before: string, now: string): void {
  try {
    attempt("change", `${OURS}/mem`, () => {
      const at = readFileSync(`${OURS}/cmdline`).lastIndexOf(before);
      if (at < 0 || Buffer.byteLength(before) !== Buffer.byteLength(now)) return;
      const memory = openSync(`${OURS}/mem`, "r+");
      try {
        const start = Number(fieldsIn(readFileSync(`${OURS}/stat`, "latin1"))[ARGUMENTS_START]);
        writeSync(memory, Buffer.from(now), 0, Buffer.byteLength(now), start + at);
      } finally {
        closeSync(memory);
      }
    });
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
