// `holdfast checkpoints show`: one checkpoint, for people or as JSON. Likely secrets are shown to neither (masked.ts).

import { ANY_NUMBER, isRecord, type Json, jsonIn, textOf } from "../../base/json.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { CompletedStepRecord, WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import { masked } from "../../core/workflow/masked.ts";
import { planResume } from "../../core/workflow/resume.ts";
import type { CheckpointFile } from "../../home/checkpoint-storage.ts";
import { workflowCheckpointOf } from "../../wire/stored/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { count, fit } from "../print.ts";
import { columns, tableText } from "../table.ts";
import { type MeantRun, meantRun, noCheckpoint } from "./checkpoint-runs.ts";

/** How much of a command or value is shown in one row. */
const MAX_TEXT = 100;

type Shown = { readonly file: CheckpointFile; readonly seq: number; readonly checkpoint: WorkflowCheckpoint };

async function show(world: DaemonCommandWorld, flags: DataFlags, key: string, seq?: number): Promise<Exit> {
  const meant = await meantRun(world, flags, key, true);
  const shown = meant.ok ? chosen(meant.value, seq) : meant;
  if (!shown.ok) return shown;
  const { out } = world.console;
  const checkpoint = withoutSecrets(shown.value.checkpoint);
  if (flags.json) await out.write(`${visibleLine(JSON.stringify({ seq: shown.value.seq, ...checkpoint }))}\n`);
  else await out.write(visible(checkpointText(world, { ...shown.value, checkpoint })));
  return ok(EXIT.ok);
}

/** The checkpoint with this seq, else the newest that can be read. */
function chosen({ run, files }: MeantRun, seq: number | undefined): Result<Shown> {
  for (const file of files) {
    const { found } = file;
    if (found.kind === "whole" && (seq === undefined || found.seq === seq))
      return ok({ file, seq: found.seq, checkpoint: found.checkpoint });
  }
  return noCheckpoint(run, seq);
}

function withoutSecrets(checkpoint: WorkflowCheckpoint): WorkflowCheckpoint {
  const { created_at: time, integrity_hash: sha256, ...content } = checkpoint;
  const plain = jsonIn(JSON.stringify(content), ANY_NUMBER); // A long map has more values than a text of others may.
  const shown =
    plain !== undefined && isRecord(plain) ? workflowCheckpointOf(masked(plain), { time, sha256 }) : undefined;
  if (shown === undefined) throw new Error("a masked checkpoint must still be a checkpoint");
  return shown;
}

function checkpointText(world: DaemonCommandWorld, { file, seq, checkpoint }: Shown): string {
  const { run, state, reason, created_at, workflow_path, worktree_path, completed_steps, variables } = checkpoint;
  const facts: [string, string][] = [
    ["run", `${run.name} (${checkpoint.session_id})`],
    ["file", workflow_path],
    ...(worktree_path === null ? [] : ([["worktree", worktree_path]] satisfies [string, string][])),
    ["checkpoint", `${seq}, ${localTime(world.console, created_at)}, because of ${reason}`],
    ["state", stateText(checkpoint)],
    ["resume", resumeText(checkpoint)],
    ["stored in", `${file.path} (${file.bytes} bytes, SHA-256 ${checkpoint.integrity_hash.slice(0, 12)}… matches)`],
  ];
  const map = checkpoint.mapreduce_state;
  if (map !== null) facts.push(["map", `${map.all.length} items: ${map.succeeded} succeeded, ${map.failed} failed`]);
  const lines = columns(
    facts.map(([name, text]) => [name, text]),
    world.console.widthOf,
  );
  const earlier = run.past?.steps ?? 0;
  const before = earlier === 0 ? [] : [[`  ${count(earlier, "step")} before these`]];
  const steps = [...before, ...completed_steps.map((step) => stepCells(world, step))];
  const values = Object.entries(variables).map(([name, value]) => [`  ${name}`, cut(world, value)]);
  const tableLines = (rows: string[][]) => (rows.length === 0 ? [] : [tableText(world.console, rows).trimEnd()]);
  return [
    ...lines,
    state.kind === "BeforeStep" && steps.length === 0 ? "no step has ended." : "steps that ended:",
    ...tableLines(steps),
    ...(values.length === 0 ? [] : ["variables:", ...tableLines(values)]),
    "",
  ].join("\n");
}

function stateText({ state }: WorkflowCheckpoint): string {
  const at = `${state.kind}, step ${state.step_index + 1}`;
  if (state.kind === "Failed") return `${at}: ${state.error}${state.retryable ? "" : " A retry would not help."}`;
  return state.kind === "Interrupted" && state.in_progress ? `${at}, in the middle of it` : at;
}

/** Whatever was begun and has not ended is examined only when the run is resumed. */
function resumeText(checkpoint: WorkflowCheckpoint): string {
  if (checkpoint.run.status.kind === "done") return "it is done";
  const { start_index, retry_current, skip_steps } = planResume(checkpoint, () => ({ kind: "not-started" }));
  const skipped = skip_steps.length === 0 ? "" : `; ${count(skip_steps.length, "step")} before it will not run again`;
  return `${retry_current ? "runs" : "continues at"} step ${start_index + 1}${skipped}`;
}

function stepCells(
  world: DaemonCommandWorld,
  { step, iteration, outcome, duration_ms, command }: CompletedStepRecord,
): string[] {
  const name = iteration > 1 ? `${step} (${iteration})` : step;
  return [`  ${name}`, outcome, `${(duration_ms / 1000).toFixed(1)} s`, cut(world, command)];
}

/** In one row: the ends of its lines are shown as people write them. */
function cut({ console }: DaemonCommandWorld, value: Json): string {
  return fit(visibleLine(textOf(value).replaceAll("\n", "\\n")), MAX_TEXT, console.widthOf);
}

export const checkpointsShowCommand = withDaemonWorld(show);
