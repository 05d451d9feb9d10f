// The store of workflow runs (session-store.ts has the rules that all stores follow).
import { applyWorkflow } from "../../core/workflow/apply.ts";
import type { WorkflowCommand, WorkflowEffect } from "../../core/workflow/commands.ts";
import { decideWorkflow } from "../../core/workflow/decide.ts";
import { effectsOf } from "../../core/workflow/effects.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { type Run, setAside, workflowSession } from "../../core/workflow/run.ts";
import type { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Entry } from "../../log/session/entry.ts";
import { workflowEventOf } from "../../wire/stored/workflow.ts";
import type { Clock } from "../../world/clock.ts";
import type { Archive } from "../archive.ts";
import type { Folding } from "../fold.ts";
import { type Decider, type Hooks, SessionStore, type StoreClock } from "../session-store.ts";

export type Workflows = { state: Run; command: WorkflowCommand; event: WorkflowEvent; effect: WorkflowEffect };

const RULES: Decider<Workflows> = {
  session: workflowSession,
  decide: decideWorkflow,
  apply: applyWorkflow,
  effectsOf,
  isOver: ({ removed, status }) => removed || status.kind === "cancelled",
  since: ({ createdAt }) => createdAt,
};

export class WorkflowStore extends SessionStore<Workflows> {
  constructor(log: EventLog, clock: StoreClock, hooks: Hooks<Workflows>) {
    super(RULES, log, clock, hooks);
  }
}

export type WorkflowArchive = Archive<Workflows>;

function isCancel(entry: Entry): boolean {
  if (entry.event !== "workflow.ended") return false;
  const event = workflowEventOf(entry);
  return event?.event === "workflow.ended" && event.data.state === "cancelled";
}

/** How runs are read from their logs, each from its checkpoint on. An unusable checkpoint is logged and ignored. */
export function workflowFolding(storage: CheckpointStorage, clock: Clock, say: (words: string) => void) {
  const load: Folding<Workflows>["load"] = (session) => {
    const loaded = storage.load(session);
    const passedOver = loaded.ok
      ? loaded.value.problems.map(({ path, reason }) => `${path}: ${reason}`)
      : [loaded.error.message];
    for (const problem of passedOver) say(`a checkpoint is passed over: ${problem}`);
    const newest = loaded.ok ? loaded.value.newest : undefined;
    return newest && { state: newest.run, seq: newest.seq };
  };
  return {
    place: "state/",
    what: "workflow",
    load,
    eventOf: workflowEventOf,
    ends: (entry: Entry) => entry.event === "workflow.removed" || isCancel(entry),
    nameOf: ({ name }: Run) => name,
    aside: (run: Run, reason: string) =>
      run.removed ? undefined : setAside(run, reason, new Date(clock.now()).toISOString()),
  } satisfies Folding<Workflows>;
}
