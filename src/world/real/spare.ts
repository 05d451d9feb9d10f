// What a program needs that is started before there is work for it: it waits for one line, and shows what it does then.
// WL1. It waits in a system call and not in the event loop: whoever waits costs nothing, and signals end it as usual.
// WL2. Nothing of the line's way is left: standard input is empty from then on.
// WL3. What is shown is more than a name: by its last argument a holder is known (CA1 of home/callers.ts).
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { Fault, isFault } from "../../base/fault.ts";
import { attempt } from "./attempt.ts";
import { fieldsIn } from "./identities.ts";

const PIECE = 4096;
const NEWLINE = 10;
const [ARGUMENTS, MEMORY, STAT] = ["/proc/self/cmdline", "/proc/self/mem", "/proc/self/stat"];
const NO_ROOM = { code: "EINVAL", operation: "change", path: ARGUMENTS };
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

/** From now on our last argument is `now`, which is as long. Returns false if the system does not permit it (WL3). */
export function showArgument(before: string, now: string): boolean {
  try {
    attempt("change", MEMORY, () => overwrite(before, now));
    return readFileSync(ARGUMENTS, "utf8").endsWith(`\0${now}\0`);
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}

function overwrite(before: string, now: string): void {
  const at = readFileSync(ARGUMENTS).lastIndexOf(`\0${before}\0`) + 1;
  const bytes = Buffer.from(now);
  if (at === 0 || Buffer.byteLength(before) !== bytes.length) throw new Fault(NO_ROOM);
  const memory = openSync(MEMORY, "r+");
  try {
    writeSync(memory, bytes, 0, bytes.length, Number(fieldsIn(readFileSync(STAT, "latin1"))[ARGUMENTS_START]) + at);
  } finally {
    closeSync(memory);
  }
}
