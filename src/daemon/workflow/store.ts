// The turn of workflow runs (session-store.ts has the rules that hold for all).
import { applyWorkflow } from "../../core/workflow/apply.ts";
import type { WorkflowCommand, WorkflowEffect } from "../../core/workflow/commands.ts";
import { decideWorkflow } from "../../core/workflow/decide.ts";
import { effectsOf } from "../../core/workflow/effects.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { type Run, setAside, workflowSession } from "../../core/workflow/run.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";
import { type Decider, type Hooks, SessionStore } from "../session-store.ts";

type Workflows = { state: Run; command: WorkflowCommand; event: WorkflowEvent; effect: WorkflowEffect };

const RULES: Decider<Workflows> = {
  session: workflowSession,
  decide: decideWorkflow,
  apply: applyWorkflow,
  effectsOf,
};

export class WorkflowStore extends SessionStore<Workflows> {
  readonly #now: () => number;

  constructor(log: EventLog, clock: Clock, hooks: Hooks<Workflows>) {
    super(RULES, log, clock, hooks);
    this.#now = () => clock.now();
  }

  /** A run as a checkpoint has it; what its log says since is folded onto it. */
  begin(run: Run): void {
    this.states.set(run.id, run);
  }

  /** One whose log cannot be trusted: seen, and left alone. Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined {
    const run = this.states.get(id);
    if (run === undefined || run.removed) this.states.delete(id);
    else this.states.set(id, setAside(run, reason, new Date(this.#now()).toISOString()));
    return run?.name;
  }
}
