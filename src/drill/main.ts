// The entry point of the drill and of the demonstration of a fleet: `bun src/drill/main.ts FLAGS`, with the flags as
// JSON (wire/drill.ts). The command line starts it.
import { isFault } from "../base/fault.ts";
import type { Refusal } from "../base/result.ts";
import { visible, visibleLine } from "../base/visible.ts";
import { decodeDrillFlags, decodeFleetDemoFlags } from "../wire/drill.ts";
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realMachine } from "../world/real/machine.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realSelf } from "../world/self.ts";
import { realWorld } from "../world/world.ts";
import { fleetDemo } from "./fleet/run.ts";
import { drill } from "./run.ts";

const FAILED = 1;
const USAGE = 2;

const program = realProgram();
const console = realConsole();

async function main(): Promise<number> {
  const words = program.args[0] ?? "";
  const demo = decodeFleetDemoFlags(words);
  const flags = decodeDrillFlags(words);
  if (flags === undefined && demo === undefined) {
    await console.err.write("holdfast: the drill is started by `holdfast drill`\n");
    return USAGE;
  }
  const world = { ...realWorld(), console, sockets: realSockets(), self: realSelf() };
  try {
    if (flags !== undefined) return await drill(world, flags);
    const shown = await fleetDemo({ ...world, children: realChildren(), machine: realMachine() }, demo ?? {});
    if (shown.ok) return shown.value;
    await complain(shown.error, demo?.json === true);
  } catch (error) {
    if (!isFault(error)) throw error;
    await complain(error, (flags ?? demo)?.json === true);
  }
  return FAILED;
}

async function complain({ code, message, hint }: Refusal, json: boolean): Promise<void> {
  const text = json ? `${visibleLine(JSON.stringify({ code, message, hint }))}\n` : undefined;
  await console.err.write(text ?? visible(`holdfast: ${message}\n  → ${hint}\n`));
}

void console.staying(main()).then((code) => program.exit(code));
