// The lease of this home by our own clock, which goes on while the machine sleeps. Programs are started and requests
// are sent only while it lasts: after that, another host may have done the same.
// LE1. It lasts from when the call was sent that renewed it, not from its answer.
// LE2. Its end is in a file for the program that stops what already runs (docs/FLEET.md). If the disk does not take
//      it, that program believes the lease shorter than it is.
// LE3. What is refused for want of a lease is retried by its owner, like a fork that failed.
// LE4. A holder that is there already gets no order either: `mayStart` is asked before each.
import { Fault } from "../../base/fault.ts";
import type { Take } from "../../fleet/calls.ts";
import { writeLease } from "../../home/fleet-files.ts";
import type { DaemonPorts } from "../ports.ts";

/** The file is written at most so many times in a lease. */
const WRITES = 10;

type World = Pick<DaemonPorts["world"], "disk" | "clock" | "processes" | "home">;

export class Lease {
  readonly #world: World;
  readonly #leaseMs: number;
  #until = 0;
  #written = 0;
  #isEndless = false;

  constructor(world: World, leaseMs: number) {
    this.#world = world;
    this.#leaseMs = leaseMs;
  }

  /** Nobody takes the home by himself: it lasts until somebody does. */
  endless(take: Take): void {
    this.#isEndless = true;
    this.renewed(take, 0);
  }

  /** LE1 */
  renewed({ epoch, id }: Take, sentAt: number, leaseMs = this.#leaseMs): void {
    const until = this.#isEndless ? Number.MAX_SAFE_INTEGER : sentAt + leaseMs;
    this.#until = Math.max(this.#until, until);
    if (this.#until - this.#written < this.#leaseMs / WRITES) return;
    const bootId = this.#world.processes.bootId();
    if (writeLease(this.#world, { epoch, id, bootId, until: this.#until })) this.#written = this.#until; // LE2
  }

  /** In milliseconds; 0 if it has ended. */
  get left(): number {
    return Math.max(0, this.#until - this.#world.clock.sinceBoot());
  }

  get isHeld(): boolean {
    return this.#isEndless || this.left > 0;
  }
}

const HINT = "The database of the fleet does not answer. It is tried again; `holdfast fleet status` says more.";

/** The same world, in which nothing new is started and no request is sent without a lease (LE3). */
export function leasedWorld(world: DaemonPorts["world"], lease: Lease): DaemonPorts["world"] {
  const { children, httpClient } = world;
  const held = (operation: string) => {
    if (!lease.isHeld) throw new Fault({ code: "EAGAIN", operation, path: "without a lease", hint: HINT }); // LE3
  };
  return {
    ...world,
    mayStart: () => lease.isHeld, // LE4
    children: {
      pty: (...given) => {
        held("start");
        return children.pty(...given);
      },
      pipes: (...given) => {
        held("start");
        return children.pipes(...given);
      },
      detached: (...given) => {
        held("start");
        return children.detached(...given);
      },
      told: (...given) => {
        held("start");
        return children.told(...given);
      },
      watched: (...given) => {
        held("start");
        return children.watched(...given);
      },
    },
    httpClient: {
      post: async (...given) => {
        held("request");
        return httpClient.post(...given);
      },
    },
  };
}
