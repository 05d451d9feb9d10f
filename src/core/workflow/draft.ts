// A decision in the making: the events so far, and the run as it is after them.
// F1. Every event is folded as it is added, so that what is decided next sees it: end of a step and start of the next
//     are one decision.
// F2. What happens in process is bounded in number and in bytes, together with what the transaction has beside it: it
//     always fits.
// F3. A decision changes the status of a run only as its table says (machine.ts).

import { assert } from "../../base/assert.ts";
import { changesOf } from "../../base/machine.ts";
import { timeText } from "../../base/time-text.ts";
import { type Left, leftAt } from "../due-times.ts";
import { applyWorkflow } from "./apply.ts";
import type { WorkflowEvent } from "./events.ts";
import { IN_PROCESS_A_TURN, MAX_CAPTURED } from "./limits.ts";
import { runMachine } from "./machine.ts";
import type { Run } from "./run.ts";

const mayBecome = changesOf(runMachine);

/** An event without its run, which the draft knows. */
type Fact = WorkflowEvent extends infer E ? (E extends WorkflowEvent ? Omit<E, "id"> : never) : never;

export class Draft {
  readonly events: WorkflowEvent[] = [];
  readonly at: string;
  readonly left: Left;
  run: Run;
  /** What may still happen in process before the events so far become durable. */
  #steps = IN_PROCESS_A_TURN;
  #bytes: number;

  /** `left`: how far times are away; `beside`: the bytes of the rest of the transaction. */
  constructor(run: Run, at: string, left = leftAt(at), beside = 0) {
    this.run = run;
    this.at = at;
    this.left = left;
    this.#bytes = MAX_CAPTURED - beside;
  }

  /** Whether one more thing may happen in process before the events so far are durable (F2). */
  takesOne(): boolean {
    this.#steps -= 1;
    return this.#steps >= 0;
  }

  /** Whether values of this size still fit (F2). */
  fits(bytes: number): boolean {
    if (bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    return true;
  }

  add(fact: Fact): void {
    const event: WorkflowEvent = { ...fact, id: this.run.id };
    const { kind } = this.run.status;
    this.run = applyWorkflow(this.run, event); // F1
    assert(mayBecome(kind, this.run.status.kind), `a run that is ${kind} may become ${this.run.status.kind}`); // F3
    this.events.push(event);
  }

  /** This many milliseconds from now. */
  in(ms: number): string {
    return timeText(Date.parse(this.at) + ms);
  }

  isDue(time: string): boolean {
    return this.left(time) <= 0;
  }

  since(then: string | undefined): number {
    return then === undefined ? 0 : Math.max(0, Date.parse(this.at) - Date.parse(then));
  }
}
