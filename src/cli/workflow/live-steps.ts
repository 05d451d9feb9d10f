// Whether programs of workflow steps still run, as seen from disk: `down` leaves them with their holders.
import { applyWorkflow } from "../../core/workflow/apply.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import { hasExit, readHolder, startedHere } from "../../home/held/holder-files.ts";
import { attemptPath } from "../../log/session/places.ts";
import { workflowEventOf } from "../../wire/stored/workflow.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { foldedIn } from "../disk-reader.ts";
import { steadyView } from "../log/view.ts";

export async function hasLiveSteps(world: DaemonCommandWorld, home: string): Promise<boolean> {
  const folding = { eventOf: workflowEventOf, apply: applyWorkflow };
  const runs = foldedIn<Run, WorkflowEvent>(await steadyView(world, home), "state/", folding);
  const directories = runs.flatMap((run) => attemptsOf(run).map(({ id }) => attemptPath(home, run.repo, id)));
  return directories.some((directory) => isHeld(world, home, directory));
}

/** By a holder of this home: the claims of a copied home name those of its original. */
function isHeld({ disk, processes }: DaemonCommandWorld, home: string, directory: string): boolean {
  const holder = readHolder({ disk, directory });
  if (holder === undefined || hasExit({ disk, directory }) || !processes.alive(holder)) return false;
  return startedHere({ disk, home }, directory);
}
