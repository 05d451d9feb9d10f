// The guard of the home that this program was started for: its agents' and steps' programs run only while the home is
// certainly on this host (core/fleet/guard.ts).
// GD1. It looks again whenever it acts: a daemon that renews while we stop programs is seen at the next look.
// GD2. A look that fails is repeated soon: without one, the lease ends unseen.
import { isFault } from "../base/fault.ts";
import { type GuardAct, guardAct } from "../core/fleet/guard.ts";
import { readFenced, readLease } from "../home/fleet-files.ts";
import type { Clock } from "../world/clock.ts";
import { Freezer, type FreezerWorld } from "./freezer.ts";

export type GuardPorts = {
  readonly world: FreezerWorld & { readonly clock: Clock };
  readonly leaseMs: number;
  say(words: string): void;
  /** Called when what it does has changed. */
  changed(state: GuardState): void;
};
export type GuardState = "running" | "stopped" | "ended";

/** GD2 */
const AGAIN_MS = 100;

export class Guard {
  readonly #ports: GuardPorts;
  readonly #freezer: Freezer;
  #cancel: () => void = () => undefined;
  #state: GuardState | undefined;
  #isLeaving = false;

  constructor(ports: GuardPorts) {
    this.#ports = ports;
    this.#freezer = new Freezer(ports.world);
  }

  start(): void {
    const wakeMs = this.#look();
    this.#cancel = this.#ports.world.clock.after(wakeMs, () => this.start());
  }

  /** Returns once nothing runs any more (GU4 of core/fleet/guard.ts), or may run again. */
  leave(isLeaving: boolean): void {
    if (isLeaving === this.#isLeaving) return;
    this.#isLeaving = isLeaving;
    this.#cancel();
    this.start();
  }

  close(): void {
    this.#cancel();
  }

  /** Returns when to look again. */
  #look(): number {
    try {
      const act = this.#next();
      this.#perform(act);
      return act.wakeMs;
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`the guard could not look: ${error.message}. ${error.hint}`);
      return AGAIN_MS; // GD2
    }
  }

  #next(): GuardAct {
    const { world, leaseMs } = this.#ports;
    const lease = readLease(world);
    const until = lease?.bootId === world.processes.bootId() ? lease.until : undefined;
    const isFenced = readFenced(world) !== undefined;
    const now = world.clock.sinceBoot();
    return guardAct({ until, isFenced, isFrozen: this.#freezer.isFrozen, isLeaving: this.#isLeaving, now, leaseMs });
  }

  #perform({ kind }: GuardAct): void {
    const { say } = this.#ports;
    if (kind === "freeze") {
      const why = this.#isLeaving ? "this home is handed over" : "the lease of this home is about to end";
      say(`${why}: ${this.#freezer.freeze()} programs of agents and steps are stopped`);
      this.#is("stopped");
    } else if (kind === "go on") {
      say(`this host has the lease of this home: ${this.#freezer.goOn()} programs go on`);
      this.#is("running");
    } else if (kind === "kill") this.#kill();
    else if (kind === "keep frozen") this.#keepFrozen();
    else this.#is("running");
  }

  /** A holder may have started what it was told to start before. */
  #keepFrozen(): void {
    const more = this.#freezer.freeze();
    if (more > 0) this.#ports.say(`${more} more programs are stopped`);
    this.#is("stopped");
  }

  /** Until there is nothing left. */
  #kill(): void {
    if (this.#state === "ended") return;
    const killed = this.#freezer.kill();
    if (killed > 0) this.#ports.say(`another host has this home: ${killed} programs of agents and steps are killed`);
    else this.#is("ended");
  }

  #is(state: GuardState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#ports.changed(state);
  }
}
