// What `holdfast` runs. It starts in a few tens of milliseconds, so the world and the commands are loaded only when
// needed.
import { realConsole } from "../world/real/console.ts";
import type { CommandWorld } from "./command-world.ts";
import { runCli } from "./run.ts";

const console = realConsole();

async function load(): Promise<CommandWorld> {
  const { realWorld } = await import("../world/world.ts");
  const { realWatch } = await import("../world/real/watch.ts");
  return { ...realWorld(), console, watch: realWatch() };
}

const work = runCli(process.argv.slice(2), console, load);
void console.staying(work).then((code) => process.exit(code)); // Not awaited: the built file is not a module.
