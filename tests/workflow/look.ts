// What the checkpoints of a home say while its daemon works: through `current()`, like every reader.
import type { Result } from "../../src/base/result.ts";
import type { WorkflowCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { CheckpointStorage, type CurrentRun } from "../../src/home/checkpoint-storage.ts";
import { LogView } from "../../src/log/inspect.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";

export function storageOf(home: string): CheckpointStorage {
  return new CheckpointStorage({ disk: realDisk(), clock: realClock(), home });
}

/** The run with this id, with everything that its log says. */
export function currentRun(home: string, id: string): Result<CurrentRun> {
  const view = steadyView(home);
  return storageOf(home).current(view, view.sessions.find((session) => session.endsWith(`/${id}`)) ?? id);
}

/** A segment that is reused during a read looks like lost entries: a loss seen only once is not a loss. */
function steadyView(home: string): LogView {
  for (let look = 1; ; look += 1) {
    const view = new LogView(realDisk(), home);
    if (view.marks.lost.length === 0 || look === LOOKS) return view;
    Bun.sleepSync(PAUSE_MS);
  }
}

const LOOKS = 20;
const PAUSE_MS = 10;

/** The current state of a run; undefined if it does not exist. */
export function checkpointOf(home: string, id: string): WorkflowCheckpoint | undefined {
  const current = currentRun(home, id);
  return current.ok ? current.value.checkpoint : undefined;
}

/** Its state as one line: `BeforeStep 3`. */
export function stateIn(checkpoint: WorkflowCheckpoint | undefined): string {
  return checkpoint === undefined ? "none" : `${checkpoint.state.kind} ${checkpoint.state.step_index}`;
}
