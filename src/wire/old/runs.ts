// Runs as older programs recorded them (docs/WORKFLOWS.md, "Migration"), read into one form. The path of a file tells
// its layout.
// OR1. A file of another layout than its path tells is refused with a reason; nothing is thrown, and no run is half
//      read.
// OR2. An unknown status counts as running: then a person is asked what may have happened.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Layout, OldMap, OldRun, OldStatus, OldStep } from "../../core/workflow/migrate-old.ts";
import { choiceIn, countIn, durationIn, type Fields, fieldsIn, listIn, tableIn, textIn, timeIn } from "./fields.ts";
import { agentMap, jobMap, ownMap } from "./maps.ts";

/** `id` is the run's, from the file's path; `at` is when the file was last changed. */
export type OldPlace = { readonly layout: Exclude<Layout, "holdfast">; readonly id: string; readonly at: string };

export function readOldRun(bytes: Uint8Array, place: OldPlace): Result<OldRun> {
  if (bytes.length === 0) return refused("empty", "The file is empty.", DAMAGED);
  const value = parsed(bytes);
  if (value === undefined) return refused("garbage", "The file is not JSON: it is damaged, or was cut.", DAMAGED);
  const fields = fieldsIn(value);
  if (place.layout === "session") return sessionRun(fields, place);
  if (place.layout === "checkpoints") return checkpointRun(fields, place);
  return place.layout === "job" ? jobRun(fields, place) : readUnified(fields, place, "unified");
}

const DAMAGED = "It was left as it is. An older copy of it may do; else run the workflow anew.";

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // OR1
    throw error;
  }
}

function notOne(what: string): Result<never> {
  return refused("not-one", `It is not ${what}.`, "It was left as it is. Holdfast does not know this kind of file.");
}

const STATUSES: Readonly<Record<string, OldStatus>> = {
  completed: "done",
  complete: "done",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
  paused: "interrupted",
};

/** OR2 */
function statusOf(value: unknown): OldStatus {
  return STATUSES[(choiceIn(value)?.kind ?? "").toLowerCase()] ?? "running";
}

function stepOf(value: unknown, at: string): OldStep | undefined {
  if (typeof value === "number")
    return Number.isSafeInteger(value) && value >= 0 ? { ...NO_STEP, index: value, at } : undefined;
  const fields = fieldsIn(value);
  const index = countIn(fields, "step_index", "index");
  if (index === null || fields["success"] === false) return undefined;
  const output = typeof fields["output"] === "string" ? fields["output"] : null;
  return {
    index,
    id: textIn(fields, "step", "step_id"),
    command: textIn(fields, "command"),
    output,
    variables: tableIn(fields, "captured_variables"),
    durationMs: durationIn(fields),
    at: timeIn(fields, at, "completed_at"),
  };
}

const NO_STEP = { id: null, command: null, output: null, variables: {}, durationMs: 0 } as const;

function stepsIn(fields: Fields, at: string): OldStep[] {
  return listIn(fields, "completed_steps").flatMap((value) => stepOf(value, at) ?? []);
}

/** The fields that all layouts share; in some layouts they are in a nested table. */
function common(tables: readonly Fields[], { id, at }: OldPlace) {
  const first = (...names: readonly string[]) =>
    tables.map((table) => textIn(table, ...names)).find((text) => text !== null) ?? null;
  const time = (otherwise: string, ...names: readonly string[]) => {
    const found = first(...names);
    return found === null ? otherwise : timeIn({ found }, otherwise, "found");
  };
  const updatedAt = time(at, "updated_at", "last_checkpoint", "timestamp", "created_at");
  return {
    id: first("session_id", "workflow_id", "id") ?? id,
    name: first("workflow_name", "name"),
    path: first("workflow_path"),
    cwd: first("worktree_path", "working_directory"),
    startedAt: time(updatedAt, "started_at", "start_time"),
    updatedAt,
    error: first("error") ?? lastError(tables),
    retryable: true,
    iteration: 1,
    map: null,
  };
}

function lastError(tables: readonly Fields[]): string | null {
  const last = tables.flatMap((table) => listIn(table, "errors")).at(-1);
  return typeof last === "string" ? last : null;
}

function sessionRun(fields: Fields, place: OldPlace): Result<OldRun> {
  const job = textIn(fieldsIn(fields["mapreduce_data"]), "job_id");
  if (job !== null && !("current_step" in fieldsIn(fields["workflow_data"])))
    return refused(
      "job",
      `It is of the map-reduce job ${job}; what is known of it is with the job.`,
      "Look for it in mapreduce/jobs/.",
    );
  const state =
    ["workflow_data", "workflow_state"].map((name) => fieldsIn(fields[name])).find((one) => "current_step" in one) ??
    fields;
  const current = countIn(state, "current_step");
  if (current === null || !Array.isArray(state["completed_steps"])) return notOne("the state of a session");
  const found = common([fields, state, fieldsIn(fields["metadata"])], place);
  return ok({
    ...found,
    layout: "session",
    status: statusOf(fields["status"]),
    steps: stepsIn(state, found.updatedAt),
    current,
    total: countIn(state, "total_steps") || null,
    iteration: (countIn(state, "iterations_completed") ?? 0) + 1,
    variables: tableIn(state, "variables"),
  });
}

