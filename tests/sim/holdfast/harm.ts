// The calls of a daemon that have failed in its life, and what they may do to it.
// HA1. A failed call ends a daemon only if it was the log's own, which then has stopped for good, or if the daemon had
//      not opened its storage yet. In both cases it says which call failed before it exits; the next one starts anew.
//      A full disk may end it in the same way.
// HA2. Everything else that a failed call refuses or delays is healed by the daemon itself (CI2 of client.ts).
import type { Fault } from "../../../src/base/fault.ts";

/** How a daemon says that it could not start, and that it stopped. */
const NOT_STARTED = /^the (?:daemon cannot start|storage cannot be opened): /;
const STOPPED = /^stopped: /;
/** Where the log writes. */
const OF_THE_LOG = /\/src\/log\/(?:wal\/|event-log|recover|session\/(?:drain|session-writer))/;

export class Harm {
  #faults: readonly Fault[] = [];
  /** Whether the disk was full in this life. */
  foundNoRoom = false;

  /** Whether a call of the daemon has failed in this life. */
  get isDone(): boolean {
    return this.#faults.length > 0;
  }

  /** This call fails now. */
  done(fault: Fault): void {
    this.#faults = [...this.#faults, fault];
  }

  /** Another life begins. */
  forget(): void {
    this.#faults = [];
  }

  /** HA1 */
  mayEnd(said: readonly string[]): boolean {
    const isForRoom = (words: string) => words.includes("ENOSPC") && (NOT_STARTED.test(words) || STOPPED.test(words));
    if (this.foundNoRoom && said.some(isForRoom)) return true;
    return this.#faults.some(({ message, path, code, stack = "" }) => {
      if (said.some((words) => words.startsWith(`${path} cannot be read: ${code}`))) return true;
      const named = said.filter((words) => words.includes(message));
      const isOver = (words: string) => NOT_STARTED.test(words) || (STOPPED.test(words) && OF_THE_LOG.test(stack));
      return named.some(isOver);
    });
  }
}
