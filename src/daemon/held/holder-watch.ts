// Notices holders that leave while there is no connection to them: a holder touches its socket when its end is durable, and removes it
// when it leaves; the system reports both.
// HW1. A change only says: look at that one now. If somebody else removed the socket, its holder lives, and can be nudged.
// HW2. It is no more than a hint. What was not reported (all of run/ was removed and made anew, or too much happened at once) is found by
//      the next round over the directory (N2 of terminal/holders.ts), and then it is watched anew.
import { isFault } from "../../base/fault.ts";
import type { Watch } from "../../world/watch.ts";

const SOCKET = ".sock";

export class HolderWatch {
  readonly #watch: Watch;
  readonly #directory: string;
  readonly #changed: (socket: string) => void;
  #stop: (() => void) | undefined;

  /** `changed` is called with the name of a socket that came, went or was touched (HW1). */
  constructor(watch: Watch, directory: string, changed: (socket: string) => void) {
    this.#watch = watch;
    this.#directory = directory;
    this.#changed = changed;
  }

  /** Begins to watch, unless it does already. Returns false if the system cannot. */
  open(): boolean {
    this.#stop ??= this.#begin();
    return this.#stop !== undefined;
  }

  /** HW2 */
  renew(): void {
    this.close();
    this.open();
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #begin(): (() => void) | undefined {
    try {
      return this.#watch.directory(this.#directory, (name) => {
        if (name.endsWith(SOCKET)) this.#changed(name);
      });
    } catch (error) {
      if (isFault(error)) return undefined; // The system watches too much already; the next round asks again.
      throw error;
    }
  }
}
