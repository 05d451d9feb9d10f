// Hands the home that this program was started for over to another host, if its operator wishes it there: the daemon
// ends in order, nothing runs any more, all files are shipped, and then the lease is given back.
// HO1. Every step is looked up before the next one, and can be repeated: whoever is killed in between, the next program
//      goes on. Until the lease is given back, the wish can be taken back: then everything goes on here.
// HO2. The lease is given back under the take that is ours: if another host has the home already, nothing happens.
// HO3. What runs is stopped before the lease is given back. It is killed once the other host has taken the home.
// HO4. A move that does not come about leaves the home running here: the wish is taken back if the other host has not
//      been there for a while, before anything is ended; and later if there is no progress for as long as people wait.

import { isFault } from "../base/fault.ts";
import { awayMs } from "../core/fleet/watch.ts";
import { HOSTS, type HostRow, LOOK, MOVE_TO, RELEASE, type Take } from "../fleet/calls.ts";
import { tell } from "./events.ts";
import { ownTake } from "./own-home.ts";
import type { OwnDaemon, OwnShipper, StandbyPorts } from "./ports.ts";

export type HandOverPorts = StandbyPorts & {
  readonly home: string;
  readonly shipper: OwnShipper;
  readonly daemon: OwnDaemon;
  leave(isLeaving: boolean): void;
};

/** While a home is handed over, people wait. */
const SOON_MS = 300;
const STUCK_MS = 120_000;

export class HandOver {
  readonly #ports: HandOverPorts;
  #released: string | undefined;
  /** Since when nothing has come of the wish. */
  #since: number | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(ports: HandOverPorts) {
    this.#ports = ports;
  }

  start(): void {
    const again = (ms: number) => {
      if (!this.#isClosed) this.#cancel = this.#ports.world.clock.after(ms, () => this.start());
    };
    const failed = (error: unknown) => {
      if (!isFault(error)) return this.#ports.broken(error);
      this.#ports.say(`handing over: ${error.message}. ${error.hint}`);
      again(this.#everyMs);
    };
    void this.#look().then(again, failed);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  get #everyMs(): number {
    return this.#ports.host.leaseMs / 3;
  }

  /** Returns when to look again. */
  async #look(): Promise<number> {
    const { world, home, database, host, leave } = this.#ports;
    const take = ownTake({ disk: world.disk, home });
    if (take === undefined) return this.#everyMs;
    const answer = await database.call(LOOK, take.home);
    if (answer.kind !== "done" || answer.value === undefined) return this.#everyMs;
    const row = answer.value;
    if (row.take !== take.id) return this.#everyMs; // HO3. If another host has it, the daemon tells the guard.
    if (row.moveTo !== "" && row.moveTo !== host.name) return this.#goOn(take, row.moveTo);
    leave(false); // HO1
    this.#released = undefined;
    this.#since = undefined;
    return this.#everyMs;
  }

  async #goOn(take: Take, to: string): Promise<number> {
    const { daemon, world } = this.#ports;
    const now = world.clock.elapsed();
    this.#since ??= now;
    if (now - this.#since > STUCK_MS) return this.#callOff(take, `${to} did not get it in time`); // HO4
    if (this.#released === take.id) return SOON_MS;
    const role = await daemon.role();
    if (role === "owner") return this.#begin(take, to);
    return role === "follower" ? this.#ship(take, to) : SOON_MS;
  }

  /** HO4 */
  async #begin(take: Take, to: string): Promise<number> {
    const { database, daemon } = this.#ports;
    const hosts = await database.call(HOSTS, undefined);
    if (hosts.kind !== "done") return SOON_MS;
    const named = hosts.value.filter(({ name }) => name === to);
    const why = whyNot(named, to, this.#ports.host.leaseMs);
    if (why !== undefined) return this.#callOff(take, why);
    await daemon.handOver();
    return SOON_MS;
  }

  async #ship(take: Take, to: string): Promise<number> {
    const { leave, shipper, say, database, world } = this.#ports;
    leave(true); // HO3
    const shipped = await shipper.round(true);
    if (!shipped.ok) {
      say(`this home is not handed over yet: ${shipped.error.message} ${shipped.error.hint}`);
      return SOON_MS;
    }
    this.#since = world.clock.elapsed();
    const released = await database.call(RELEASE, { take }); // HO2
    if (released.kind !== "done" || !released.value || released.isDoubtful) return SOON_MS;
    this.#released = take.id;
    await tell(this.#ports, { home: take.home, kind: "released", words: `this home is handed over to ${to}` });
    return SOON_MS;
  }

  /** HO4. What comes of it is seen in the home's row: if the other host takes it at this moment, it has it. */
  async #callOff({ home }: Take, why: string): Promise<number> {
    const { database } = this.#ports;
    const called = await database.call(MOVE_TO, { home, host: "" });
    if (called.kind !== "done" || called.isDoubtful) return SOON_MS;
    const words = `this home is not handed over: ${why}; it stays here`;
    await tell(this.#ports, { home, kind: "failed", words });
    return SOON_MS;
  }
}

/** Why a home cannot be handed to this host; undefined if it can. */
function whyNot(hosts: readonly HostRow[], to: string, leaseMs: number): string | undefined {
  const agoMs = Math.min(...hosts.map((host) => host.agoMs));
  if (agoMs <= awayMs(leaseMs)) return undefined;
  const seen = hosts.length === 0 ? "is not in the fleet" : `was last seen ${Math.round(agoMs / 1_000)} s ago`;
  return `${to} ${seen}`;
}
