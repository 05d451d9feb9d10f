// A decision in the making: the events so far, and the run as it is after them.
// F1. Every event is folded as it is added, so that what is decided next sees it: end of a step and start of the next are one decision.
import { applyWorkflow } from "./apply.ts";
import type { WorkflowEvent } from "./events.ts";
import { SETS_A_TURN, SKIPS_A_TURN } from "./limits.ts";
import type { Run } from "./run.ts";

/** An event without its run, which the draft knows. */
type Fact = WorkflowEvent extends infer E ? (E extends WorkflowEvent ? Omit<E, "id"> : never) : never;

export class Draft {
  readonly events: WorkflowEvent[] = [];
  readonly at: string;
  run: Run;
  /** What may still happen in process before the events so far become durable. */
  sets = SETS_A_TURN;
  skips = SKIPS_A_TURN;

  constructor(run: Run, at: string) {
    this.run = run;
    this.at = at;
  }

  add(fact: Fact): void {
    const event: WorkflowEvent = { ...fact, id: this.run.id };
    this.run = applyWorkflow(this.run, event); // F1
    this.events.push(event);
  }

  /** This many milliseconds from now. */
  in(ms: number): string {
    return new Date(Date.parse(this.at) + ms).toISOString();
  }

  since(then: string | undefined): number {
    return then === undefined ? 0 : Math.max(0, Date.parse(this.at) - Date.parse(then));
  }
}
