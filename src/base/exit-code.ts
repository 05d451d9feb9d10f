// How the end of a child program becomes our own exit code: its code, or 128 plus its signal number, as shells do.
import { own } from "./own.ts";

/** The signals that end programs, with their Linux numbers. */
const NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGSTKFLT: 16,
  SIGCHLD: 17,
  SIGCONT: 18,
  SIGSTOP: 19,
  SIGTSTP: 20,
  SIGTTIN: 21,
  SIGTTOU: 22,
  SIGURG: 23,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGVTALRM: 26,
  SIGPROF: 27,
  SIGWINCH: 28,
  SIGIO: 29,
  SIGPWR: 30,
  SIGSYS: 31,
};

const SIGNALLED = 128;

export type Ended = { readonly code: number | null; readonly signal: string | null };

export function exitCodeOf({ code, signal }: Ended): number {
  if (signal === null) return code ?? 0;
  return SIGNALLED + (own(NUMBERS, signal) ?? 0);
}

export function endedText({ code, signal }: Ended): string {
  return signal === null ? `ended with exit code ${code ?? 0}` : `was ended by ${signal}`;
}

/** "term", "SIGTERM" and "15" are the same signal. Returns undefined if the text names none. */
export function signalNamed(text: string): string | undefined {
  const name = text.toUpperCase().replace(/^(?!SIG)/, "SIG");
  if (name in NUMBERS) return name;
  return Object.keys(NUMBERS).find((other) => String(NUMBERS[other]) === text);
}
