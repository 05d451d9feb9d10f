// Runs started by an older program: read, planned and folded. Pure.
import { describe, expect, test } from "bun:test";
import { readText } from "../../scripts/files.ts";
import type { Result } from "../../src/base/result.ts";
import { toRecord } from "../../src/base/table.ts";
import { itemsOf } from "../../src/base/vector.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import { checkpointState, fromCheckpoint, toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { decideWorkflow } from "../../src/core/workflow/decide.ts";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { allItems } from "../../src/core/workflow/item-list.ts";
import { type MigrationPlan, planMigration } from "../../src/core/workflow/migrate.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";
import { type OldPlace, readOldRun } from "../../src/wire/old/runs.ts";
import { workflowCheckpointOf, workflowEventOf } from "../../src/wire/stored/workflow.ts";
import {
  AT,
  checkpointFile,
  completed,
  jobState,
  LATER,
  MAPPING,
  sessionState,
  THREE,
  unified,
} from "./old-layouts.ts";

const ID = "0123456789ab4def8123456789abcdef";

function definitionOf(text: string): Definition {
  const read = readWorkflow(Buffer.from(text), "flow");
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

function planOf(layout: OldPlace["layout"], value: unknown, file = THREE): Result<MigrationPlan> {
  const old = readOldRun(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)), {
    layout,
    id: "by-place",
    at: AT,
  });
  if (!old.ok) return old;
  const source = { layout: old.value.layout, path: "/old", id: old.value.id, sha256: "0" };
  const where = { path: "/w/flow.yml", repo: "w", cwd: "/w", worktree: null, environment: {}, source_sha256: "1" };
  return planMigration(old.value, { ...where, source, definition: definitionOf(file) });
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** The run of a plan, its events through JSON and back. */
function runOf({ created, parts }: MigrationPlan): Run {
  let runs = new Map<string, Run>();
  for (const part of parts) runs = taken(runs, { kind: "migrate", id: ID, created, part });
  const run = runs.get(ID);
  if (run === undefined) throw new Error("no run");
  const seal = { time: AT, sha256: "" };
  const back = workflowCheckpointOf(JSON.parse(JSON.stringify(toCheckpoint(run, "Manual", AT))), seal);
  expect(back && toRecord(fromCheckpoint(back).variables)).toEqual(toRecord(run.variables));
  expect(back && fromCheckpoint(back).migrated).toEqual(run.migrated);
  return run;
}

function taken(runs: ReadonlyMap<string, Run>, command: WorkflowCommand): Map<string, Run> {
  const after = new Map(runs);
  for (const { event, id, data } of must(decideWorkflow(after, command, LATER)).events) {
    const stored = workflowEventOf(JSON.parse(JSON.stringify({ session_id: id, event, data })));
    if (stored !== undefined) after.set(id, applyWorkflow(after.get(id), stored));
  }
  return after;
}

const migrated = (layout: OldPlace["layout"], value: unknown, file?: string) =>
  runOf(must(planOf(layout, value, file)));

function refusal(layout: OldPlace["layout"], value: unknown, file?: string): string {
  const plan = planOf(layout, value, file);
  if (plan.ok) throw new Error("it was migrated");
  return plan.error.message;
}

test("UC-10(a) a session state becomes a failed run at its step, with its values and completed steps", () => {
  const run = migrated("session", sessionState());
  expect(progressOf(run)).toMatchObject({ state: "failed", step: 3, steps: 3, at: "three", needs: [] });
  expect(checkpointState(run)).toEqual({ kind: "Failed", step_index: 2, error: "500 error", retryable: true });
  expect(toRecord(run.variables)).toEqual({ who: "ann", tag: "v1" });
  expect([...itemsOf(run.records)].map(({ step, outcome }) => [step, outcome])).toEqual([
    ["one", "succeeded"],
    ["two", "succeeded"],
  ]);
  expect(run.createdAt).toBe(AT);
  // A flat one gives the same result.
  const flat = {
    session_id: "s",
    status: "Interrupted",
    current_step: 1,
    completed_steps: [0],
    total_steps: 3,
    variables: {},
  };
  expect(progressOf(migrated("session", flat))).toMatchObject({ state: "interrupted", step: 2, at: "two" });
});

