import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../src/base/json.ts";
import { toRecord } from "../../src/base/table.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import {
  type CheckpointState,
  checkpointState,
  fromCheckpoint,
  reasonOf,
  toCheckpoint,
  type WorkflowCheckpoint,
} from "../../src/core/workflow/checkpoint.ts";
import type { WorkflowEffect } from "../../src/core/workflow/commands.ts";
import type { Definition, Step } from "../../src/core/workflow/definition.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import type { WorkflowEvent } from "../../src/core/workflow/events.ts";
import { IN_PROCESS_A_TURN } from "../../src/core/workflow/limits.ts";
import { type Evidence, planResume } from "../../src/core/workflow/resume.ts";
import { attemptsOf, type Run } from "../../src/core/workflow/run.ts";
import { workflowCheckpointOf, workflowEventOf } from "../../src/wire/stored/workflow.ts";
import { PROFILE } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { definitions, itemLists } from "./flows.ts";
import { isOver, Story, set, shell } from "./stories.ts";

/** What the envelope has of it. */
const SEAL = { time: "now", sha256: "hash" };

/** Through its form on disk. */
function stored(run: Run): WorkflowCheckpoint {
  const found = workflowCheckpointOf(JSON.parse(JSON.stringify(toCheckpoint(run, "Manual", ""))), SEAL);
  if (found === undefined) throw new Error("it is no checkpoint");
  return found;
}

const steps: readonly Step[] = [shell("a", { capture: { x: "stdout" } }), shell("b"), shell("c")];
const state = (story: Story): CheckpointState => checkpointState(story.run);

test("UC-1(a,b) AC1 one checkpoint for every kind of workflow, with all required fields", () => {
  const story = new Story(steps);
  story.later(5).ends("a", 0, "out\n");
  expect(stored(story.run)).toMatchObject({
    version: 3,
    session_id: "r1",
    workflow_path: "/w/flow.yml",
    worktree_path: null,
    state: { kind: "BeforeStep", step_index: 1 },
    completed_steps: [
      {
        step_index: 0,
        command: "work a",
        output: "out\n",
        captured_variables: { x: "out" },
        duration_ms: 5,
        completed_at: "2026-01-01T00:00:00.005Z",
      },
    ],
    variables: { x: "out" },
    workflow_type: { kind: "Standard" },
    mapreduce_state: null,
    created_at: "now",
    reason: "Manual",
    integrity_hash: "hash",
  });
});

test("UC-1(a) the type shows the progress of an iterative or a map-reduce run", () => {
  const iterative = new Story({ mode: "iterative", max_iterations: 3, steps: [shell("a")] });
  iterative.ends("a");
  expect(stored(iterative.run).workflow_type).toEqual({ kind: "Iterative", max_iterations: 3, current_iteration: 2 });
  const map = { input: { kind: "file", path: "x" }, max_parallel: 1, steps: [shell("m")] } as const;
  const mapping = new Story({ mode: "mapreduce", setup: [shell("s")], map, reduce: [shell("r")] });
  expect(state(mapping)).toEqual({ kind: "BeforeStep", step_index: 0 });
  mapping.ends("s");
  mapping.say({ kind: "items-read", from: 0, items: [1, 2], last: true });
  mapping.ends("m", 1);
  const { workflow_type, mapreduce_state } = stored(mapping.run);
  expect([workflow_type, mapreduce_state?.phase, mapreduce_state?.failed, mapreduce_state?.active.length]).toEqual([
    { kind: "MapReduce", job_id: "r1" },
    "map",
    1,
    1,
  ]);
  expect(state(mapping)).toEqual({ kind: "BeforeStep", step_index: 1 });
  mapping.ends("m");
  expect(state(mapping)).toEqual({ kind: "BeforeStep", step_index: 2 });
});

test("UC-2(a,b) UC-3(a,b) AC2 AC3 AC4 before each step and after each success", () => {
  const story = new Story(steps);
  const states: [string, string][] = [];
  story.ends("a", 0, "1");
  story.ends("b");
  story.ends("c");
  let run: Run | undefined;
  for (const event of story.eventsFrom()) {
    run = applyWorkflow(run, event);
    const reason = reasonOf(event);
    if (reason !== undefined) states.push([reason, `${checkpointState(run).kind} ${checkpointState(run).step_index}`]);
  }
  expect(states).toEqual([
    ["BeforeStep", "BeforeStep 0"],
    ["AfterStep", "Completed 0"],
    ["BeforeStep", "BeforeStep 1"],
    ["AfterStep", "Completed 1"],
    ["BeforeStep", "BeforeStep 2"],
    ["AfterStep", "Completed 2"],
  ]);
  expect(state(story)).toEqual({ kind: "Completed", step_index: 2, output: "" });
});

