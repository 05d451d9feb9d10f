// How many test files run at a time, and how long they wait for other processes.
// PA1. Deterministic tests compute, so there is one worker for each core. Tests with real processes wait for these half
//      of the time and more, so there are seven for two cores. Both pools run side by side, and the deterministic one
//      gives way (`nice`): it takes what the other leaves of the cores. A second run has the machine for itself.
// PA2. Tests with real processes wait the longer, the busier the machine is: HOLDFAST_PATIENCE says how many times as
//      long as on a quiet one. It is the number of processes that want a core, for each core, in whole numbers. `until`
//      (tests/until.ts) and the time limit of each test follow it.
import type { Pool } from "./pools.ts";

export type Workload = { readonly pool: Pool; readonly isRepeat: boolean };

/** On a machine busier than this, waiting longer does not help. */
const MAX_PATIENCE = 8;

/** PA1 */
export function workersFor({ pool, isRepeat }: Workload, cores: number): number {
  if (isRepeat) return 1;
  return pool === "deterministic" ? cores : Math.ceil(3.5 * cores);
}

/** PA2. `load` is how many processes wanted a core in the last minute, `workers` how many of ours will be added. */
export function patienceOf(load: number, workers: number, cores: number): number {
  return Math.min(MAX_PATIENCE, Math.max(1, Math.ceil((load + workers) / cores)));
}