test("UC-10(a) a checkpoint file becomes an interrupted run, and steps are matched by their commands", () => {
  const run = migrated("checkpoints", checkpointFile());
  expect(progressOf(run)).toMatchObject({ state: "interrupted", step: 3, at: "three" });
  expect([...itemsOf(run.records)].map(({ output, durationMs, variables }) => [output, durationMs, variables])).toEqual(
    [
      ["out 0\n", 1500, {}],
      ["out 1\n", 1500, { tag: "v2" }],
    ],
  );
  expect(toRecord(run.variables)).toEqual({ who: "bob", tag: "v2" });
  // Rolling back undoes the captured value, and keeps the given ones.
  const back = taken(new Map([[ID, run]]), { kind: "rollback", id: ID, records: 1, items: 0 }).get(ID);
  expect(back && toRecord(back.variables)).toEqual({ who: "bob" });
});

test("UC-10(a) a step that differs in the file does not count as done; one that moved does", () => {
  const moved = THREE.replace("steps:\n", "steps:\n  - id: zero\n    shell: echo zero >> effects\n");
  const plan = must(planOf("checkpoints", checkpointFile(), moved));
  const run = runOf(plan);
  expect(progressOf(run)).toMatchObject({ step: 1, at: "zero" });
  expect([...run.kept]).toEqual(["one", "two"]);
  expect(plan.notes).toEqual(["the record stood at step 3; the run continues at step 1"]);
  const changed = THREE.replace("echo two >> effects", "echo TWO >> effects");
  const other = must(planOf("checkpoints", checkpointFile(), changed));
  expect(progressOf(runOf(other))).toMatchObject({ step: 2, at: "two" });
  expect(other.notes[0]).toContain(
    "step 2 (shell: echo two >> effects) is done in the record, and the file has no such step",
  );
  // Numbers alone are trusted only if the file has as many steps.
  expect(refusal("session", sessionState({}, { total_steps: 4 }))).toContain("has 4 steps, and the file 3");
  expect(refusal("session", sessionState({}, { total_steps: 0 }))).toContain("does not say how many steps there are");
  const failed = checkpointFile({
    completed_steps: [
      completed(0, "shell: echo one >> effects"),
      { ...completed(1, "shell: echo two >> effects"), success: false },
    ],
  });
  expect(progressOf(migrated("checkpoints", failed))).toMatchObject({ step: 2, at: "two" });
});

describe("UC-10(a) what may have been running is asked about", () => {
  const running = checkpointFile({}, { status: "Running" });

  test("and continues with a person's answer", () => {
    const run = migrated("checkpoints", running);
    const [need] = progressOf(run).needs;
    expect(need).toMatchObject({ step: "three", attempt: `${ID}.1` });
    expect(need?.why).toContain("may have been running");
    let runs = taken(new Map([[ID, run]]), { kind: "resume", id: ID, force: false });
    expect(stateOf(runs.get(ID) ?? run)).toBe("uncertain");
    runs = taken(runs, { kind: "resolve", id: ID, attempt: `${ID}.1`, verdict: "done" });
    expect(stateOf(runs.get(ID) ?? run)).toBe("done");
    const again = taken(taken(new Map([[ID, run]]), { kind: "resume", id: ID, force: false }), {
      kind: "resolve",
      id: ID,
      attempt: `${ID}.1`,
      verdict: "rerun",
    });
    expect(attemptsOf(again.get(ID) ?? run).map(({ id, step }) => [id, step])).toEqual([[`${ID}.2`, "three"]]);
  });

  test("unless the file decides", () => {
    const rerun = migrated("checkpoints", running, `${THREE}    idempotent: true\n`);
    expect(progressOf(rerun)).toMatchObject({ state: "interrupted", needs: [] });
    const fails = migrated("checkpoints", running, `${THREE}    on_uncertain: fail\n`);
    expect(progressOf(fails)).toMatchObject({ state: "failed", needs: [] });
  });

  test("even if its state is unknown to us", () => {
    expect(progressOf(migrated("session", sessionState({ status: "Meditating" }))).needs).toHaveLength(1);
    expect(progressOf(migrated("unified", unified({ BeforeStep: { step_index: 2 } }))).needs).toHaveLength(1);
  });
});

