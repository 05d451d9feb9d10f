// Hands the home that this program was started for over to another host, if its operator wishes it there: the daemon
// ends in order, nothing runs any more, all files are shipped, and then the lease is given back.
// HO1. Every step is looked up before the next one, and can be repeated: whoever is killed in between, the next program
//      goes on. Until the lease is given back, the wish can be taken back: then everything goes on here.
// HO2. The lease is given back under the take that is ours: if another host has the home already, nothing happens.
// HO3. What runs is stopped before the lease is given back. It is killed once the other host has taken the home.
import { isFault } from "../base/fault.ts";
import { LOOK, RELEASE, type Take } from "../fleet/calls.ts";
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

export class HandOver {
  readonly #ports: HandOverPorts;
  #released: string | undefined;
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
    return this.#everyMs;
  }

  async #goOn(take: Take, to: string): Promise<number> {
    const { daemon, leave, shipper, say, database } = this.#ports;
    if (this.#released === take.id) return SOON_MS;
    const role = await daemon.role();
    if (role === "owner") await daemon.handOver();
    if (role !== "follower") return SOON_MS;
    leave(true); // HO3
    const shipped = await shipper.round();
    if (!shipped.ok) {
      say(`this home is not handed over yet: ${shipped.error.message} ${shipped.error.hint}`);
      return SOON_MS;
    }
    const released = await database.call(RELEASE, { take }); // HO2
    if (released.kind !== "done" || !released.value || released.isDoubtful) return SOON_MS;
    this.#released = take.id;
    await tell(this.#ports, { home: take.home, kind: "released", words: `this home is handed over to ${to}` });
    return SOON_MS;
  }
}
