// Our standard output, for short lines to the program that started us. `process.stdout` takes longer to make than most
// of what we say takes to happen.
import { writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import { attempt } from "./attempt.ts";

const OUT = 1;

/** Dropped if nobody reads any more. */
export function sayToStarter(bytes: Uint8Array): void {
  try {
    attempt("write", "standard output", () => writeSync(OUT, bytes));
  } catch (error) {
    if (!isFault(error, "EPIPE", "ECONNRESET")) throw error;
  }
}