test("UC-10(a) the unified checkpoint of the specification continues where its state says", () => {
  const at = (state: unknown) => progressOf(migrated("unified", unified(state)));
  expect(at({ Failed: { step_index: 2, error: "500", retryable: true } })).toMatchObject({ state: "failed", step: 3 });
  expect(at({ Completed: { step_index: 1, output: "x" } })).toMatchObject({ state: "interrupted", step: 3, needs: [] });
  expect(at({ Interrupted: { step_index: 2, in_progress: true } })).toMatchObject({
    state: "interrupted",
    step: 3,
    needs: [],
  });
  const hopeless = migrated("unified", unified({ Failed: { step_index: 2, error: "bad", retryable: false } }));
  expect(decideWorkflow(new Map([[ID, hopeless]]), { kind: "resume", id: ID, force: false }, LATER)).toMatchObject({
    ok: false,
    error: { code: "not-retryable" },
  });
  expect(refusal("unified", unified({ Failed: {} }, { version: 9 }))).toContain("version 9");
  expect(
    refusal("unified", unified("BeforeStep", { workflow_type: { MapReduce: { job_id: "x" } } }), MAPPING),
  ).toContain("without its items");
});

test("UC-10(a) an iterative run continues in its iteration", () => {
  const file = THREE.replace("steps:", "mode: iterative\nmax_iterations: 5\nsteps:");
  const run = migrated(
    "session",
    sessionState({}, { iterations_completed: 2, completed_steps: [0], current_step: 1 }),
    file,
  );
  expect(progressOf(run)).toMatchObject({ iteration: 3, step: 2, at: "two" });
});

test("UC-10(a) UC-11(a,b) a job keeps the results of its items; those in progress are uncertain, the others continue in order", () => {
  const run = migrated("job", jobState(), MAPPING);
  expect(allItems(run.items.all).map(({ state, tries }) => [state.kind, tries])).toEqual([
    ["succeeded", 1],
    ["failed", 3],
    ["active", 1],
    ["succeeded", 1],
    ["pending", 0],
  ]);
  expect(progressOf(run)).toMatchObject({
    state: "interrupted",
    items: { total: 5, succeeded: 2, failed: 1, complete: true },
  });
  expect(progressOf(run).needs.map(({ step }) => step)).toEqual(["work"]);
  let runs = taken(new Map([[ID, run]]), { kind: "resume", id: ID, force: false });
  runs = taken(runs, { kind: "resolve", id: ID, attempt: `${ID}.1`, verdict: "rerun" });
  const now = runs.get(ID) ?? run;
  expect([...now.active.keys()]).toEqual([2, 4]);
  expect(refusal("job", jobState())).toContain("is of a map-reduce, but the file is standard");
  expect(refusal("session", sessionState(), MAPPING)).toContain("The file is a map-reduce");
});

test("UC-10(a) skipped items come before those that were never started", () => {
  const pending = jobState({ pending_items: ["item_2", "item_4"] });
  const run = migrated("job", pending, MAPPING);
  expect(progressOf(run).needs).toEqual([]);
  const now = taken(new Map([[ID, run]]), { kind: "resume", id: ID, force: false }).get(ID);
  expect([...(now?.active.keys() ?? [])]).toEqual([2]);
});

test("UC-10(a) a job before its list, and one in its reduce, continue there", () => {
  const early = migrated(
    "job",
    jobState({
      work_items: [],
      setup_completed: false,
      agent_results: {},
      completed_agents: [],
      failed_agents: {},
      pending_items: [],
    }),
    `${MAPPING}setup:\n  - id: prepare\n    shell: echo prepare >> effects\n`,
  );
  expect(progressOf(early)).toMatchObject({ step: 1, at: "prepare" });
  expect(progressOf(early).needs).toHaveLength(1); // It may have been at it.
  const ended = { item_2: { status: "Success" }, item_4: { status: { Failed: "no" } } };
  const reducing = {
    ...jobState({ pending_items: [] }),
    reduce_phase_state: { started: true, completed: false, executed_commands: [], error: "exit 1" },
  };
  const late = migrated("job", { ...reducing, agent_results: { ...reducing.agent_results, ...ended } }, MAPPING);
  expect(progressOf(late)).toMatchObject({ state: "failed", at: "sum", items: { succeeded: 3, failed: 2 } });
});

