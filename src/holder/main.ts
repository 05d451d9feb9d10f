// The entry of a holder: `bun src/holder/main.ts <the terminal's directory>`. It is started detached, and outlives whoever started it.
// With `--orders` it holds attempts of workflows, one after the other, as its input says (wire/holder-orders.ts), and leaves when that ends.
// M1. Found first, claimed second, started third: the socket is bound before the claim, and the claim durable before the child.
// M2. Where a claim exists, or another holder answers on the socket, it leaves with 0: the command is started at most once, ever.
// M3. A hang-up is not for us; it is taken for a nudge to look after our socket.
// M4. An order is taken when the end of the attempt before is durable and told; nothing of one is left for the next.
import { Fault, isFault } from "../base/fault.ts";
import { joinPath, readWhole } from "../log/file.ts";
import { ENTRUSTED, entrusted, type Variables } from "../wire/entrusted.ts";
import type { HolderSpec } from "../wire/holder.ts";
import { parseSpec } from "../wire/holder-json.ts";
import { ORDERS, ordersIn } from "../wire/holder-orders.ts";
import type { Disk } from "../world/disk.ts";
import type { Program } from "../world/program.ts";
import { realChildren } from "../world/real-children.ts";
import { realClock } from "../world/real-clock.ts";
import { realDisk } from "../world/real-disk.ts";
import { realInput } from "../world/real-input.ts";
import { realProcesses } from "../world/real-process.ts";
import { realProgram } from "../world/real-program.ts";
import { realSockets } from "../world/real-socket.ts";
import { Holder, type HolderWorld } from "./holder.ts";
import { claim } from "./records.ts";
import { SocketKeeper } from "./socket-keeper.ts";

const USAGE = 2;

/** What is held at present. */
type Present = { holder: Holder; keeper: SocketKeeper } | undefined;

async function main(program: Program): Promise<void> {
  const [directory] = program.args;
  if (directory === undefined) return program.exit(USAGE);
  const world = { ...doors(), rest: () => program.rest() };
  let present: Present;
  let leaving = false;
  const held = (now: Present) => {
    present = now;
  };
  program.onSignal("SIGHUP", () => void present?.keeper.look()); // M3
  program.onSignal("SIGTERM", () => {
    leaving = true;
    if (present === undefined) program.exit(0);
    present.holder.stop();
  });
  if (directory !== ORDERS) await hold(world, directory, entrusted(program.variable(ENTRUSTED)), held);
  else
    for await (const { directory: next, secrets } of ordersIn(realInput())) {
      await hold(world, next, secrets, held); // M4
      if (leaving) break;
    }
  program.exit(0);
}

async function hold(
  world: HolderWorld,
  directory: string,
  secrets: Variables,
  held: (now: Present) => void,
): Promise<void> {
  const written = readSpec(world.disk, directory);
  const spec = { ...written, env: { ...written.env, ...secrets } };
  const holder = new Holder(world, spec, directory);
  const keeper = await open(world, spec, holder);
  if (keeper === undefined) return; // M2
  held({ holder, keeper });
  try {
    if (await claim({ ...world, directory }, spec.generation)) await holder.run(() => keeper.touch()); // M1, M2
  } finally {
    keeper.close();
    held(undefined);
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
  const [disk, clock, processes] = [realDisk(), realClock(), realProcesses()];
  return { disk, clock, processes, sockets: realSockets(), children: realChildren() };
}

void main(realProgram()); // Not awaited: the bundle is CommonJS, and what is thrown ends the process all the same.
