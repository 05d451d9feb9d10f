// `holdfast checkpoints save`: saves the checkpoint of a run now, with the reason `Manual`; the one before it stays in
// its history.
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson, say } from "../print.ts";
import { meantRun } from "./checkpoint-runs.ts";

async function save(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const meant = await meantRun(world, { ...flags, json: true }, key, false);
  if (!meant.ok) return meant;
  const { home, run } = meant.value;
  const saved = await onDaemon(world, home, (client) => client.call("workflow.checkpoint", { id: run.id }));
  if (!saved.ok) return saved;
  const { path, seq, reason } = saved.value;
  if (flags.json) await printJson(world.console, { run: run.id, name: run.name, file: path, seq, reason });
  else await say(world.console, `saved as checkpoint ${seq} of ${run.name}: ${visibleLine(path)}`);
  return ok(EXIT.ok);
}

export const checkpointsSaveCommand = withDaemonWorld(save);
