// `holdfast checkpoints rollback`: sets a run back to an earlier checkpoint; `resume` continues from there.
// RK1. What would be undone is shown first. Without --yes nothing happens (exit 3).
// RK2. If a dying daemon already did the rollback, the retry finds nothing to undo, which is success.

import { shortId } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RolledBackRun } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { count, say } from "../print.ts";
import { meantRun } from "./checkpoint-runs.ts";

export type RollbackFlags = DataFlags & { readonly yes?: boolean };

async function rollback(world: DaemonCommandWorld, flags: RollbackFlags, key: string, seq: number): Promise<Exit> {
  const meant = await meantRun(world, { ...flags, json: true }, key, false);
  if (!meant.ok) return meant;
  const { home, run } = meant.value;
  const ask = { id: run.id, seq };
  const planned = await onDaemon(world, home, (client) => client.call("workflow.rollback", { ...ask, dryRun: true }));
  if (!planned.ok) return planned;
  const { console } = world;
  if (!flags.yes) {
    if (flags.json) await printUndone(world, planned.value, false);
    else
      await say(
        console,
        `${undoneText(planned.value, "would count")}\nNothing was changed.\n  → ${again(run.id, seq)} --yes`,
      );
    return ok(EXIT.waiting); // RK1
  }
  const done = await onDaemon<RolledBackRun>(world, home, async (client, repeated) => {
    const back: Result<RolledBackRun> = await client.call("workflow.rollback", { ...ask, dryRun: false });
    return repeated && !back.ok && back.error.code === "nothing-to-undo" ? planned : back; // RK2
  });
  if (!done.ok) return done;
  if (flags.json) await printUndone(world, done.value, true);
  else await say(console, `${undoneText(done.value, "count")}\n  → holdfast resume ${shortId(run.id)}`);
  return ok(EXIT.ok);
}

function again(id: string, seq: number): string {
  return `holdfast checkpoints rollback ${shortId(id)} ${seq}`;
}

function undoneText({ run, steps, more, items }: RolledBackRun, verb: "count" | "would count"): string {
  const named = steps.map(({ step, iteration, outcome }) => {
    const round = iteration > 1 ? ` (iteration ${iteration})` : "";
    return `  ${step}${round}: ${outcome}`;
  });
  const rest = more === 0 ? [] : [`  and ${count(more, "more step")}`];
  const map = items === 0 ? [] : [`  ${count(items, "item")} of the map`];
  const what = named.length + map.length === 0 ? "No steps" : "These steps";
  return [`${what} of ${run.name} ${verb} as not done; their effects remain:`, ...named, ...rest, ...map].join("\n");
}

async function printUndone(
  { console }: DaemonCommandWorld,
  { run, steps, more, items }: RolledBackRun,
  done: boolean,
): Promise<void> {
  const value = { id: run.id, name: run.name, state: run.state, done, steps, more, items };
  await console.out.write(`${visibleLine(JSON.stringify(value))}\n`);
}

export const checkpointsRollbackCommand = withDaemonWorld(rollback);
