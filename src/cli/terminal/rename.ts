// `holdfast rename`: gives a terminal another name.

import { ok } from "../../base/result.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { type Act, onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson } from "../print.ts";
import { findTerminal } from "./find.ts";

async function rename(world: DaemonCommandWorld, flags: DataFlags, key: string, name: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const { id } = found.value;
  // Renaming twice has the same effect as once, so a lost reply does not matter.
  const act: Act<Terminal> = (client) => client.call("terminal.rename", { id, name });
  const renamed = await onDaemon(world, home.value, act);
  if (!renamed.ok) return renamed;
  if (flags.json) await printJson(world.console, { id, name });
  return ok(EXIT.ok);
}

export const renameCommand = withDaemonWorld(rename);
