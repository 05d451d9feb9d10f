// What a person starts and looks up about workflows on the page, beside what the daemon answers.
// WW1. A path names a file for those who may run it (wire/page/rights.ts). Only a regular file of the length of a
//      workflow is read; a pipe or a device would never end.
// WW2. Which parameters there are and how a run begins is decided by those who decide it for the command line: the
//      reader of workflow files, and the daemon, which reads the file again.
// WW3. A run gets the environment in which Holdfast was started, as a new terminal does (OM2). It never reaches the
//      browser. Neither does a secret parameter go anywhere but to the daemon.
// WW4. Checkpoints of a long run are long files: between two of them others get their turn.
import { parentOf } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type Definition, type Parameter, stepsOf } from "../core/workflow/definition.ts";
import { checkpointText } from "../core/workflow/progress.ts";
import { type CheckpointFile, CheckpointStorage } from "../home/checkpoint-storage.ts";
import type { DaemonLink } from "../home/daemon-link.ts";
import { terminalEnvironment } from "../home/environment.ts";
import { readWhole } from "../log/file/file.ts";
import { isSession } from "../log/session/places.ts";
import { fitting } from "../wire/check.ts";
import {
  type FormParameter,
  NEW_RUN,
  RUN_PLACE,
  type WebCheckpoint,
  type WebCheckpoints,
  WORKFLOW_FILE,
  type WorkflowForm,
} from "../wire/page/messages.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Self } from "../world/self.ts";
import { pause } from "../world/wait.ts";

export type WorkflowsWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly self: Self;
  readonly home: string;
};

/** Steps have no terminal. */
const TERM = "dumb";
/** WW1. More than the reader of workflow files takes. */
const MAX_FILE = 8 << 20;

export async function workflowForm({ disk, self }: WorkflowsWorld, params: object): Promise<Result<WorkflowForm>> {
  const given = fitting(WORKFLOW_FILE, params);
  if (given === undefined) return refused("bad-params", "This is not a full path.", "It begins with a /.");
  const { path } = given;
  const definition = await definitionAt(disk, path);
  if (!definition.ok) return definition;
  const { name, flow, parameters = {} } = definition.value;
  const steps = (["steps", "setup", "map", "reduce"] as const).flatMap((phase) => stepsOf(definition.value, phase));
  const known = self.environment();
  const fields = Object.entries(parameters).map(([one, parameter]) =>
    fieldOf(one, parameter, Object.hasOwn(known, one)),
  );
  return ok({ path, name, mode: flow.mode, steps: steps.length, parameters: fields });
}

/** WW1, WW2. The reader is loaded when it is first needed: it would add to every start of the host. */
async function definitionAt(disk: Disk, path: string): Promise<Result<Definition>> {
  const found = disk.stat(path);
  if (found?.kind !== "file" || found.size > MAX_FILE)
    return refused(
      "unknown",
      `There is no workflow file ${path}.`,
      "Give the full path of one, on this home's machine.",
    );
  const bytes = readWhole(disk, path, MAX_FILE) ?? new Uint8Array();
  const { readWorkflow, workflowNameOf, workflowRefusal } = await import("../wire/files/workflow-file.ts");
  const read = readWorkflow(bytes, workflowNameOf(path));
  return read.ok ? read : { ok: false, error: workflowRefusal(path, read.error) };
}

function fieldOf(name: string, parameter: Parameter, isInEnvironment: boolean): FormParameter {
  const { type, required = false, secret = false, default: initial, says = "" } = parameter;
  const text = typeof initial === "string" ? initial : initial === undefined ? null : JSON.stringify(initial);
  const isKnown = secret && isInEnvironment;
  return { name, type, isRequired: (required || secret) && !isKnown, isSecret: secret, isKnown, initial: text, says };
}

/** WW3 */
export async function startRun(world: WorkflowsWorld, params: object, link: DaemonLink): Promise<Result<unknown>> {
  const given = fitting(NEW_RUN, params);
  if (given === undefined) return refused("bad-params", "This is not a run to start.", "Reload the page.");
  const { id, path, texts, worktree } = given;
  const cwd = given.cwd === "" ? parentOf(path) : given.cwd;
  const { disk, self } = world;
  if (disk.stat(path)?.kind !== "file")
    return refused("unknown", `There is no workflow file ${path}.`, "Give its full path."); // WW1
  if (!cwd.startsWith("/") || disk.stat(cwd)?.kind !== "directory")
    return refused("no-directory", `There is no directory ${cwd}.`, "Give a full path, or leave it empty.");
  const env = terminalEnvironment(self.environment(), TERM);
  return link.call("workflow.run", { id, path, cwd, texts, values: {}, env, worktree });
}

/** WW4 */
export async function checkpointsOf(world: WorkflowsWorld, params: object): Promise<Result<WebCheckpoints>> {
  const given = fitting(RUN_PLACE, params);
  const session = given === undefined ? "" : `state/${given.repo}/sessions/${given.run}`;
  if (!isSession(session)) return refused("bad-params", "This is not a run.", "Reload the page.");
  const checkpoints: WebCheckpoint[] = [];
  let files = 0;
  for (const file of new CheckpointStorage(world).eachFile(session)) {
    checkpoints.push(...rowOf(file));
    files += 1;
    await pause(world.clock, 0);
  }
  return ok({ checkpoints, bad: files - checkpoints.length });
}

function rowOf({ found }: CheckpointFile): WebCheckpoint[] {
  if (found.kind !== "whole") return [];
  const { seq, time, checkpoint } = found;
  return [{ seq, time, reason: checkpoint.reason, state: checkpoint.state.kind, step: checkpointText(checkpoint) }];
}
