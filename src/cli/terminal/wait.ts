// `holdfast wait`: returns when the program in a terminal has ended, with its exit code; or when the time is up.

import { type Ended, exitCodeOf } from "../../base/exit-code.ts";
import { ok, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import { within } from "../../world/wait.ts";
import type { Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { findTerminal } from "./find.ts";
import { ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

export type WaitFlags = DataFlags & { readonly timeout?: number };

async function wait(world: DaemonCommandWorld, flags: WaitFlags, key: string): Promise<Exit> {
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
  const { timeout } = flags;
  const end = timeout === undefined ? await line.ended : await within(world.clock, timeout, line.ended);
  line.close();
  if (end === undefined) return timedOut(name, timeout ?? 0);
  if (end.kind === "gone") return { ok: false, error: end.refusal };
  return report(world, { id, name, ...end.exit }, flags.json === true);
}

function timedOut(name: string, ms: number): Exit {
  const hint = `Look at it with \`holdfast tail ${name}\`, or wait again.`;
  return refused("timed-out", `Timed out after ${ms / 1000} s: ${name} is still running.`, hint);
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
