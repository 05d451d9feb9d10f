// The past of a run that repeats its steps: what is kept of iterations that are over.
// PS1. The steps of the last ITERATIONS_KEPT iterations, and of at most twice as many, are kept one by one. Of older
//      ones only their number and the variables after them are: a run that never ends does not grow.
// PS2. When they go follows from the events alone, so that each fold of a log gives the same run.
// PS3. Attempts up to `attempts` were of iterations that have gone: nothing asks for them any more but people who look
//      at old output, and retention may remove it (daemon/workflow/gc.ts). A rollback never lets more of them go.
import type { Json } from "../../base/json.ts";
import { type Table, tableOf, withAll } from "../../base/table.ts";
import { itemAt, itemsOf, vectorOf } from "../../base/vector.ts";
import { ITERATIONS_KEPT } from "./limits.ts";
import type { Past, Run, StepRecord } from "./run.ts";

export function noPast(parameters: Readonly<Record<string, Json>>): Past {
  return { steps: 0, attempts: 0, mark: 0, rolledBack: null, variables: tableOf(parameters) };
}

/** How many steps have ended, with those that are not kept. */
export function endedSteps({ past, records }: Run): number {
  return past.steps + records.length;
}

/** The `index`th step that ended, from 0; undefined if it is not kept, or has not ended. */
export function recordAt({ past, records }: Run, index: number): StepRecord | undefined {
  return itemAt(records, index - past.steps);
}

/** The run after the end of this iteration (PS1, PS2). */
export function letGo(run: Run, iteration: number): Run {
  if (iteration % ITERATIONS_KEPT !== 0) return run;
  const all = itemsOf(run.records);
  const isGone = (record: StepRecord) => record.iteration <= iteration - ITERATIONS_KEPT;
  const gone = all.filter(isGone);
  const { past } = run;
  const variables = variablesAfter(past.variables, gone);
  const after = { ...past, steps: past.steps + gone.length, attempts: past.mark, mark: run.attempts, variables };
  return { ...run, past: after, records: vectorOf(all.slice(gone.length)) };
}

export function variablesAfter(before: Table<Json>, records: readonly StepRecord[]): Table<Json> {
  let variables = before;
  for (const record of records) variables = withAll(variables, record.variables);
  return variables;
}
