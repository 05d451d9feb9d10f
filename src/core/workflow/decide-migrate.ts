// Takes over a run of an older program, part by part (migrate.ts makes the parts).
// DM1. Each part is one transaction, taken once and in order; a repeat changes nothing. So an interrupted migration can
//      be repeated.
// DM2. Until its last part is there a run can do nothing: with partial knowledge finished steps would run again.
// DM3. Parts of another original than the first one start it anew; a complete run is never touched again.
import { ok, type Result, refused } from "../../base/result.ts";
import type { MigrateRun } from "./commands.ts";
import type { WorkflowEvent } from "./events.ts";
import type { Run, Runs } from "./run.ts";

export function decideMigrate(runs: Runs, { id, created, part }: MigrateRun): Result<WorkflowEvent[]> {
  const run = runs.get(id);
  const next: WorkflowEvent = { event: "workflow.migrated", id, data: part };
  const first: WorkflowEvent[] = [{ event: "workflow.created", id, data: created }, next];
  if (run === undefined) return part.part === 1 ? ok(first) : outOfOrder(id);
  if (run.migrated === undefined)
    return refused("id-taken", `There is already a run ${id}.`, "This is a bug in Holdfast.");
  if (!isHalf(run)) return ok([]); // DM3
  if (run.migrated.source.sha256 !== part.source.sha256) return part.part === 1 ? ok(first) : outOfOrder(id); // DM3
  return ok(part.part === run.migrated.part + 1 ? [next] : []); // DM1
}

function outOfOrder(id: string): Result<never> {
  return refused("out-of-order", `Run ${id} has to be migrated from its beginning.`, "Try again: holdfast migrate");
}

export function isHalf({ migrated }: Run): boolean {
  return migrated !== undefined && migrated.part < migrated.parts;
}

/** DM2 */
export function halfThere({ name, migrated }: Run): Result<never> {
  const message = `The migration of ${name} was interrupted: ${migrated?.part} of ${migrated?.parts} parts are there.`;
  return refused("migrating", message, "Finish it: run the same `holdfast migrate` again.");
}
