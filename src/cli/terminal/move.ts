// `holdfast move`: puts a terminal into another lane.
import { ok } from "../../base/result.ts";
import { type Act, onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson } from "../print.ts";
import { findTerminal } from "./find.ts";

async function move(world: DaemonCommandWorld, flags: DataFlags, key: string, lane: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const { id, name } = found.value;
  // Moving twice has the same effect as once, so a lost reply does not matter.
  const act: Act<unknown> = (client) => client.call("terminal.move", { id, lane });
  const moved = await onDaemon(world, home.value, act);
  if (!moved.ok) return moved;
  if (flags.json) await printJson(world.console, { id, name, lane });
  return ok(EXIT.ok);
}

export const moveCommand = withDaemonWorld(move);
