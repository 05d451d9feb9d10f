// Long work on one thread, in slices, so that other work can run between them.
import type { Clock } from "./clock.ts";
import { pause } from "./wait.ts";

/** The longest that a slice delays other requests. */
const SLICE_MS = 10;

/** What a step may yield: with `waitMs`, the next one waits for something that passes with time. */
export type SliceStep = { readonly waitMs?: number } | undefined;

/** Returns the result of the steps; `after` is called after every slice with what its last step yielded. */
export async function inSlices<S extends SliceStep, T>(
  clock: Clock,
  steps: Generator<S, T>,
  after: (said: S) => void,
): Promise<T> {
  for (let until = clock.elapsed() + SLICE_MS; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const waitMs = step.value?.waitMs;
    if (waitMs === undefined && clock.elapsed() < until) continue;
    after(step.value);
    await (waitMs === undefined ? new Promise<void>((go) => clock.soon(go)) : pause(clock, waitMs));
    until = clock.elapsed() + SLICE_MS;
  }
}
