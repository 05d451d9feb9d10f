// Decides on a changed workflow file, and on a rollback.
// Y1. Neither happens while something is running or uncertain: it would be forgotten, and its step run again without
//     consent.
// Y2. A finished step stays finished in a new file only if its id and everything the file says about it are the same.
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { itemsOf } from "../../base/vector.ts";
import type { WorkflowCommand } from "./commands.ts";
import { allSteps, type Definition, firstPhase, INPUT_STEP, stepById, stepsOf } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { MAX_DEFINITION, sizeOf } from "./limits.ts";
import { endedSteps, recordAt } from "./past.ts";
import { attemptsOf, type Run, type StepRecord, stateOf } from "./run.ts";

export type StepChange = {
  readonly step: string;
  readonly change: "added" | "removed" | "changed";
  /** Whether it had ended: then it runs again (changed), or its effects stay (removed). */
  readonly done: boolean;
};

/** What a new file would mean for a run, step by step; empty if it is the same. */
export function changesOf(run: Run, definition: Definition): StepChange[] {
  const done = new Set(doneHere(run).map(({ step }) => step));
  const before = allSteps(run.definition).flatMap(({ id }): StepChange[] => {
    const change = stepById(definition, id) === undefined ? "removed" : "changed";
    return isSame(run.definition, definition, id) ? [] : [{ step: id, change, done: done.has(id) }];
  });
  const added = allSteps(definition).filter(({ id }) => stepById(run.definition, id) === undefined);
  return [...before, ...added.map(({ id }): StepChange => ({ step: id, change: "added", done: false }))];
}

function isSame(before: Definition, after: Definition, id: string): boolean {
  return JSON.stringify(stepById(before, id)) === JSON.stringify(stepById(after, id));
}

/** The steps that have ended in the current phase and iteration. */
function doneHere({ records, main, kept }: Run): { readonly step: string }[] {
  const { phase, iteration } = main.place;
  const ended = [...itemsOf(records)].filter(
    (record) =>
      record.phase === phase &&
      record.iteration === iteration &&
      record.handler === undefined &&
      record.outcome !== "failed",
  );
  return [...ended, ...[...kept].map((step) => ({ step }))];
}

export function changeOf(draft: Draft, definition: Definition, source_sha256: string): Refusal | undefined {
  const { run, at } = draft;
  const busy = isBusy(run);
  if (busy !== undefined) return busy;
  if (definition.flow.mode !== run.definition.flow.mode) {
    const modes = `${run.definition.flow.mode} to ${definition.flow.mode}`;
    return refused("other-mode", `The mode changed from ${modes}.`, "Run the new file as a new run.").error;
  }
  const kept = doneHere(run).map(({ step }) => step);
  const same = [...new Set(kept)].filter((step) => isSame(run.definition, definition, step)); // Y2
  const data = { definition, source_sha256, kept: same, at };
  const wrong = tooLarge(data);
  if (wrong !== undefined) return wrong;
  draft.add({ event: "workflow.changed", data });
  // The failure was in the old file: trying shows whether the new one does better.
  const { status } = draft.run;
  if (status.kind === "failed" && !status.error.retryable) {
    const error = { ...status.error, retryable: true };
    draft.add({ event: "workflow.ended", data: { state: "failed", error, at } });
  }
  return undefined;
}

/** Whether a definition, with the data next to it, fits one transaction. */
export function tooLarge(data: unknown): Refusal | undefined {
  const size = sizeOf(data);
  if (size <= MAX_DEFINITION) return undefined;
  const hint = `At most ${MAX_DEFINITION}: use a map for what repeats.`;
  return refused("too-large", `The workflow has ${size} bytes.`, hint).error;
}

/** Y1. */
function isBusy(run: Run): Refusal | undefined {
  if (run.status.kind === "going" && stateOf(run) !== "uncertain")
    return refused("still-running", `${run.name} is still running.`, "Interrupt it first.").error;
  const [uncertain] = attemptsOf(run);
  if (uncertain !== undefined) {
    const message = `How step ${uncertain.step} ended is unknown.`;
    return refused("uncertain", message, "Decide first: holdfast resume --rerun, --done or --failed.").error;
  }
  if (run.status.kind !== "closing") return undefined;
  return refused("still-running", `${run.name} is being stopped.`, "Try again when it has.").error;
}

type RollbackCommand = Extract<WorkflowCommand, { kind: "rollback" }>;

export function rollbackOf(draft: Draft, { records, items, to }: RollbackCommand): Refusal | undefined {
  const { run, at } = draft;
  const busy = isBusy(run);
  if (busy !== undefined) return busy;
  const place = to === undefined || records > endedSteps(run) ? placeAfterRecords(run, records) : ok(to.place);
  if (!place.ok) return place.error;
  const past = pastOf(run, records, to);
  const wrong = past && tooLong(past, to);
  if (wrong !== undefined) return wrong;
  if (to !== undefined && to.sourceSha256 !== run.sourceSha256) {
    const file = { definition: to.definition, source_sha256: to.sourceSha256 };
    draft.add({ event: "workflow.changed", data: { ...file, kept: [], at } });
  }
  const kept = to === undefined || to.kept.length === 0 ? {} : { kept: to.kept };
  draft.add({ event: "workflow.rolledback", data: { records, items, ...place.value, ...kept, ...past, at } });
  return undefined;
}

/** What the fold needs to know if the run does not keep the steps from then on (B3 of apply-rollback.ts). */
function pastOf(run: Run, records: number, to: RollbackCommand["to"]) {
  if (to === undefined || records >= run.past.steps) return undefined;
  const kept = [...new Set([...to.kept, ...to.done])];
  return { variables: to.variables, ...(kept.length > 0 && { kept }) };
}

/** The event, and that of the file, fit one transaction. */
function tooLong(past: object, to: RollbackCommand["to"]): Refusal | undefined {
  const size = sizeOf(past) + sizeOf(to?.definition);
  if (size <= MAX_DEFINITION) return undefined;
  const message = `The file and the variables of this checkpoint have ${size} bytes; at most ${MAX_DEFINITION} are allowed.`;
  return refused("too-large", message, "Choose a newer one: holdfast checkpoints ls").error;
}

type At = Pick<StepRecord, "phase" | "iteration" | "index">;

/** The place of a run when this many steps have ended. */
function placeAfterRecords(run: Run, count: number): Result<At> {
  const last = recordAt(run, count - 1);
  const first = run.worktree === undefined ? firstPhase(run.definition) : "worktree";
  if (count === 0) return ok({ phase: first, iteration: 1, index: 0 });
  if (last === undefined)
    return refused(
      "unknown",
      `${endedSteps(run)} steps have ended, of which the last ${run.records.length} are kept.`,
      "`holdfast checkpoints ls` lists the checkpoints.",
    );
  const { phase, iteration, index, handler, outcome, step } = last;
  const stays = handler !== undefined || outcome === "failed";
  const next = { phase, iteration, index: stays ? index : index + 1 };
  const ends = phase === "setup" && next.index >= stepsOf(run.definition, phase).length;
  // After the last step of `setup` the map has started; after the input command its items have.
  if (ends && run.items.all.length > 0) return ok({ phase: "map", iteration: 1, index: 0 });
  return ok(step === INPUT_STEP ? { phase: "map", iteration: 1, index: 1 } : next);
}
