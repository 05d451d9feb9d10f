// `holdfast wait`: returns when the program in a terminal has ended, with its exit code.

import { type Ended, exitCodeOf } from "../../base/exit-code.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import type { Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { findTerminal } from "./find.ts";
import { ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

async function wait(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const { id, name, state } = found.value;
  if (state.kind === "ended") return report(world, { id, name, ...state }, flags.json === true);
  const line = new ReconnectingHolder(world, terminalFiles(world.disk, home.value, id), {
    writer: writerName(world, "wait"),
  });
  line.open();
  const end = await line.ended;
  if (end.kind === "gone") return { ok: false, error: end.refusal };
  return report(world, { id, name, ...end.exit }, flags.json === true);
}

async function report(
  { console }: DaemonCommandWorld,
  { id, name, code, signal }: Ended & { readonly id: string; readonly name: string },
  json: boolean,
): Promise<Exit> {
  const value = { id, name, exitCode: code, signal };
  if (json) await console.out.write(`${visibleLine(JSON.stringify(value))}\n`);
  return ok(exitCodeOf({ code, signal }));
}

export const waitCommand = withDaemonWorld(wait);
