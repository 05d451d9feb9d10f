// What `holdfast` runs. It starts in a few tens of milliseconds, so the world and the commands are loaded only when
// needed.
import { goOnAsWhole } from "../world/quick.ts";
import { realConsole } from "../world/real/console.ts";
import type { CommandWorld } from "./command-world.ts";
import { LeftOut } from "./left-out.ts";
import { runCli } from "./run.ts";

const console = realConsole();

async function load(): Promise<CommandWorld> {
  const { realWorld } = await import("../world/world.ts");
  const { realWatch } = await import("../world/real/watch.ts");
  return { ...realWorld(), console, watch: realWatch() };
}

const work = runCli(process.argv.slice(2), console, load);
// Not awaited: the built file is not a module.
void console.staying(work).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (!(error instanceof LeftOut)) throw error;
    void goOnAsWhole();
  },
);
