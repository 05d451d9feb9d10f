// Holds one child from its spec to its end, with the real system.
// M1. First reachable, then claimed, then started: the socket is bound before the claim, and the claim is durable
//     before the child starts.
// M2. If a claim exists, or another holder answers on the socket, nothing is held: the command is started at most once,
//     ever.
// M3. SIGHUP does not end us; it means that we should check our socket.
// M5. An agent's holder is given what its program leaves behind (PR2 of core/principal.ts), from before the start on.
import { Fault, isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { readWhole } from "../log/file/file.ts";
import { parseSpec } from "../wire/holder/json.ts";
import type { HolderSpec } from "../wire/holder/protocol.ts";
import type { Variables } from "../wire/holder/secrets.ts";
import type { Disk } from "../world/disk.ts";
import type { Program } from "../world/program.ts";
import { realChildren } from "../world/real/children.ts";
import { realClock } from "../world/real/clock.ts";
import { realDisk } from "../world/real/disk.ts";
import { realKinship } from "../world/real/kinship.ts";
import { adoptOrphans } from "../world/real/reaper.ts";
import { realSockets } from "../world/real/socket.ts";
import { Holder, type HolderWorld } from "./holder.ts";
import { claim } from "./records.ts";
import { SocketKeeper } from "./socket-keeper.ts";

/** What is currently held. */
type Present = { holder: Holder; keeper: SocketKeeper };

/** Holds any number of children, one at a time. */
export class Hold {
  readonly world: HolderWorld;
  readonly #program: Program;
  #present: Present | undefined;
  #leaving = false;

  constructor(program: Program) {
    this.#program = program;
    this.world = { ...doors(), rest: () => program.rest() };
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
  async one(directory: string, secrets: Variables): Promise<void> {
    const { world } = this;
    const written = readSpec(world.disk, directory);
    const spec = { ...written, env: { ...written.env, ...secrets } };
    const holder = new Holder(world, spec, directory);
    const keeper = await open(world, spec, holder);
    if (keeper === undefined) return; // M2
    this.#present = { holder, keeper };
    if (spec.adopts === true) adoptOrphans(this.#program, () => holder.child); // M5
    try {
      if (await claim({ ...world, directory }, spec.generation)) await holder.run(() => keeper.touch()); // M1, M2
    } finally {
      keeper.close();
      this.#present = undefined;
    }
  }
}

function readSpec(disk: Disk, directory: string): HolderSpec {
  const path = joinPath(directory, "holder.json");
  const bytes = readWhole(disk, path);
  if (bytes === undefined) throw new Fault({ code: "ENOENT", operation: "read", path });
  const spec = parseSpec(bytes);
  if (spec.ok) return spec.value;
  throw new Fault({ code: spec.error.message, operation: "read", path, hint: spec.error.hint });
}

async function open(world: HolderWorld, spec: HolderSpec, holder: Holder): Promise<SocketKeeper | undefined> {
  try {
    return await SocketKeeper.open(world, spec.socket, (connection) => holder.accept(connection));
  } catch (error) {
    if (isFault(error, "EADDRINUSE")) return undefined; // M2
    throw error;
  }
}

function doors(): Omit<HolderWorld, "rest"> {
  const [disk, clock, processes] = [realDisk(), realClock(), realKinship()];
  return { disk, clock, processes, sockets: realSockets(), children: realChildren() };
}
