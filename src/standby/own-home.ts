// What is done for the home that this program was started for: others see what it is, and get its files.
// OW1. Only while it is ours: under the take in fleet/owner.json, and not once it is fenced.
// OW2. Nothing waits for it: a round that fails is repeated, and the log has everything that was acknowledged.
import { isFault } from "../base/fault.ts";
import { baseName } from "../base/path.ts";
import { homeName } from "../core/fleet/naming.ts";
import { DESCRIBE, type Take } from "../fleet/calls.ts";
import { readFenced, readOwner } from "../home/fleet-files.ts";
import type { Disk } from "../world/disk.ts";
import type { OwnLister, OwnShipper, StandbyPorts } from "./ports.ts";

export type OwnHomePorts = StandbyPorts & {
  readonly home: string;
  readonly takeover: string;
  readonly shipper: OwnShipper;
  readonly lister: OwnLister;
  /** Why the last round failed; undefined: it did not. */
  shipped(trouble: string | undefined): void;
};

/** OW1. Undefined: the home is not this host's. */
export function ownTake(place: { readonly disk: Disk; readonly home: string }): Take | undefined {
  const owner = readOwner(place);
  if (owner?.take == null || readFenced(place) !== undefined) return undefined;
  return { home: owner.home, ...owner.take };
}

export class OwnHome {
  readonly #ports: OwnHomePorts;
  #described: string | undefined;
  readonly #cancels = new Map<string, () => void>();
  #isClosed = false;

  constructor(ports: OwnHomePorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#repeat("ship", () => this.#round());
    this.#repeat("list", () => this.#listed());
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#cancels.values()) cancel();
    this.#ports.lister.close();
  }

  #repeat(name: string, round: () => Promise<number>): void {
    const again = (pauseMs: number) => {
      if (this.#isClosed) return;
      this.#cancels.set(
        name,
        this.#ports.world.clock.after(pauseMs, () => this.#repeat(name, round)),
      );
    };
    void round().then(again, (error: unknown) => this.#ports.broken(error));
  }

  /** Returns how long to wait. */
  async #round(): Promise<number> {
    const { shipper, host, shipped } = this.#ports;
    try {
      const take = this.#take();
      if (take === undefined) return host.leaseMs / 3; // OW1
      await this.#describe(take);
      const done = await shipper.round();
      shipped(done.ok ? undefined : `${done.error.message} ${done.error.hint}`); // OW2
    } catch (error) {
      if (!isFault(error)) throw error;
      shipped(`${error.message}. ${error.hint}`); // OW2
    }
    return shipper.pauseMs;
  }

  /** OW2: an old listing says how old it is. Returns how long to wait. */
  async #listed(): Promise<number> {
    const { lister, host } = this.#ports;
    const take = this.#take();
    if (take === undefined) return host.leaseMs / 3; // OW1
    await lister.round(take);
    return lister.pauseMs;
  }

  /** OW1 */
  #take(): Take | undefined {
    return ownTake({ disk: this.#ports.world.disk, home: this.#ports.home });
  }

  /** Once for each take. */
  async #describe(take: Take): Promise<void> {
    if (this.#described === take.id) return;
    const { database, host, home, takeover } = this.#ports;
    const name = homeName(baseName(home), host.name);
    const answer = await database.call(DESCRIBE, { take, name, takeover, host: host.id });
    if (answer.kind === "done" && answer.value && !answer.isDoubtful) this.#described = take.id;
  }
}
