// Long work on one thread, in slices: between two of them everybody else has a turn.
import type { Clock } from "../world/clock.ts";

/** Nobody who asks something meanwhile waits much longer. */
const SLICE_MS = 10;

/** What the steps come to; `after` is told after every slice what the last of its steps said. */
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

/** The same without a pause. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