test("UC-10(a) a job of ten thousand items is imported in parts; before the last the run can do nothing, and a repeat changes nothing", () => {
  const items = Array.from({ length: 10_000 }, (_, at) => `${at} ${"x".repeat(90)}`);
  const plan = must(
    planOf(
      "job",
      jobState({ work_items: items, pending_items: items.slice(4).map((_, at) => `item_${at + 4}`) }),
      MAPPING,
    ),
  );
  expect(plan.parts.length).toBeGreaterThan(3);
  const { created } = plan;
  let runs = new Map<string, Run>();
  for (const part of plan.parts.slice(0, 2)) runs = taken(runs, { kind: "migrate", id: ID, created, part });
  expect(decideWorkflow(runs, { kind: "resume", id: ID, force: true }, LATER)).toMatchObject({
    ok: false,
    error: { code: "migrating" },
  });
  const [first, second] = plan.parts;
  if (first === undefined || second === undefined) throw new Error("there are parts");
  expect(must(decideWorkflow(runs, { kind: "migrate", id: ID, created, part: second }, LATER)).events).toEqual([]);
  const early = decideWorkflow(new Map(), { kind: "migrate", id: ID, created, part: second }, LATER);
  expect(early).toMatchObject({ ok: false, error: { code: "out-of-order" } });
  for (const part of plan.parts) runs = taken(runs, { kind: "migrate", id: ID, created, part });
  expect(runs.get(ID)).toEqual(runOf(plan));
  expect(runs.get(ID)?.items.all.length).toBe(10_000);
  for (const part of plan.parts)
    expect(must(decideWorkflow(runs, { kind: "migrate", id: ID, created, part }, LATER)).events).toEqual([]);
  // A different original replaces a half-finished import.
  const half = taken(new Map(), { kind: "migrate", id: ID, created, part: first });
  const other = { ...first, source: { ...first.source, sha256: "2" }, parts: 1, items: [] };
  expect(taken(half, { kind: "migrate", id: ID, created, part: other }).get(ID)?.items.all.length).toBe(0);
  // A complete one is never touched again.
  expect(must(decideWorkflow(runs, { kind: "migrate", id: ID, created, part: other }, LATER)).events).toEqual([]);
});

test("UC-10(c) a damaged or unrelated file gives a reason and never half a run", () => {
  const whole = JSON.stringify(checkpointFile());
  for (let cut = 0; cut < whole.length; cut += 7) expect(refusal("checkpoints", whole.slice(0, cut))).not.toBe("");
  for (const layout of ["session", "checkpoints", "job", "unified"] as const)
    for (const value of ["", "null", "[]", "{}", "7", '{"completed_steps":[]}', '{"work_items":{}}'])
      expect(refusal(layout, value)).not.toBe("");
  expect(refusal("session", sessionState({ workflow_data: null, mapreduce_data: { job_id: "job-7" } }))).toContain(
    "job-7",
  );
  expect(refusal("checkpoints", checkpointFile({ mapreduce_state: { completed_items: ["a"] } }), MAPPING)).toContain(
    "does not say what they are",
  );
});

test("UC-10(c) a value that fits no log, and a parameter without one, are reported", () => {
  const long = { tag: "x".repeat(300 << 10) };
  const done = [completed(0, "shell: echo one >> effects", long)];
  expect(refusal("checkpoints", checkpointFile({ completed_steps: done }))).toContain("What step one captured has");
  const item = ["x".repeat(300 << 10)];
  expect(
    refusal(
      "job",
      jobState({ work_items: item, pending_items: ["item_0"], agent_results: {}, completed_agents: [] }),
      MAPPING,
    ),
  ).toContain("Item 0 has");
  const asks = THREE.replace("default: nobody", "required: true");
  expect(refusal("session", sessionState({}, { variables: {} }), asks)).toContain("The parameter who is missing.");
});

test("UC-10(a) our own checkpoint without its log is imported as it was", () => {
  const run = migrated("checkpoints", checkpointFile());
  const bare = (of: Run) => ({ ...JSON.parse(JSON.stringify(toCheckpoint(of, "Manual", AT))), version: 1 });
  const own = bare(run);
  const again = migrated("unified", own);
  expect(progressOf(again)).toEqual(progressOf(run));
  expect([...itemsOf(again.records)]).toEqual([...itemsOf(run.records)]);
  const map = migrated("job", jobState(), MAPPING);
  const back = migrated("unified", bare(map), MAPPING);
  expect(allItems(back.items.all).map(({ state }) => state.kind)).toEqual(
    allItems(map.items.all).map(({ state }) => state.kind),
  );
  expect(progressOf(back).needs).toHaveLength(1);
  // An unfinished attempt is asked about, even if the run was stopped.
  const asked = migrated("unified", bare(migrated("checkpoints", checkpointFile({}, { status: "Running" }))));
  expect(progressOf(asked).needs).toHaveLength(1);
});

test("UC-10(e) the guide covers everything that keeps resume from continuing", () => {
  const [, guide = ""] = readText("docs/WORKFLOWS.md").split("### Resume does not do what you expect?");
  const [table = ""] = guide.split("\n## ");
  for (const words of ["`uncertain:", "`waiting:", "`not-retryable`", "`still-running`", "no checkpoint"])
    expect(table).toContain(words);
});
