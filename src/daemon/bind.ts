// DS-3: binding a socket is retried with backoff, then given up.
import { backoffMs } from "../base/backoff.ts";
import { type Fault, isFault } from "../base/fault.ts";
import type { Clock } from "../world/clock.ts";
import type { Random } from "../world/random.ts";

/** With 1, 2, 4, 8 and 16 s in between: half a minute, as long as the watchdog waits for a silent daemon. */
const TRIES = 6;

type World = { readonly clock: Clock; readonly random: Random };

/** Undefined once it is bound; the last Fault if it was given up. `failed` is called for each Fault. */
export async function bindRetrying(
  { clock, random }: World,
  bind: () => Promise<void>,
  failed: (fault: Fault) => void,
): Promise<Fault | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await bind();
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      failed(error);
      if (attempt === TRIES) return error;
      await new Promise<void>((again) => clock.after(backoffMs(attempt, random.fraction()), again));
    }
  }
}
