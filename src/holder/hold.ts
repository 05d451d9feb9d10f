// Holds children with the real system, one at a time (hold-one.ts).
// M3. SIGHUP does not end us; it means that we should check our socket.
// M5. An agent's holder is given what its program leaves behind (PR2 of core/principal.ts), from before the start on.
import type { Program } from "../world/program.ts";
import { realChildren } from "../world/real/children.ts";
import { realClock } from "../world/real/clock.ts";
import { realDisk } from "../world/real/disk.ts";
import { realKinship } from "../world/real/kinship.ts";
import { adoptOrphans } from "../world/real/reaper.ts";
import { realSockets } from "../world/real/socket.ts";
import { holdOne, type Present, type ToHold } from "./hold-one.ts";
import type { HolderWorld } from "./holder.ts";

export class Hold {
  readonly world: HolderWorld;
  readonly #program: Program;
  #present: Present | undefined;
  #leaving = false;

  constructor(program: Program) {
    this.#program = program;
    this.world = { ...doors(), rest: () => void program.rest() };
    program.onSignal("SIGHUP", () => void this.#present?.keeper.look()); // M3
    program.onSignal("SIGTERM", () => {
      this.#leaving = true;
      if (this.#present === undefined) program.exit(0);
      this.#present.holder.stop();
    });
  }

  /** It was asked to end, and holds no further child. */
  isLeaving(): boolean {
    return this.#leaving;
  }

  /** Resolves when the child's end is durable and announced. */
  one(held: ToHold): Promise<void> {
    return holdOne(this.world, held, (now) => {
      this.#present = now;
      if (now?.spec.adopts === true) adoptOrphans(this.#program, () => now.holder.child); // M5
    });
  }
}

function doors(): Omit<HolderWorld, "rest"> {
  const [disk, clock, processes] = [realDisk(), realClock(), realKinship()];
  return { disk, clock, processes, sockets: realSockets(), children: realChildren() };
}