function checkpointRun(fields: Fields, place: OldPlace): Result<OldRun> {
  const state = fieldsIn(fields["execution_state"]);
  const current = countIn(state, "current_step_index", "current_step");
  if (current === null || !Array.isArray(fields["completed_steps"])) return notOne("a checkpoint of a workflow");
  const map = fields["mapreduce_state"] == null ? ok(null) : agentMap(fieldsIn(fields["mapreduce_state"]));
  if (!map.ok) return map;
  const found = common([fields, state], place);
  return ok({
    ...found,
    layout: "checkpoints",
    status: statusOf(state["status"]),
    steps: stepsIn(fields, found.updatedAt),
    current,
    total: countIn(state, "total_steps") ?? countIn(fields, "total_steps"),
    iteration: countIn(state, "current_iteration") || 1,
    variables: tableIn(fields, "variable_state", "variables"),
    map: map.value,
  });
}

function jobRun(fields: Fields, place: OldPlace): Result<OldRun> {
  const id = textIn(fields, "job_id");
  if (id === null || !Array.isArray(fields["work_items"])) return notOne("the state of a map-reduce job");
  const found = common([fields, fieldsIn(fields["config"])], place);
  const reduce = fieldsIn(fields["reduce_phase_state"]);
  const map = jobMap(fields, found.updatedAt);
  return ok({
    ...found,
    id,
    layout: "job",
    status: jobStatus(fields, map),
    error: textIn(reduce, "error"),
    steps: listIn(reduce, "executed_commands").flatMap((command) =>
      typeof command === "string" ? [{ ...NO_STEP, index: -1, command, at: found.updatedAt }] : [],
    ),
    current: null,
    total: null,
    variables: tableIn(fields, "variables"),
    map,
  });
}

/** During the map each item has its own state; before and after it, the job may have been running a step. */
function jobStatus(fields: Fields, { setupDone, reducing }: OldMap): OldStatus {
  const reduce = fieldsIn(fields["reduce_phase_state"]);
  if (fields["is_complete"] === true || reduce["completed"] === true) return "done";
  if (textIn(reduce, "error") !== null) return "failed";
  return setupDone && !reducing ? "interrupted" : "running";
}

/** Of the document's format. Ours in an envelope is counted there. */
export const UNIFIED_VERSION = 1;

/** One checkpoint format for all kinds of workflow: bare, or in our own envelope (`holdfast`). */
export function readUnified(fields: Fields, place: OldPlace, layout: "unified" | "holdfast"): Result<OldRun> {
  const version = countIn(fields, "version");
  const state = choiceIn(fields["state"]);
  if (version === null || state === undefined || !Array.isArray(fields["completed_steps"]))
    return notOne("a checkpoint of a workflow");
  if (version > UNIFIED_VERSION)
    return refused(
      "newer",
      `It is of version ${version}, and this Holdfast knows ${UNIFIED_VERSION}.`,
      "Use a newer Holdfast.",
    );
  const map = unifiedMap(fields);
  if (!map.ok) return map;
  const rest = fieldsIn(fields["run"]);
  const found = common([fields, rest], place);
  const { status, current } = standing(state, rest);
  const type = choiceIn(fields["workflow_type"])?.fields ?? {};
  return ok({
    ...found,
    layout,
    status,
    current,
    cwd: textIn(fields, "worktree_path") ?? textIn(rest, "cwd"),
    error: textIn(state.fields, "error"),
    retryable: state.fields["retryable"] !== false,
    steps: unifiedSteps(fields, found.updatedAt, countIn(type, "current_iteration")),
    total: null,
    iteration: countIn(type, "current_iteration") || 1,
    variables: tableIn(fields, "variables"),
    map: map.value,
  });
}

/** The steps of the current iteration that are done. Our own records have each step's outcome and its failure
 *  handler. */
function unifiedSteps(fields: Fields, at: string, iteration: number | null): OldStep[] {
  const done = listIn(fields, "completed_steps").filter((value) => {
    const step = fieldsIn(value);
    const here = iteration === null || (countIn(step, "iteration") ?? iteration) === iteration;
    return here && step["outcome"] !== "failed" && (step["handler"] ?? null) === null;
  });
  return done.flatMap((value) => stepOf(value, at) ?? []);
}

/** Between two steps nothing ran; before one it may have begun. */
function standing(state: { kind: string; fields: Fields }, rest: Fields): Pick<OldRun, "status" | "current"> {
  const index = countIn(state.fields, "step_index") ?? 0;
  const ours = choiceIn(rest["status"])?.kind;
  if (ours === "done" || ours === "cancelled") return { status: ours, current: index };
  // An attempt that has not ended, even if the run was stopped meanwhile.
  if ((fieldsIn(rest["main"])["attempt"] ?? null) !== null) return { status: "running", current: index };
  if (state.kind === "Failed") return { status: "failed", current: index };
  if (state.kind === "Completed") return { status: "interrupted", current: index + 1 };
  if (state.kind !== "Interrupted") return { status: "running", current: index }; // OR2
  return { status: "interrupted", current: state.fields["in_progress"] === true ? index : index + 1 };
}

function unifiedMap(fields: Fields): Result<OldMap | null> {
  const type = choiceIn(fields["workflow_type"]);
  if (type?.kind !== "MapReduce") return ok(null);
  const map = fieldsIn(fields["mapreduce_state"]);
  if (Array.isArray(map["all"])) return ownMap(map);
  if (Array.isArray(map["work_items"])) return ok(jobMap(map, timeIn(fields, "", "created_at")));
  return refused("no-items", "It is a map-reduce run without its items.", "Look for its job in mapreduce/jobs/.");
}
