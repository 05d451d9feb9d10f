// The terminal that this process was started on.
// RT1. Giving it back only uses calls that work while the process is ending: nothing is awaited.
// RT2. `process.stdin` and `process.stdout` are used only if nothing else helps: creating them takes longer than
//      drawing a screen.
// RT3. What is typed between two takers goes to the next one.
import { writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import type { TerminalEvents, UserTerminal } from "../terminal.ts";
import { asFault, attempt } from "./attempt.ts";
import { isTerminal, makeRaw, sizeOf } from "./terminal-mode.ts";

const IN = 0;
const OUT = 1;
/** For a terminal that does not report its size. */
const USUAL = { cols: 80, rows: 24 };
/** Giving it back must not hang on a terminal that no longer accepts output. */
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
  const rawAgain = () => void makeRaw(IN); // The shell set its own mode while we were stopped.
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

/** The one reader of standard input: a stream that was cancelled cannot be read again (RT3). */
const keyboard: { taker: TerminalEvents | undefined; early: Uint8Array[]; state: "unread" | "read" | "gone" } = {
  taker: undefined,
  early: [],
  state: "unread",
};

/** If the terminal's input ends or fails, it is gone: this counts as a hangup. */
function readKeys(events: TerminalEvents): () => void {
  keyboard.taker = events;
  for (const bytes of keyboard.early.splice(0)) events.typed(bytes); // RT3
  if (keyboard.state === "gone") events.told("SIGHUP");
  if (keyboard.state === "unread") {
    keyboard.state = "read";
    readForever().then(hungUp, hungUp);
  }
  return () => {
    keyboard.taker = undefined;
  };
}

async function readForever(): Promise<void> {
  for await (const bytes of Bun.stdin.stream()) {
    if (keyboard.taker === undefined) keyboard.early.push(bytes);
    else keyboard.taker.typed(bytes);
  }
}

function hungUp(): void {
  keyboard.state = "gone";
  keyboard.taker?.told("SIGHUP");
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

/** All processes on a terminal share one open file: another one may have made it non-blocking for us as well. */
function writeWaiting(bytes: Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    process.stdout.write(bytes, (error) => (error ? failed(asFault(error, "write", "stdout")) : done()));
  });
}

/** RT1. What a terminal that is gone does not accept is dropped. */
function writeNow(bytes: Uint8Array): void {
  for (let done = 0, tries = 0; done < bytes.length && tries < MAX_TRIES; tries += 1) {
    try {
      done += attempt("write", "stdout", () => writeSync(OUT, bytes, done));
    } catch (error) {
      if (!isFault(error, "EAGAIN", "EINTR")) return;
    }
  }
}
