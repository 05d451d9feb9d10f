// A part's border for tests without a daemon, and folding without slices.
import type { ReportItem } from "../../src/core/recovery.ts";
import { type Folding, foldSessions } from "../../src/daemon/fold.ts";
import { PartBorder } from "../../src/daemon/part.ts";
import type { Kind, SessionStore } from "../../src/daemon/session-store.ts";
import type { EventLog } from "../../src/log/event-log.ts";
import { SimClock } from "../sim/clock.ts";

/** The border of a live daemon; bugs are thrown. */
export function liveBorder(): PartBorder {
  const onBug = (error: unknown) => {
    throw error;
  };
  return new PartBorder({ isLive: () => true, onBug, say: () => undefined }, "sessions");
}

/** A border whose sessions have all been read. */
export async function readBorder(): Promise<PartBorder> {
  const border = liveBorder();
  await border.foldAll(new SimClock(), nothingToFold(), () => undefined);
  return border;
}

export function* nothingToFold(): Generator<never, void> {
  yield* [];
}

export function foldNow<K extends Kind>(log: EventLog, store: SessionStore<K>, folding: Folding<K>): ReportItem[] {
  return atOnce(foldSessions({ border: liveBorder(), log, store }, folding));
}

/** Folds without a pause. */
function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
