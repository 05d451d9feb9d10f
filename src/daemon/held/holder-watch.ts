// Notices holders that leave while there is no connection to them: a holder touches its socket when its end is durable,
// and removes it when it leaves; the operating system reports both.
// HW1. A change only means: look at that holder now. If another program removed the socket, the holder is alive, and
//      can be signalled to bind it again.
// HW2. It is only a hint. Changes that are not reported (all of run/ was removed and created again, or too much
//      happened at once) are found by the next round over the directory (N2 of terminal/holders.ts), which then renews
//      the watch.
import { isFault } from "../../base/fault.ts";
import type { Watch } from "../../world/watch.ts";

const SOCKET = ".sock";

export class HolderWatch {
  readonly #watch: Watch;
  readonly #directory: string;
  readonly #changed: (socket: string) => void;
  #stop: (() => void) | undefined;

  /** `changed` is called with the name of a socket that was created, removed or touched (HW1). */
  constructor(watch: Watch, directory: string, changed: (socket: string) => void) {
    this.#watch = watch;
    this.#directory = directory;
    this.#changed = changed;
  }

  /** Begins to watch, unless it already does. Returns false if the system cannot. */
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
      if (isFault(error)) return undefined; // The system's limit of watches is reached; the next round retries.
      throw error;
    }
  }
}
