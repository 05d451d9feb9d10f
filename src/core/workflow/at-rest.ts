// Runs that have ended, and that nobody is waited for: they can be archived. They may still be resumed.
// RE1. Nothing of it is running, uncertain or waiting.
// RE2. A failed run waits for a person until a newer run of the same workflow exists: `status` names it.
import { attemptsOf, type Run } from "./run.ts";

export function atRest(runs: readonly Run[]): Run[] {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const other = newest.get(run.name);
    if (!run.removed && (other === undefined || other.createdAt <= run.createdAt)) newest.set(run.name, run);
  }
  const waits = (run: Run) => run.status.kind === "failed" && !run.removed && newest.get(run.name) === run; // RE2
  return runs.filter((run) => hasEnded(run) && !waits(run));
}

/** RE1 */
function hasEnded(run: Run): boolean {
  const isOpen = !run.removed && (run.status.kind === "going" || run.status.kind === "closing");
  return !isOpen && attemptsOf(run).length === 0;
}
