// The command that sets a run back to a checkpoint, and what that undoes.
// RB1. Only to a time of the current run: a checkpoint of steps that were themselves undone is not part of its past.
//      If the run does not keep the steps of that time, only if there was no rollback since.
// RB2. The file of the checkpoint counts: its steps are where they were then, whatever was changed since.
// RB3. Nothing is undone in the world, and no file is touched: newer checkpoints and the log are kept.
import { ok, type Result, refused } from "../../base/result.ts";
import { itemsOf } from "../../base/vector.ts";
import type { CompletedStepRecord, WorkflowCheckpoint } from "./checkpoint.ts";
import type { WorkflowCommand } from "./commands.ts";
import type { StepOutcome } from "./events.ts";
import { eachItem } from "./item-list.ts";
import { recordAt } from "./past.ts";
import type { Run } from "./run.ts";

export type UndoneStep = { readonly step: string; readonly iteration: number; readonly outcome: StepOutcome };

export type Rollback = {
  readonly command: Extract<WorkflowCommand, { kind: "rollback" }>;
  /** The steps that no longer count as done, in the order in which they ended. */
  readonly steps: readonly UndoneStep[];
  /** How many of them are not kept any more; they come before the others. */
  readonly unlisted: number;
  /** The number of items. */
  readonly items: number;
};

export function rollbackTo(run: Run, checkpoint: WorkflowCheckpoint): Result<Rollback> {
  const { completed_steps, mapreduce_state, run: then } = checkpoint;
  const records = (then.past?.steps ?? 0) + completed_steps.length;
  const endings = mapreduce_state?.endings ?? 0;
  if (!isPastOf(run, checkpoint)) return UNDONE; // RB1
  const { phase, iteration, index } = then.main.place;
  const file = { definition: then.definition, sourceSha256: then.source_sha256 };
  const done = completed_steps.filter((step) => step.iteration === iteration && isDone(step)).map(({ step }) => step);
  const values = { variables: checkpoint.variables, done };
  const to = { place: { phase, iteration, index }, kept: then.kept, ...file, ...values }; // RB2
  const unlisted = Math.max(0, run.past.steps - records);
  const undone = itemsOf(run.records).slice(Math.max(0, records - run.past.steps));
  const steps = undone.map(({ step, iteration: of, outcome }) => ({ step, iteration: of, outcome }));
  const items = phase === "map" || phase === "reduce" ? endedAfter(run, endings) : endedAfter(run, 0);
  const same = then.source_sha256 === run.sourceSha256;
  if (steps.length + unlisted + items === 0 && same && isOver(run)) return NOTHING;
  return ok({ command: { kind: "rollback", id: run.id, records, items: endings, to }, steps, unlisted, items });
}

/** Whether it counts as done in its iteration, like in a run that has its record. */
function isDone({ handler, outcome, phase }: CompletedStepRecord): boolean {
  return handler === null && outcome !== "failed" && phase !== "worktree";
}

/** RB1 */
function isPastOf(run: Run, { completed_steps, run: then }: WorkflowCheckpoint): boolean {
  const first = then.past?.steps ?? 0;
  const seen = completed_steps.slice(Math.max(0, run.past.steps - first));
  const { rolledBack } = run.past;
  if (seen.length === 0 && run.past.steps + first > 0) return rolledBack === null || then.attempts > rolledBack;
  return seen.every(({ step, completed_at, outcome }, at) => {
    const record = recordAt(run, Math.max(first, run.past.steps) + at);
    return record?.step === step && record.at === completed_at && record.outcome === outcome;
  });
}

function endedAfter({ items }: Run, endings: number): number {
  let count = 0;
  for (const { state } of eachItem(items.all)) if ("order" in state && state.order > endings) count += 1;
  return count;
}

/** If it is not, the decision says why it cannot be rolled back now. */
function isOver({ status }: Run): boolean {
  return status.kind !== "going" && status.kind !== "closing";
}

const UNDONE = refused(
  "undone",
  "This checkpoint is of steps that a rollback has undone since, or of another file.",
  "Choose an older one, or one from after that rollback: holdfast checkpoints ls",
);

const NOTHING = refused(
  "nothing-to-undo",
  "Nothing has ended since this checkpoint.",
  "Continue from it with `holdfast resume`, or choose an older one: holdfast checkpoints ls",
);
