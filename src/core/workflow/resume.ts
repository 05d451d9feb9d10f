// How a run goes on from a checkpoint (UC-8), given what can be found out about the attempts that it had begun.
// M1. Only what was certainly not started is simply run. What runs is adopted, what ended is taken up, and what is
//     uncertain is run again only where the file says so.
// M2. It changes nothing by itself: a recovery does with each attempt what it says (`action`;
//     daemon/workflow/recovery.ts), `resume` takes a run that failed only if it says that another try is worth it
//     (`retry_current`; decide.ts), and `checkpoints show` shows the rest of it.
// M3. A run continues at its place (advance.ts), and so does the plan.

import { flatIndex, type WorkflowCheckpoint } from "./checkpoint.ts";
import { type OnUncertain, onUncertain, stepById } from "./definition.ts";
import { MAX_LOST } from "./limits.ts";
import type { Attempt, Track } from "./run.ts";

/** What the world knows of an attempt: its claim, its holder, its exit. */
export type Evidence =
  /** There is no claim: it never ran. */
  | { readonly kind: "not-started" }
  /** Its holder lives. */
  | { readonly kind: "running" }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  /** A claim, no exit, and no living holder. */
  | { readonly kind: "uncertain"; readonly reason: string };

export type ResumeAction = "run" | "adopt" | "take-up" | "rerun" | "ask" | "fail";

export type AttemptPlan = {
  readonly attempt: string;
  readonly step: string;
  readonly item: number | undefined;
  readonly action: ResumeAction;
};

export type ResumePlan = {
  /** The step to continue with, from 0 in the whole file. */
  readonly start_index: number;
  /** Whether that step is run (again); false if it is only waited for, taken up, asked about, or not retryable. */
  readonly retry_current: boolean;
  /** Done, and not run again. */
  readonly skip_steps: readonly number[];
  readonly attempts: readonly AttemptPlan[];
};

export type EvidenceOf = (attempt: string) => Evidence;

export function planResume(checkpoint: WorkflowCheckpoint, evidence: EvidenceOf): ResumePlan {
  const { completed_steps, run, mapreduce_state } = checkpoint;
  const main = attemptPlan(checkpoint, run.main, evidence);
  const items = (mapreduce_state?.active ?? []).flatMap((track) => attemptPlan(checkpoint, track, evidence));
  const start_index = flatIndex(run.definition, run.main.place); // M3
  const isRun = main.every(({ action }) => action === "run" || action === "rerun"); // M1
  const iteration = run.main.place.iteration;
  const done = completed_steps.filter(
    (step) => step.iteration === iteration && step.outcome !== "failed" && step.phase !== "worktree",
  );
  const skip_steps = [...new Set(done.filter(({ handler }) => handler === null).map(({ step_index }) => step_index))];
  const attempts = [...main, ...items];
  return { start_index, retry_current: isTriedAgain(checkpoint) && isRun, skip_steps, attempts };
}

/** The table of UC-8: whether the step of this state is run. If not, the one after it is. */
function isTriedAgain({ state }: WorkflowCheckpoint): boolean {
  if (state.kind === "Failed") return state.retryable;
  return state.kind === "BeforeStep" || (state.kind === "Interrupted" && state.in_progress);
}

function attemptPlan({ run }: WorkflowCheckpoint, track: Track, evidence: EvidenceOf): AttemptPlan[] {
  const { attempt, item } = track;
  if (attempt === undefined) return [];
  const before = attempt.state.kind === "uncertain" ? track.lost - 1 : track.lost;
  const step = stepById(run.definition, attempt.step);
  const policy = () => onLoss(step === undefined ? "ask" : onUncertain(step), before);
  const action = actionOf(attempt, evidence(attempt.id), policy);
  return [{ attempt: attempt.id, step: attempt.step, item, action }];
}

/**
 * What follows the loss of an attempt, given the losses in a row before: a step that is lost too often is asked about.
 */
export function onLoss(policy: OnUncertain, before: number): OnUncertain {
  return policy === "rerun" && before + 1 >= MAX_LOST ? "ask" : policy;
}

/** M1. An attempt that was declared uncertain stays so until its end is found after all. */
export function actionOf({ state }: Attempt, evidence: Evidence, policy: () => OnUncertain): ResumeAction {
  if (evidence.kind === "ended") return "take-up";
  if (evidence.kind === "running") return "adopt";
  if (evidence.kind === "uncertain" || state.kind === "uncertain") return policy();
  // It was seen running, and its claim is gone: removing that did not undo its effects.
  return state.kind === "starting" ? "run" : policy();
}
