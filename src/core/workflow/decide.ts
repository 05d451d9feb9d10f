// Decides on workflows. Pure: time, ids and everything from the world come in as arguments.
// W1. A command gives events or a refusal, never both; all events of one command are one transaction.
// W2. Reports about an attempt that is not the current one of its track are old: nothing changes.
// W3. An uncertain attempt is made again only if a person or the file says so.
// W4. If several callers resume a run, one wins, and the others learn which. A repeated request is not a second one.
import { ok, type Result, refused } from "../../base/result.ts";
import { type Decision, decisionOf } from "../decision.ts";
import type { Left } from "../due-times.ts";
import { advance } from "./advance.ts";
import { applyWorkflow } from "./apply.ts";
import { toCheckpoint } from "./checkpoint.ts";
import type { CreateRun, MigrateRun, WorkflowCommand } from "./commands.ts";
import { busy, hasPlace, isQueued } from "./concurrency.ts";
import { decideAttempt, isAttemptReport, rerunUncertain } from "./decide-attempt.ts";
import { decideMigrate, halfThere, isHalf } from "./decide-migrate.ts";
import { decideQueue } from "./decide-queue.ts";
import { changeOf, rollbackOf, tooLarge } from "./decide-versions.ts";
import { Draft } from "./draft.ts";
import { dueOf } from "./effects.ts";
import type { StopReason, WorkflowEvent } from "./events.ts";
import { STOP_GRACE_MS, sizeOf } from "./limits.ts";
import { checkParameters } from "./parameters.ts";
import { planResume } from "./resume.ts";
import { type Attempt, askedText, attemptsOf, type Run, type Runs } from "./run.ts";

type Decided = Decision<WorkflowEvent, Run>;

/** Without `left`, times are as far away as their texts say. */
export function decideWorkflow(runs: Runs, command: WorkflowCommand, at: string, left?: Left): Result<Decided> {
  if (command.kind === "create") return create(runs, command, at);
  if (command.kind === "migrate") {
    const events = decideMigrate(runs, command);
    return events.ok ? ok(decisionOf(runs, events.value, applyWorkflow)) : events;
  }
  const run = runs.get(command.id);
  if (run === undefined || run.removed)
    return refused("unknown", `There is no run ${command.id}.`, "`holdfast workflows` shows all.");
  if (isHalf(run)) return halfThere(run);
  const draft = new Draft(run, at, left);
  const isFree = hasPlace(runs, run);
  if (isQueued(run) && !isFree && BEGINS.includes(command.kind)) return ok(decidedIn(draft)); // CC1
  if (isOver(run) && !isFree && BEGINS_AGAIN.includes(command.kind)) return { ok: false, error: busy(runs, run) };
  const refusal = isAttemptReport(command) ? decideAttempt(draft, command) : decideRun(draft, command);
  if (refusal !== undefined) return { ok: false, error: refusal };
  return ok(decidedIn(draft));
}

/** What the engine asks for, and what would begin a run that is queued. */
const BEGINS: readonly WorkflowCommand["kind"][] = ["advance", "wake", "items-read", "input-failed"];
/** What a person asks for, and what would open a run again. */
const BEGINS_AGAIN: readonly WorkflowCommand["kind"][] = ["resume", "dlq-retry"];

function decidedIn({ events, run }: Draft, before: readonly WorkflowEvent[] = []): Decided {
  return { events: [...before, ...events], after: new Map([[run.id, run]]) };
}

function create(runs: Runs, command: CreateRun, at: string): Result<Decided> {
  const { id, path, repo, cwd, worktree, environment, definition, sourceSha256 } = command;
  if (runs.has(id)) return refused("id-taken", `There is already a run ${id}.`, "Use another id.");
  const parameters = checkParameters(definition, command.parameters);
  if (!parameters.ok) return parameters;
  const of = worktree && { repository: worktree.repository, branch: worktree.branch };
  const place = { name: definition.name, path, repo, cwd, worktree: worktree?.path ?? null, ...of, environment };
  const data = { ...place, definition, source_sha256: sourceSha256, parameters: parameters.value, at };
  const wrong = tooLarge(data);
  if (wrong !== undefined) return { ok: false, error: wrong };
  const event = { event: "workflow.created", id, data } as const;
  const run = applyWorkflow(undefined, event);
  const isFree = hasPlace(runs, run);
  if (!isFree && definition.when_busy === "refuse") return { ok: false, error: busy(runs, run) };
  const draft = new Draft(run, at, undefined, sizeOf(data));
  if (isFree) advance(draft); // Otherwise it is queued (CC1 of concurrency.ts).
  return ok(decidedIn(draft, [event]));
}

type Refused = ReturnType<typeof refused>["error"];
type RunCommand = Exclude<WorkflowCommand, CreateRun | MigrateRun | { readonly attempt: string }>;

