// How a run ended, and how often each event happened, from the logs on the disk.
import type { Json } from "../../../src/base/json.ts";
import { cells } from "../../../src/base/machine.ts";
import { toRecord } from "../../../src/base/table.ts";
import { itemsOf } from "../../../src/base/vector.ts";
import { applyWorkflow } from "../../../src/core/workflow/apply.ts";
import { type Definition, INPUT_STEP, stepById } from "../../../src/core/workflow/definition.ts";
import type { WorkflowEvent } from "../../../src/core/workflow/events.ts";
import { allItems } from "../../../src/core/workflow/item-list.ts";
import { runMachine } from "../../../src/core/workflow/machine.ts";
import { type Run, type RunState, sessionOf, stateOf } from "../../../src/core/workflow/run.ts";
import type { LogView } from "../../../src/log/inspect.ts";
import { workflowEventOf } from "../../../src/wire/stored/workflow.ts";

/** How often each event is in the logs of these sessions; none of them is damaged. */
export function countsIn(log: LogView, isOf: (session: string) => boolean): Record<string, number> {
  const damage = log.inspect().findings.filter(({ kind }) => kind === "damage");
  if (damage.length > 0) throw new Error(JSON.stringify(damage));
  const counts: Record<string, number> = {};
  for (const session of log.sessions.filter(isOf))
    for (const reading of log.read(session))
      if (reading.kind === "entry") counts[reading.entry.event] = (counts[reading.entry.event] ?? 0) + 1;
  return counts;
}

/** The same however often it was disturbed. */
export type EndOfRun = {
  readonly state: RunState;
  readonly variables: Readonly<Record<string, Json>>;
  readonly items: readonly (readonly [string, Json])[];
  readonly steps: readonly string[];
};

/** The events of a run whose directory has its name. */
export function eventsOf(log: LogView, id: string): WorkflowEvent[] {
  const session = sessionOf({ repo: id, id });
  return [...log.read(session)].flatMap((reading) => {
    if (reading.kind !== "entry") throw new Error(`the log of ${id} is damaged: ${JSON.stringify(reading)}`);
    const event = workflowEventOf({ ...reading.entry, session_id: id });
    return event === undefined ? [] : [event];
  });
}

export function endOf(events: readonly WorkflowEvent[]): EndOfRun {
  const run = events.reduce<Run | undefined>(legally, undefined);
  if (run === undefined) throw new Error("there is no run");
  const items = allItems(run.items.all).map(
    ({ state }) => [state.kind, state.kind === "succeeded" ? state.result : ""] as const,
  );
  const steps = [...itemsOf(run.records)].map(({ step, outcome, iteration }) => `${step} ${iteration} ${outcome}`);
  return { state: stateOf(run), variables: toRecord(run.variables), items, steps };
}

const LEGAL = new Set(cells(runMachine).map(({ state, next }) => `${state} ${next}`));

/** Its status changes only as the table says. */
function legally(before: Run | undefined, event: WorkflowEvent): Run {
  const after = applyWorkflow(before, event);
  const [was, is] = [before?.status.kind, after.status.kind];
  if (was !== undefined && was !== is && !LEGAL.has(`${was} ${is}`)) throw new Error(`a run that was ${was} is ${is}`);
  return after;
}

/** The attempts that were repeated because a person or the file agreed; evaluated independently of the engine. */
export function consentsOf(events: readonly WorkflowEvent[], definition: Definition): string[] {
  const steps = new Map<string, string>();
  const found: string[] = [];
  for (const { event, data } of events) {
    if (event === "workflow.attempt.started") steps.set(data.attempt, data.step);
    if (event !== "workflow.attempt.resolved" || data.verdict !== "rerun") continue;
    if (data.by === "person" || agrees(definition, steps.get(data.attempt) ?? "")) found.push(data.attempt);
  }
  return found;
}

/** Whether the file itself allows this step to be run again. */
function agrees(definition: Definition, id: string): boolean {
  const step = stepById(definition, id);
  return id === INPUT_STEP || step?.on_uncertain === "rerun" || (!step?.on_uncertain && step?.idempotent === true);
}
