// Starts homes that were taken over, are on this host, and do not run. After a start of the machine, its service starts
// the home that it was made for, and no other host may be there to take these.
// RV1. Only under the take that the database has: if another host has taken the home, nothing is started.
// RV2. Not what was stopped on purpose, nor what may run: its lease has ended, and did not change for two leases. If
//      its daemon waits for the database all the same, it has a watchdog: starting it once more changes nothing.
// RV3. One at a time, beside the looks; each waits longer after each start, because a home may fail to come up.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { Refusal } from "../base/result.ts";
import type { WatchedRow } from "../fleet/calls.ts";
import { readFenced, readOwner } from "../home/fleet-files.ts";
import { readWanted } from "../home/wanted.ts";
import { tell } from "./events.ts";
import type { StandbyPorts } from "./ports.ts";

/** RV3 */
const RETRY: BackoffPolicy = { firstMs: 5_000, mostMs: 300_000, jitter: 0.2 };

export type RevivalPorts = StandbyPorts & { start(directory: string): Promise<Refusal | undefined> };

export class Revival {
  readonly #ports: RevivalPorts;
  readonly #tries = new Map<string, { readonly count: number; readonly until: number }>();
  /** RV2. The end of its lease, and since when it is that. */
  readonly #seen = new Map<string, { readonly leaseEnd: string; readonly since: number }>();
  #isStarting = false;

  constructor(ports: RevivalPorts) {
    this.#ports = ports;
  }

  /** `home`: on this host, by the last look. */
  look(home: WatchedRow): void {
    const { world, broken } = this.#ports;
    const now = world.clock.elapsed();
    if (!this.#isDown(home, now) || this.#isStarting || (this.#tries.get(home.id)?.until ?? 0) > now) return;
    const directory = this.#directoryOf(home);
    if (directory === undefined) return;
    const count = (this.#tries.get(home.id)?.count ?? 0) + 1;
    this.#tries.set(home.id, { count, until: now + backoffMs(count, world.random.fraction(), RETRY) });
    this.#isStarting = true;
    const done = () => {
      this.#isStarting = false;
    };
    void this.#start(home, directory).then(done, broken);
  }

  /** RV2 */
  #isDown({ id, leaseEnd, leaseMs }: WatchedRow, now: number): boolean {
    const seen = this.#seen.get(id);
    const since = seen?.leaseEnd === leaseEnd ? seen.since : now;
    this.#seen.set(id, { leaseEnd, since });
    return leaseEnd !== "" && leaseMs === 0 && now - since >= 2 * this.#ports.host.leaseMs;
  }

  async #start(home: WatchedRow, directory: string): Promise<void> {
    const refusal = await this.#refusalOf(directory);
    const words = `${home.name} is on this host and did not run`;
    const end = refusal === undefined ? "it is started again" : `it cannot be started: ${refusal}`;
    const kind = refusal === undefined ? "started" : "failed";
    await tell(this.#ports, { home: home.id, kind, words: `${words}: ${end}` });
  }

  async #refusalOf(directory: string): Promise<string | undefined> {
    try {
      const refusal = await this.#ports.start(directory);
      return refusal && `${refusal.message} ${refusal.hint}`;
    } catch (error) {
      if (!isFault(error)) throw error;
      return `${error.message}. ${error.hint}`;
    }
  }

  /** RV1, RV2 */
  #directoryOf(home: WatchedRow): string | undefined {
    const { world, host } = this.#ports;
    const { disk } = world;
    const all = disk.list(host.homes).filter((name) => !name.startsWith("."));
    return all
      .map((name) => joinPath(host.homes, name))
      .find((directory) => {
        const owner = readOwner({ disk, home: directory });
        const isIts = owner?.home === home.id && [owner.take?.id, owner.wished?.id].includes(home.take);
        const isFenced = readFenced({ disk, home: directory }) !== undefined;
        return isIts && !isFenced && readWanted(disk, directory) === "up";
      });
  }
}