function decideRun(draft: Draft, command: RunCommand): Refused | undefined {
  switch (command.kind) {
    case "interrupt":
      return close(draft, "interrupted");
    case "cancel":
      return close(draft, "cancelled");
    case "resume":
      return resume(draft, command);
    case "change":
      return changeOf(draft, command.definition, command.sourceSha256);
    case "rollback":
      return rollbackOf(draft, command);
    case "dlq-retry":
    case "dlq-clear":
    case "items-read":
    case "input-failed":
      return decideQueue(draft, command);
    case "remove":
      return remove(draft);
    case "wake":
      return wake(draft);
    case "advance":
      return proceed(draft);
  }
}

function proceed(draft: Draft): undefined {
  advance(draft);
}

function isOver({ status }: Run): boolean {
  return status.kind !== "going" && status.kind !== "closing";
}

/** Ctrl-C twice, or a cancel after a Ctrl-C, is not an error: the stronger request counts. */
function close(draft: Draft, as: "interrupted" | "cancelled"): Refused | undefined {
  const { run, at } = draft;
  const { status } = run;
  const same = status.kind === "closing" ? status.as === as : status.kind === as;
  if (same || (status.kind === "closing" && as === "interrupted")) return undefined;
  if (status.kind === "done") return refused("over", `${run.name} is done.`, "There is nothing to stop.").error;
  if (isOver(run)) {
    if (as === "interrupted")
      return refused("over", `${run.name} is not running.`, "`holdfast workflows` shows what is.").error;
    draft.add({ event: "workflow.ended", data: { state: as, error: null, at } });
    return undefined;
  }
  draft.add({ event: "workflow.close.requested", data: { as, at } });
  for (const attempt of attemptsOf(draft.run)) stop(draft, attempt, as, as === "cancelled" ? "SIGTERM" : "SIGINT");
  advance(draft);
  return undefined;
}

function stop(draft: Draft, { id, state, stop: before }: Attempt, reason: StopReason, signal: string): void {
  if (state.kind === "uncertain" || before?.signal === "SIGKILL") return;
  const kill_at = draft.in(STOP_GRACE_MS);
  draft.add({ event: "workflow.attempt.stop.requested", data: { attempt: id, reason, signal, kill_at } });
}

function resume(draft: Draft, { force, by }: Extract<RunCommand, { kind: "resume" }>): Refused | undefined {
  const { run, at } = draft;
  const { status, name } = run;
  if (by !== undefined && run.asked?.by.wish === by.wish) return undefined; // W4
  if (status.kind === "going") return by === undefined ? undefined : isRunning(run); // W4
  if (status.kind === "closing") return refused("closing", `${name} is being stopped.`, "Try again when it has.").error;
  if (status.kind === "done") return isDone(run);
  if (status.kind === "cancelled" && !force)
    return refused("cancelled", `${name} was cancelled.`, "Resume it all the same: --force").error;
  if (status.kind === "failed" && !force && !planResume(toCheckpoint(run, "Manual", at), nothingRan).retry_current) {
    const hint = "Correct the file and resume with --accept-changes, or try it as it is with --force.";
    return refused("not-retryable", `${name} failed where a retry changes nothing: ${status.error.message}`, hint)
      .error;
  }
  draft.add({ event: "workflow.resumed", data: { ...(by !== undefined && { by }), at } });
  rerunUncertain(draft);
  advance(draft);
  return undefined;
}

/** A run that failed has no attempt that was begun and has not ended. */
const nothingRan = () => ({ kind: "not-started" }) as const;

function isDone({ id, name, items }: Run): Refused {
  if (items.failed === 0) return refused("over", `${name} is done.`, "Run it again: holdfast run").error;
  const hint = `Try the failed items again: holdfast dlq retry ${id.slice(0, 8)}`;
  return refused("over", `${name} is done, but ${items.failed} of its items failed.`, hint).error;
}

function isRunning(run: Run): Refused {
  const since = askedText(run) ?? `it started at ${run.createdAt}`;
  return refused("running", `${run.name} is running: ${since}.`, `Follow it: holdfast resume ${run.id.slice(0, 8)}`)
    .error;
}

function remove(draft: Draft): Refused | undefined {
  const { run } = draft;
  if (!isOver(run))
    return refused(
      "still-running",
      `${run.name} is not over.`,
      `Cancel it first: holdfast cancel ${run.id.slice(0, 8)}`,
    ).error;
  draft.add({ event: "workflow.removed", data: {} });
  return undefined;
}

/** A time has come: of a deadline, of SIGKILL after SIGTERM, or of the next try. */
function wake(draft: Draft): undefined {
  for (const attempt of attemptsOf(draft.run)) {
    const due = dueOf(attempt);
    if (due === undefined || !draft.isDue(due)) continue;
    if (attempt.stop === undefined) stop(draft, attempt, "timeout", "SIGTERM");
    else kill(draft, attempt.id, attempt.stop.reason);
  }
  advance(draft);
}

function kill(draft: Draft, attempt: string, reason: StopReason): void {
  draft.add({ event: "workflow.attempt.stop.requested", data: { attempt, reason, signal: "SIGKILL", kill_at: null } });
}
