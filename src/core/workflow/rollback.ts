// The command that sets a run back to a checkpoint, and what that undoes.
// RB1. Only to a time of the current run: a checkpoint of steps that were themselves undone is not part of its past.
// RB2. The file of the checkpoint counts: its steps are where they were then, whatever was changed since.
// RB3. Nothing is undone in the world, and no file is touched: newer checkpoints and the log are kept.
import { ok, type Result, refused } from "../../base/result.ts";
import { itemAt, itemsOf } from "../../base/vector.ts";
import type { WorkflowCheckpoint } from "./checkpoint.ts";
import type { WorkflowCommand } from "./commands.ts";
import type { StepOutcome } from "./events.ts";
import { eachItem } from "./item-list.ts";
import type { Run } from "./run.ts";

export type UndoneStep = { readonly step: string; readonly iteration: number; readonly outcome: StepOutcome };

export type Rollback = {
  readonly command: Extract<WorkflowCommand, { kind: "rollback" }>;
  /** The steps that no longer count as done, in the order in which they ended. */
  readonly steps: readonly UndoneStep[];
  /** The number of items. */
  readonly items: number;
};

export function rollbackTo(run: Run, checkpoint: WorkflowCheckpoint): Result<Rollback> {
  const { completed_steps, mapreduce_state, run: then } = checkpoint;
  const records = completed_steps.length;
  const endings = mapreduce_state?.endings ?? 0;
  if (!isPastOf(run, checkpoint)) return UNDONE; // RB1
  const { phase, iteration, index } = then.main.place;
  const file = { definition: then.definition, sourceSha256: then.source_sha256 };
  const to = { place: { phase, iteration, index }, kept: then.kept, ...file }; // RB2
  const steps = [...itemsOf(run.records)].slice(records).map(({ step, iteration: of, outcome }) => ({
    step,
    iteration: of,
    outcome,
  }));
  const items = phase === "map" || phase === "reduce" ? endedAfter(run, endings) : endedAfter(run, 0);
  const same = then.source_sha256 === run.sourceSha256;
  if (steps.length === 0 && items === 0 && same && isOver(run)) return NOTHING;
  return ok({ command: { kind: "rollback", id: run.id, records, items: endings, to }, steps, items });
}

function isPastOf(run: Run, { completed_steps }: WorkflowCheckpoint): boolean {
  return completed_steps.every(({ step, completed_at, outcome }, at) => {
    const record = itemAt(run.records, at);
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
