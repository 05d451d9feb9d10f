// The terminal that this process was started on.
// RT1. Giving it back only uses calls that work while the process is ending: nothing is waited for.
// RT2. `process.stdin` and `process.stdout` are touched only where nothing else helps: making them takes longer than drawing a screen.
import { writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import type { TerminalEvents, UserTerminal } from "../terminal.ts";
import { asFault, attempt } from "./attempt.ts";
import { isTerminal, makeRaw, sizeOf } from "./terminal-mode.ts";

const IN = 0;
const OUT = 1;
/** For a terminal that does not say how large it is. */
const USUAL = { cols: 80, rows: 24 };
/** Giving back must not hang on a terminal that takes nothing any more. */
const MAX_TRIES = 100;

export function realTerminal(): UserTerminal {
  return {
    get there() {
      return isTerminal(IN) && isTerminal(OUT);
    },
    size: () => sizeOf(OUT) ?? USUAL,
    write,
    take,
  };
}

function take(events: TerminalEvents, farewell: () => string): () => void {
  const resized = () => events.resized();
  const signals = (["SIGHUP", "SIGTERM", "SIGINT"] as const).map((name) => [name, () => events.told(name)] as const);
  const cook = makeRaw(IN);
  const rawAgain = () => void makeRaw(IN); // Whoever stopped us has put their own mode in place.
  const stopReading = readKeys(events);
  let taken = true;
  const giveBack = () => {
    if (!taken) return;
    taken = false;
    writeNow(Buffer.from(farewell()));
    cook();
    stopReading();
    process.off("SIGWINCH", resized).off("SIGCONT", rawAgain).off("exit", giveBack);
    for (const [name, told] of signals) process.off(name, told);
  };
  process.on("exit", giveBack); // UT1
  process.on("SIGWINCH", resized).on("SIGCONT", rawAgain);
  for (const [name, told] of signals) process.on(name, told);
  return giveBack;
}

/** A terminal whose input ends, or fails, has gone: as if it had hung up. */
function readKeys(events: TerminalEvents): () => void {
  const reader = Bun.stdin.stream().getReader();
  let reading = true;
  const gone = () => {
    if (reading) events.told("SIGHUP");
  };
  const next = async (): Promise<void> => {
    for (let read = await reader.read(); !read.done && reading; read = await reader.read()) events.typed(read.value);
    gone();
  };
  next().catch(gone);
  return () => {
    reading = false;
    // Whoever is asked to stop may have stopped already.
    reader.cancel().catch(() => undefined);
  };
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
  for (let done = 0, tries = 0; done < bytes.length && tries < MAX_TRIES; tries += 1) {
    try {
      done += attempt("write", "stdout", () => writeSync(OUT, bytes, done));
    } catch (error) {
      if (!isFault(error, "EAGAIN", "EINTR")) return;
    }
  }
}
