// How many steps run at once, of all runs, and whose is next. Pure.
// SL1. A free slot goes to the run that has the fewest steps running; among those, to the one that got one the longest
//      ago. So a map of ten thousand items does not delay the single step of another run.
// SL2. That a step waits is stored nowhere: it has an attempt that is to be started, and no slot yet.
// SL3. A step may itself wait for a run, whose steps then find no slot. If all slots are taken and none becomes free
//      for a while, a few more are given, until some of the regular ones are free again.

/** What one run has: `served` rises with every slot that any run gets, and is the last that this one got. */
export type RunLoad = { readonly busy: number; readonly served: number; readonly waiting: readonly string[] };

/** A step mostly waits, for a compiler, a network, a model; each takes a holder and at least one more process. */
const SLOTS_A_CORE = 8;
const BYTES_A_SLOT = 128 << 20;
const MIN_SLOTS = 8;
const MAX_SLOTS = 512;
/** SL3: as deep as runs that wait for runs are. */
export const MAX_EXTRA_SLOTS = 8;
export const STUCK_MS = 60_000;

/** As many as the machine can bear. */
export function slotsFor({ cores, memoryBytes }: { readonly cores: number; readonly memoryBytes: number }): number {
  const fits = Math.min(SLOTS_A_CORE * cores, Math.floor(memoryBytes / BYTES_A_SLOT));
  return Math.min(MAX_SLOTS, Math.max(MIN_SLOTS, fits));
}

/** The attempts that get the free slots, in order (SL1). */
export function nextAttempts(loads: readonly RunLoad[], free: number): string[] {
  const chosen: string[] = [];
  const left = loads.map(({ busy, served, waiting }) => ({ busy, served, waiting: [...waiting].reverse() }));
  let latest = Math.max(0, ...loads.map(({ served }) => served));
  while (chosen.length < free) {
    const next = left.filter(({ waiting }) => waiting.length > 0).sort(order)[0];
    const attempt = next?.waiting.pop();
    if (next === undefined || attempt === undefined) break;
    chosen.push(attempt);
    next.busy += 1;
    latest += 1;
    next.served = latest;
  }
  return chosen;
}

function order(a: RunLoad, b: RunLoad): number {
  return a.busy - b.busy || a.served - b.served;
}
