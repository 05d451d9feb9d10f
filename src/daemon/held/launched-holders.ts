// The holders that were launched for programs that are still starting.
// LH1. While the last one lives, no other is launched: it may only be slow. If it died before it claimed, it has
//      started nothing, and is replaced, a few times in a row; one that cannot run here dies every time.
import { identify, type Processes, type ProcessIdentity } from "../../world/process.ts";

/** LH1. The engine's next round begins anew. */
const MAX_IN_A_ROW = 3;

type Launched = { readonly holder: ProcessIdentity | undefined; readonly count: number };

export class LaunchedHolders {
  readonly #processes: Processes;
  readonly #launched = new Map<string, Launched>();

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** The first one of a round. `start` returns its pid. */
  launch(name: string, start: () => number): void {
    this.#launched.set(name, { holder: identify(this.#processes, start()), count: 1 });
  }

  /** LH1 */
  replace(name: string, start: () => number): void {
    const { count } = this.#launched.get(name) ?? { count: MAX_IN_A_ROW };
    if (count >= MAX_IN_A_ROW || this.isAlive(name)) return;
    this.#launched.set(name, { holder: identify(this.#processes, start()), count: count + 1 });
  }

  /** Whether one was launched and it is not known yet what became of it. */
  has(name: string): boolean {
    return this.#launched.has(name);
  }

  isAlive(name: string): boolean {
    const holder = this.#launched.get(name)?.holder;
    return holder !== undefined && this.#processes.alive(holder);
  }

  kill(name: string): void {
    const holder = this.#launched.get(name)?.holder;
    if (holder !== undefined) this.#processes.kill(holder, "SIGKILL");
    this.#launched.delete(name);
  }

  forget(name: string): void {
    this.#launched.delete(name);
  }
}
