// The home's log in the database, as the second place of the write-ahead log (log/wal/elsewhere.ts).
// SL1. A batch is sealed once, when it is given; whatever is sent again is the same (invariant 2 of a fleet).
// SL2. If a batch or a renewal has no answer for a while, the database counts as away: new work is refused, and what
//      was given waits for as long as it takes.
// SL3. If the home is somebody else's by now, or the database has lost what it had confirmed, the log stops for good.
//      The next process follows, or appends again what was lost.
import type { Refusal } from "../../base/result.ts";
import type { RemoteLog } from "../../fleet/remote-log.ts";
import type { FleetSeal } from "../../fleet/seal.ts";
import type { Elsewhere } from "../../log/wal/elsewhere.ts";
import type { Clock } from "../../world/clock.ts";

/** Longer than a reconnection after a lost connection; people wait. */
const AWAY_AFTER_MS = 2_000;

export class LostHome extends Error {
  override readonly name = "LostHome";
}

export type SecondLogPorts = {
  readonly clock: Clock;
  readonly home: string;
  readonly seal: FleetSeal;
  readonly remote: RemoteLog;
  /** Why the last call came to nothing. */
  why(): string | undefined;
};

export class SecondLog implements Elsewhere {
  readonly #ports: SecondLogPorts;
  readonly #waiting = new Set<number>();

  constructor(ports: SecondLogPorts) {
    this.#ports = ports;
  }

  /** SL2 */
  get away(): Refusal | undefined {
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#ports.clock.elapsed() - oldest < AWAY_AFTER_MS) return undefined;
    return {
      code: "fleet-away",
      message: `The database of the fleet does not answer, so nothing can be acknowledged: ${this.#ports.why() ?? "no answer"}`,
      hint: "It continues by itself when the database answers. Terminals go on. `holdfast fleet status` says more.",
    };
  }

  /** SL1, SL3 */
  async commit(last: number, frames: Uint8Array): Promise<void> {
    const { seal, home, remote } = this.#ports;
    const sealed = seal.batch(home, remote.lastSeq + 1, last, frames);
    const end = await this.#waitingFor(() => remote.append(last, sealed));
    if (end.kind === "committed") return;
    if (end.kind === "fenced") throw new LostHome("another host has this home");
    if (end.kind === "closed") throw new LostHome("the database was given up");
    throw new LostHome(`the database has lost what it had confirmed behind entry ${end.lastSeq}`);
  }

  /** Renews the lease, if no batch does. */
  renew(): Promise<void> {
    return this.#waitingFor(() => this.#ports.remote.renew());
  }

  /** The oldest is first: a set keeps the order. Two of one moment count as one. */
  async #waitingFor<T>(work: () => Promise<T>): Promise<T> {
    const since = this.#ports.clock.elapsed();
    this.#waiting.add(since);
    try {
      return await work();
    } finally {
      this.#waiting.delete(since);
    }
  }
}
