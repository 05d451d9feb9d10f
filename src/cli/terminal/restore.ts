// `holdfast restore`: restarts a terminal that waits for a person, and sets its policy for the next time.
// RS1. If only a policy is given and the terminal is running, only the policy changes.

import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { RestoreWay } from "../../core/terminal/restore.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { findTerminal } from "./find.ts";

export type RestoreFlags = DataFlags & { readonly policy?: RestorePolicy; readonly as?: RestoreWay };

async function restore(world: DaemonCommandWorld, flags: RestoreFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const { id, state } = found.value;
  const runs = state.kind === "running" || state.kind === "starting";
  const done = await onDaemon<Terminal>(world, home.value, async (client, again): Promise<Result<Terminal>> => {
    const { policy } = flags;
    const changed = policy === undefined ? undefined : await client.call("terminal.policy", { id, policy });
    if (changed?.ok === false || (changed !== undefined && runs && flags.as === undefined)) return changed; // RS1
    const restored = await client.call("terminal.restore", { id, way: flags.as ?? "plan" });
    const late = again && !restored.ok && restored.error.code === "still-running"; // An earlier attempt was accepted.
    return late ? ok(found.value) : restored;
  });
  if (!done.ok) return done;
  await report(world, done.value, flags.json === true);
  return ok(EXIT.ok);
}

async function report({ console }: DaemonCommandWorld, terminal: Terminal, json: boolean): Promise<void> {
  const { id, name, policy, state, restored } = terminal;
  const notes = restored?.notes ?? [];
  if (json) {
    await console.out.write(`${visibleLine(JSON.stringify({ id, name, policy, state: state.kind, notes }))}\n`);
    return;
  }
  const words = state.kind === "uncertain" ? `waits for you (${state.reason})` : [state.kind, ...notes].join("; ");
  await say(console, `${name}: ${words}; policy ${policy}.\n  → holdfast attach ${name}`);
}

export const restoreCommand = withDaemonWorld(restore);
