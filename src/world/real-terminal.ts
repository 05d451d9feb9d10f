// The terminal that this process was started on.
// RT1. Giving it back only uses calls that work while the process is ending: nothing is waited for.
import { writeSync } from "node:fs";
import { isFault } from "../base/fault.ts";
import { asFault, attempt } from "./attempt.ts";
import type { TerminalEvents, UserTerminal } from "./terminal.ts";
import { makeRaw } from "./terminal-mode.ts";

const OUT = 1;
/** For a terminal that does not say how large it is. */
const USUAL = { cols: 80, rows: 24 };
/** Giving back must not hang on a terminal that takes nothing any more. */
const MOST_TRIES = 100;

export function realTerminal(): UserTerminal {
  return {
    get there() {
      return process.stdin.isTTY === true && process.stdout.isTTY === true;
    },
    size: () => ({ cols: process.stdout.columns || USUAL.cols, rows: process.stdout.rows || USUAL.rows }),
    write,
    take,
  };
}

function take(events: TerminalEvents, farewell: () => string): () => void {
  const { stdin } = process;
  const typed = (bytes: Uint8Array) => events.typed(bytes);
  const resized = () => events.resized();
  const signals = (["SIGHUP", "SIGTERM", "SIGINT"] as const).map((name) => [name, () => events.told(name)] as const);
  const cook = makeRaw();
  const rawAgain = () => void makeRaw(); // Whoever stopped us has put their own mode in place.
  let taken = true;
  const giveBack = () => {
    if (!taken) return;
    taken = false;
    writeNow(Buffer.from(farewell()));
    cook();
    stdin.off("data", typed).pause();
    process.off("SIGWINCH", resized).off("SIGCONT", rawAgain).off("exit", giveBack);
    for (const [name, told] of signals) process.off(name, told);
  };
  process.on("exit", giveBack); // UT1
  process.on("SIGWINCH", resized).on("SIGCONT", rawAgain);
  for (const [name, told] of signals) process.on(name, told);
  stdin.on("data", typed).resume();
  return giveBack;
}

/** UT2 */
async function write(bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += attempt("write", "stdout", () => writeSync(OUT, bytes, done));
    } catch (error) {
      if (isFault(error, "EAGAIN")) return writeWaiting(bytes.subarray(done));
      if (!isFault(error, "EINTR")) throw error;
    }
  }
}

/** A terminal is one file for all who have it: whoever reads it may have made it non-blocking for us as well. */
function writeWaiting(bytes: Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    process.stdout.write(bytes, (error) => (error ? failed(asFault(error, "write", "stdout")) : done()));
  });
}

/** RT1: what a terminal that is gone does not take is nobody's loss. */
function writeNow(bytes: Uint8Array): void {
  for (let done = 0, tries = 0; done < bytes.length && tries < MOST_TRIES; tries += 1) {
    try {
      done += attempt("write", "stdout", () => writeSync(OUT, bytes, done));
    } catch (error) {
      if (!isFault(error, "EAGAIN", "EINTR")) return;
    }
  }
}
