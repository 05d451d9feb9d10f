// `run/standby.json`: what this program does now, for `fleet status` and `doctor`.
// ST1. It is replaced as a whole, at most once in a while: what changes in between is in the next one. A disk that does
//      not take it keeps nothing from being done.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { STANDBY_STATUS } from "../home/layout.ts";
import { writeUnsynced } from "../log/file/unsynced-file.ts";
import type { World } from "../world/world.ts";
import type { GuardState } from "./guard.ts";
import type { MirrorState } from "./mirrors.ts";

export type StandbyState = {
  readonly guard: GuardState;
  /** Whether it acts for the host: watches other homes, and takes them over. */
  readonly actsForHost: boolean;
  /** What it does; null: it watches. */
  readonly doing: string | null;
  /** Why the database cannot be watched, why the last round of shipping failed, and the last takeover. */
  readonly database: string | null;
  readonly shipping: string | null;
  /** When a round of shipping that did not fail has ended, about. */
  readonly shippedAt: string | null;
  readonly takeover: string | null;
  readonly mirrors: readonly MirrorState[];
};

const EVERY_MS = 1_000;
const NOTHING: StandbyState = {
  ...{ guard: "running", actsForHost: false, doing: null, database: null, shipping: null, takeover: null },
  ...{ shippedAt: null, mirrors: [] },
};

export class StatusFile {
  readonly #world: World;
  readonly #home: string;
  #state = NOTHING;
  #written = "";
  #isPlanned = false;

  constructor(world: World, home: string) {
    this.#world = world;
    this.#home = home;
  }

  set(changes: Partial<StandbyState>): void {
    this.#state = { ...this.#state, ...changes };
    if (this.#isPlanned || JSON.stringify(this.#state) === this.#written) return;
    this.#isPlanned = true;
    this.#world.clock.after(this.#written === "" ? 0 : EVERY_MS, () => this.#write());
  }

  /** ST1 */
  #write(): void {
    this.#isPlanned = false;
    const { disk, clock, processes } = this.#world;
    const facts = { v: 1, at: new Date(clock.now()).toISOString(), pid: processes.pid, ...this.#state };
    try {
      writeUnsynced(disk, joinPath(this.#home, STANDBY_STATUS), Buffer.from(`${JSON.stringify(facts)}\n`));
      this.#written = JSON.stringify(this.#state);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }
}
