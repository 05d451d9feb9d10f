// Long work on one thread, in slices, so that other work can run between them.
import type { Clock } from "../world/clock.ts";

/** The longest that a slice delays other requests. */
const SLICE_MS = 10;

/** Returns the result of the steps; `after` is called after every slice with what its last step yielded. */
export async function inSlices<S, T>(clock: Clock, steps: Generator<S, T>, after: (said: S) => void): Promise<T> {
  for (let until = clock.elapsed() + SLICE_MS; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (clock.elapsed() < until) continue;
    after(step.value);
    await new Promise<void>((go) => clock.soon(go));
    until = clock.elapsed() + SLICE_MS;
  }
}
