// `holdfast checkpoints verify`: checks the hash and shape of every checkpoint of a run, or of all, and compares the
// log.
// VF1. The files are read before the log: only durable state is saved to a checkpoint, so none may be ahead of the log.
// VF2. The log is folded once, and compared with each checkpoint at its seq. If retention has removed its beginning,
//      the fold begins with the oldest checkpoint that the rest follows.
// VF3. A bad checkpoint costs time, never work: the log has everything. Each comes with what can be done.

import { shortId } from "../../base/ids.ts";
import { ANY_NUMBER, equal, type Json, jsonIn } from "../../base/json.ts";
import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { applyWorkflow } from "../../core/workflow/apply.ts";
import { fromCheckpoint, toCheckpoint, type WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import type { Run } from "../../core/workflow/run.ts";
import { sessionOf } from "../../core/workflow/run.ts";
import type { CheckpointFile } from "../../home/checkpoint-storage.ts";
import type { LogView } from "../../log/inspect.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { workflowEventOf } from "../../wire/stored/workflow.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { steadyView } from "../log/view.ts";
import { count, say } from "../print.ts";
import { filesOf, meantRuns } from "./checkpoint-runs.ts";

type CheckpointVerdict = {
  readonly run: string;
  readonly name: string;
  readonly file: string;
  readonly seq: number | null;
  readonly verdict: "good" | "not used" | "bad";
  readonly reason: string | null;
  readonly next: string | null;
};

async function verify(world: DaemonCommandWorld, flags: DataFlags, key?: string): Promise<Exit> {
  const meant = await meantRuns(world, flags, key);
  if (!meant.ok) return meant;
  const { home, runs } = meant.value;
  const files = runs.map((run) => ({ run, files: filesOf(world, home, run) }));
  const view = await steadyView(world, home); // VF1
  const verdicts = files.flatMap((one) => verdictsOf(view, one));
  const bad = verdicts.filter(({ verdict }) => verdict === "bad");
  const { console } = world;
  if (flags.json) await console.out.write(`${visibleLine(JSON.stringify(verdicts))}\n`);
  else await console.out.write(visible(verdictsText(verdicts)));
  if (!flags.json)
    await say(console, `${count(verdicts.length, "checkpoint")} of ${count(runs.length, "run")}: ${bad.length} bad.`);
  return ok(bad.length === 0 ? EXIT.ok : EXIT.failed);
}

type OfRun = { readonly run: ListedRun; readonly files: readonly CheckpointFile[] };

function verdictsOf(view: LogView, { run, files }: OfRun): CheckpointVerdict[] {
  const wrong = compared(view, sessionOf(run), files);
  return files.map((file) => {
    const { found, path } = file;
    const facts = { run: run.id, name: run.name, file: path, seq: found.kind === "bad" ? null : found.seq };
    if (found.kind === "other rules") return { ...facts, verdict: "not used", reason: found.reason, next: NOT_USED };
    const reason = found.kind === "bad" ? found.reason : wrong.get(path);
    if (reason === undefined) return { ...facts, verdict: "good", reason: null, next: null };
    return { ...facts, verdict: "bad", reason, next: found.kind === "bad" ? nextOf(file) : lieOf(path) };
  });
}

type Saved = { readonly path: string; readonly seq: number; readonly checkpoint: WorkflowCheckpoint };

/** VF2: the problems of checkpoints whose hash and shape are right, by path. */
function compared(view: LogView, session: string, files: readonly CheckpointFile[]): ReadonlyMap<string, string> {
  const wrong = new Map<string, string>();
  const saved = files.flatMap(({ path, found }): Saved[] => (found.kind === "whole" ? [{ path, ...found }] : []));
  const first = beginning(view, session, saved);
  const waiting = Map.groupBy(first.later, ({ seq }) => seq);
  const skipped = view.poisons.skipped(session);
  let { run } = first;
  for (const reading of view.read(session)) {
    if (reading.kind !== "entry" || reading.entry.seq <= first.seq) continue;
    const { seq } = reading.entry;
    const event = skipped.has(seq) ? undefined : workflowEventOf(reading.entry);
    run = event === undefined ? run : applyWorkflow(run, event);
    for (const { path, checkpoint } of waiting.get(seq) ?? []) {
      if (!isSame(run, checkpoint)) wrong.set(path, "the log has a different state at this entry");
    }
    waiting.delete(seq);
  }
  for (const { path, seq } of [...waiting.values()].flat()) wrong.set(path, `the log has no entry ${seq} of this run`);
  return wrong;
}

/** VF2. The state that the fold begins with, its seq, and the checkpoints to compare. */
function beginning(view: LogView, session: string, saved: readonly Saved[]) {
  const [head] = view.read(session);
  if (head?.kind !== "trimmed") return { run: undefined, seq: 0, later: saved };
  const [first] = saved.filter(({ seq }) => seq >= head.through).toSorted((one, other) => one.seq - other.seq);
  const from = first?.seq ?? Number.POSITIVE_INFINITY;
  return {
    run: first && fromCheckpoint(first.checkpoint),
    seq: from,
    later: saved.filter(({ seq }) => seq > from),
  };
}

function isSame(run: Run | undefined, saved: WorkflowCheckpoint): boolean {
  if (run === undefined) return false;
  const folded = toCheckpoint(run, saved.reason, saved.created_at);
  const first = Math.max(saved.run.past?.steps ?? 0, folded.run.past?.steps ?? 0);
  return equal(plain(comparable(saved, first)), plain(comparable(folded, first)));
}

/** With the steps from this number on: older versions kept all of them, and nothing of what came before. */
function comparable({ integrity_hash: _hash, completed_steps, run, ...rest }: WorkflowCheckpoint, first: number) {
  const { past, ...others } = run;
  return { ...rest, completed_steps: completed_steps.slice(first - (past?.steps ?? 0)), run: others };
}

function plain(value: unknown): Json {
  return jsonIn(JSON.stringify(value), ANY_NUMBER) ?? null; // A long map has more values than a text of others may.
}

/** VF3 */
function nextOf({ path, present }: CheckpointFile): string {
  return present
    ? "Nothing: the log has everything. The run's next checkpoint takes its place, and this one goes to quarantine/."
    : `It is only an older checkpoint: rm ${path}`;
}

function lieOf(path: string): string {
  return `Check the log with \`holdfast log verify\`. If that is whole, the log is right: rm ${path}`;
}

const NOT_USED = "Nothing: another version of Holdfast wrote it, and the log is used instead.";

function verdictsText(verdicts: readonly CheckpointVerdict[]): string {
  const lines = verdicts.map(({ run, name, seq, file, verdict, reason, next }) => {
    const where = `${shortId(run)} ${name} ${seq ?? "-"}: ${verdict}`;
    return reason === null ? where : `${where}: ${reason}\n  ${file}\n  → ${next}`;
  });
  return lines.map((line) => `${line}\n`).join("");
}

export const checkpointsVerifyCommand = withDaemonWorld(verify);