test("UC-2(a) AC5 on failure", () => {
  const story = new Story(steps);
  story.ends("a");
  story.ends("b", 7);
  const error = "It ended with exit code 7.";
  expect(state(story)).toEqual({ kind: "Failed", step_index: 1, error, retryable: true });
});

test("UC-2(a) AC6 on a signal: in progress if a step was, otherwise not", () => {
  const story = new Story(steps);
  story.ends("a");
  story.say({ kind: "interrupt" });
  expect(state(story)).toEqual({ kind: "Interrupted", step_index: 1, in_progress: true });
  story.ends("b", 130);
  expect(state(story)).toEqual({ kind: "Interrupted", step_index: 1, in_progress: true });
  const sets = Array.from({ length: IN_PROCESS_A_TURN + 1 }, (_, at) => set(`s${at}`, { x: at }));
  const between = new Story(sets);
  between.say({ kind: "interrupt" });
  expect(state(between)).toEqual({ kind: "Interrupted", step_index: IN_PROCESS_A_TURN - 1, in_progress: false });
});

/** The events of a random run: what can happen next happens in any order, and time passes only if nothing else can. */
function randomRun(definition: Definition, items: readonly Json[], random: SimRandom): WorkflowEvent[] {
  const story = new Story(definition.flow, definition);
  while (!isOver(story.run)) {
    const effects = effectsOf(story.run);
    const nows = effects.filter(({ kind }) => kind !== "timer");
    const running = attemptsOf(story.run).filter(({ state: { kind } }) => kind === "running");
    const next = random.pick([...running, ...(nows.length + running.length > 0 ? nows : effects)]);
    if ("kind" in next) performOne(story, next, items);
    else {
      const end = { code: random.chance(0.7) ? 0 : 1, signal: null, output: { text: "1\n", bytes: 2 } };
      story.say({ kind: "attempt-ended", attempt: next.id, ...end });
    }
  }
  return story.eventsFrom();
}

const PAGE = 3;

function performOne(story: Story, effect: WorkflowEffect, items: readonly Json[]): void {
  const child = { pid: 7, startTime: 1, bootId: "b" };
  if (effect.kind === "start") story.say({ kind: "attempt-running", attempt: effect.attempt, child, holder: 1 });
  else if (effect.kind === "advance") story.say({ kind: "advance" });
  else if (effect.kind === "read-items") {
    const page = items.slice(effect.from, effect.from + PAGE);
    const last = effect.from + page.length >= items.length;
    story.say({ kind: "items-read", from: effect.from, items: page, last });
  } else if (effect.kind === "timer") {
    story.now = Math.max(story.now, Date.parse(effect.at));
    story.say({ kind: "wake" });
  } else throw new Error(`nothing stops this run, but ${effect.kind}`);
}

test("K1 the checkpoint of a random run, at random moments, equals that run", () => {
  fc.assert(
    fc.property(definitions, itemLists, fc.nat(), (definition, items, seed) => {
      const random = new SimRandom(seed);
      let run: Run | undefined;
      for (const event of randomRun(definition, items, random)) {
        run = applyWorkflow(run, event);
        if (random.chance(0.2))
          expect(JSON.stringify(stored(fromCheckpoint(stored(run))))).toBe(JSON.stringify(stored(run)));
      }
    }),
    { numRuns: 40, seed: PROFILE.seed },
  );
});

test("UC-8(a) a random run continues with the step that the plan of its checkpoint names", () => {
  fc.assert(
    fc.property(definitions, fc.nat(), (definition, seed) => {
      const { flow } = definition;
      if (flow.mode === "mapreduce") return;
      const indexOf = (id: string) =>
        flow.steps.findIndex(({ id: own, on_failure }) => own === id || on_failure?.some((one) => one.id === id));
      let run: Run | undefined;
      for (const event of randomRun(definition, [], new SimRandom(seed))) {
        const planned = run && planResume(stored(run), none).start_index;
        run = applyWorkflow(run, event);
        if (event.event !== "workflow.attempt.started" && event.event !== "workflow.step.ended") continue;
        expect(indexOf(event.data.step)).toBe(planned ?? -1);
      }
    }),
    { numRuns: 40, seed: PROFILE.seed },
  );
});

