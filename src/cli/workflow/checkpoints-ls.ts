// `holdfast checkpoints ls`: the checkpoints of a run, newest first; without one, the newest of every run.

import { shortId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { checkpointText } from "../../core/workflow/progress.ts";
import type { CheckpointFile } from "../../home/checkpoint-storage.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { say } from "../print.ts";
import { sparingTable } from "../table.ts";
import { filesOf, meantRuns } from "./checkpoint-runs.ts";

const HEAD = ["RUN", "NAME", "CHECKPOINT", "TIME", "POINT", "STEP", "SIZE", "VALID"];
const CUTS = ["STEP", "NAME"];
/** What a narrow window does without, so that it shows whether they are valid: of one run, and of all runs. */
const SPARED = { one: ["NAME", "SIZE", "RUN"], all: ["SIZE", "POINT"] };

async function ls(world: DaemonCommandWorld, flags: DataFlags, key?: string): Promise<Exit> {
  const meant = await meantRuns(world, flags, key);
  if (!meant.ok) return meant;
  const { home, runs } = meant.value;
  const rows = runs.flatMap((run) => {
    const files = filesOf(world, home, run);
    return (key === undefined ? files.slice(0, 1) : files).map((file) => rowOf(run, file));
  });
  const { console } = world;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(rows))}\n`);
  else if (rows.length === 0) await say(console, "there are no checkpoints.");
  else await console.out.write(tableOf(world, rows, key === undefined ? SPARED.all : SPARED.one));
  return ok(EXIT.ok);
}

type Row = ReturnType<typeof rowOf>;

/** Other programs rely on this shape: fields are added, never changed. */
function rowOf({ id, name, path }: ListedRun, { path: file, bytes, found }: CheckpointFile) {
  const place = { run: id, name, path, file, bytes };
  if (found.kind === "bad")
    return {
      ...place,
      seq: null,
      time: null,
      state: null,
      reason: null,
      step: null,
      valid: false,
      problem: found.reason,
    };
  const { seq, time } = found;
  if (found.kind === "other rules")
    return { ...place, seq, time, state: null, reason: null, step: null, valid: true, problem: found.reason };
  const { checkpoint } = found;
  return {
    ...place,
    seq,
    time,
    state: checkpoint.state.kind,
    reason: checkpoint.reason,
    step: checkpointText(checkpoint),
    valid: true,
    problem: null,
  };
}

function tableOf({ console }: DaemonCommandWorld, rows: readonly Row[], spared: readonly string[]): string {
  const cells = rows.map(({ run, name, seq, time, state, step, bytes, valid, problem }) =>
    [
      ...[
        shortId(run),
        name,
        seq === null ? "-" : String(seq),
        time === null ? "-" : localTime(console, time),
        state ?? "-",
        step ?? "-",
      ],
      ...[`${bytes} B`, valid ? (problem === null ? "yes" : `not used: ${problem}`) : `NO: ${problem}`],
    ].map(visibleLine),
  );
  return sparingTable(console, [HEAD, ...cells], spared, CUTS);
}

export const checkpointsLsCommand = withDaemonWorld(ls);
