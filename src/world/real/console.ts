// The console of this process.
// RC1. `process.stdout` is used only if it must be: creating it takes longer than most of our commands.
import { fstatSync, writeSync } from "node:fs";
import { Fault, isFault } from "../../base/fault.ts";
import { resolvedPath } from "../../base/path.ts";
import { type Console, END_SIGNALS, type Output } from "../console.ts";
import { asFault, attempt, unless } from "./attempt.ts";
import { minutesAhead } from "./clock.ts";
import { isTerminal, sizeOf } from "./terminal-mode.ts";

const OUT = 1;
const ERR = 2;
/** For a window that does not report its width. */
const USUAL_COLUMNS = 80;
/** Any timer keeps the process alive; this one never fires in practice. */
const LONG_MS = 2 ** 31 - 1;

export function realConsole(): Console {
  return {
    out: output(OUT),
    err: output(ERR),
    env: (name) => process.env[name] || undefined,
    absolute: (path) => resolvedPath(path.startsWith("/") ? "/" : process.cwd(), path),
    minutesAhead,
    widthOf: (text) => Bun.stringWidth(text),
    interrupted: () => new Promise((done) => void process.once("SIGINT", () => done())),
    told: () => new Promise((done) => END_SIGNALS.forEach((name) => void process.on(name, () => done(name)))),
    watching: (ear) => {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => ear("interrupt"));
      for (const name of ["SIGQUIT", "SIGHUP"] as const) process.on(name, () => ear("leave"));
    },
    staying,
  };
}

async function staying<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, LONG_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

function output(fd: number): Output {
  let tty: boolean | undefined;
  return {
    get tty() {
      tty ??= isDevice(fd) && isTerminal(fd);
      return tty;
    },
    columns: () => sizeOf(fd)?.cols ?? USUAL_COLUMNS,
    write: (text) => write(fd, Buffer.from(text)),
  };
}

/** Most outputs are not a device at all and need no further check. */
function isDevice(fd: number): boolean {
  const found = unless(["EBADF"], undefined, () => attempt("stat", nameOf(fd), () => fstatSync(fd)));
  return found?.isCharacterDevice() === true;
}

function streamOf(fd: number) {
  return fd === OUT ? process.stdout : process.stderr;
}

function nameOf(fd: number): string {
  return fd === OUT ? "stdout" : "stderr";
}

async function write(fd: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += attempt("write", nameOf(fd), () => writeSync(fd, bytes, done));
    } catch (error) {
      if (isFault(error, "EAGAIN")) return writeWaiting(fd, bytes.subarray(done));
      if (!isFault(error, "EINTR")) throw asWritten(error, fd);
    }
  }
}

/** C2. An output may be a socket: if its reader leaves with something unread, it is reset instead of closed. */
function asWritten(error: unknown, fd: number): unknown {
  if (!isFault(error, "ECONNRESET")) return error;
  return new Fault({ code: "EPIPE", operation: "write", path: nameOf(fd) }, error);
}

/** For an output that was made non-blocking: the stream waits until it accepts more. */
function writeWaiting(fd: number, bytes: Uint8Array): Promise<void> {
  const stream = streamOf(fd);
  return new Promise((done, failed) => {
    const fail = (error: unknown) => failed(asWritten(asFault(error, "write", nameOf(fd)), fd));
    stream.once("error", fail);
    stream.write(bytes, (error) => {
      stream.off("error", fail);
      if (error) fail(error);
      else done();
    });
  });
}