const none = (): Evidence => ({ kind: "not-started" });

test("UC-8(a,c,d) AC9 AC10 planResume: BeforeStep runs it, Completed the next, Failed and Interrupted retry", () => {
  const story = new Story(steps);
  const plan = (evidence: Evidence = none()) => {
    const { attempts: _, ...rest } = planResume(stored(story.run), () => evidence);
    return { ...rest, variables: toRecord(fromCheckpoint(stored(story.run)).variables) };
  };
  expect(plan()).toEqual({ start_index: 0, retry_current: true, skip_steps: [], variables: {} });
  story.ends("a", 0, "1");
  story.ends("b", 1);
  expect(plan()).toEqual({ start_index: 1, retry_current: true, skip_steps: [0], variables: { x: "1" } });
  story.say({ kind: "resume", force: false });
  story.say({ kind: "interrupt" });
  story.ends("b", 130);
  expect(plan()).toEqual({ start_index: 1, retry_current: true, skip_steps: [0], variables: { x: "1" } });
  story.say({ kind: "resume", force: false });
  story.ends("b");
  story.ends("c");
  expect(plan()).toEqual({ start_index: 3, retry_current: false, skip_steps: [0, 1, 2], variables: { x: "1" } });
  const hopeless = new Story([shell("a", { when: "nothing" })]);
  expect(planResume(stored(hopeless.run), none).retry_current).toBe(false);
});

const gone: Evidence = { kind: "uncertain", reason: "gone" };

test.each([
  [{ kind: "not-started" }, {}, "run", true],
  [{ kind: "running" }, {}, "adopt", false],
  [{ kind: "ended", code: 0, signal: null }, {}, "take-up", false],
  [gone, {}, "ask", false],
  [gone, { idempotent: true }, "rerun", true],
  [gone, { on_uncertain: "fail" }, "fail", false],
  [gone, { on_uncertain: "ask", idempotent: true }, "ask", false],
] as const)("UC-8(b) evidence %j of a step with %j: %s", (evidence, more, action, retry) => {
  const story = new Story([shell("a", more)]);
  const plan = planResume(stored(story.run), () => evidence);
  expect([plan.attempts, plan.retry_current]).toEqual([
    [{ attempt: "r1.1", step: "a", item: undefined, action }],
    retry,
  ]);
});

test("UC-8(b) an attempt seen running is not run again because its claim is missing", () => {
  const story = new Story([shell("a")]);
  story.say({ kind: "attempt-running", attempt: "r1.1", child: { pid: 1, startTime: 1, bootId: "b" }, holder: 2 });
  expect(planResume(stored(story.run), none).attempts[0]?.action).toBe("ask");
});

test("UC-8(b) each item of a map is planned by its own evidence", () => {
  const map = { input: { kind: "file", path: "x" }, max_parallel: 2, steps: [shell("m")] } as const;
  const story = new Story({ mode: "mapreduce", setup: [], map, reduce: [] });
  story.say({ kind: "items-read", from: 0, items: [1, 2], last: true });
  const plan = planResume(stored(story.run), (attempt) => (attempt === "r1.1" ? { kind: "running" } : gone));
  expect(plan.attempts.map(({ item, action }) => [item, action])).toEqual([
    [0, "adopt"],
    [1, "ask"],
  ]);
});

test("a stored event or checkpoint with a missing field is rejected", () => {
  expect(workflowEventOf({ session_id: "r", event: "workflow.later", data: {} })).toBeUndefined();
  expect(() => workflowEventOf({ session_id: "r", event: "workflow.resumed", data: {} })).toThrow(
    "workflow.resumed of r has no at",
  );
  expect(workflowEventOf({ session_id: "r", event: "workflow.resumed", data: { at: "x", more: 1 } })).toMatchObject({
    id: "r",
  });
  const whole = JSON.parse(JSON.stringify(toCheckpoint(new Story([shell("a")]).run, "Manual", "now")));
  expect(workflowCheckpointOf({ ...whole, run: undefined, reason: undefined }, SEAL)).toBeDefined();
  const { run: _run, ...without } = whole;
  expect([workflowCheckpointOf(without, SEAL), workflowCheckpointOf([], SEAL)]).toEqual([undefined, undefined]);
});

test("an event of a run that was never created does not fold", () => {
  expect(() => applyWorkflow(undefined, { event: "workflow.resumed", id: "r", data: { at: "x" } })).toThrow(
    "never created",
  );
});
