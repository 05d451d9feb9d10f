// Histories to crash: a few written by hand, each for a danger it names, and as many as wanted from a seed.
import type { SimRandom } from "../random.ts";
import type { Step } from "./life.ts";

const append = (sessions: readonly number[], size: number): Step => ({ kind: "append", sessions, size });
const AWAIT: Step = { kind: "await" };
const DRAIN: Step = { kind: "drain" };
const IDLE: Step = { kind: "idle" };

export const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  "one entry": [append([1], 20), AWAIT],
  "one batch of transactions over two sessions": [append([1, 2], 30), append([2], 10), append([1, 2, 3], 5), AWAIT],
  "batch after batch, drained in between": [
    append([1], 20),
    AWAIT,
    DRAIN,
    append([1, 2], 20),
    AWAIT,
    IDLE,
    append([2], 9),
    AWAIT,
  ],
  "segments filled and used again": Array.from({ length: 9 }, (_, i) => [append([i % 2, 5], 330), AWAIT]).flat(),
  "drained while the next entries come": [
    append([1], 300),
    append([2], 300),
    AWAIT,
    IDLE,
    append([1], 10),
    append([3], 10),
    DRAIN,
    AWAIT,
  ],
};

/** Anything, within bounds that keep the number of pending operations small enough to enumerate. */
export function randomHistory(random: SimRandom, length: number): Step[] {
  return Array.from({ length }, () => randomStep(random));
}

function randomStep(random: SimRandom): Step {
  const dice = random.fraction();
  if (dice < 0.3) return AWAIT;
  if (dice < 0.4) return DRAIN;
  if (dice < 0.5) return IDLE;
  const sessions = Array.from({ length: 1 + random.int(3) }, () => random.int(5));
  return append([...new Set(sessions)], random.int(random.chance(0.2) ? 400 : 40));
}
