// What a run keeps of iterations that are long over (src/core/workflow/past.ts).
import { expect, test } from "bun:test";
import { toRecord } from "../../src/base/table.ts";
import { fromCheckpoint, toCheckpoint, type WorkflowCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { ITERATIONS_KEPT, MAX_ITERATIONS } from "../../src/core/workflow/limits.ts";
import { endedSteps, recordAt } from "../../src/core/workflow/past.ts";
import { rollbackTo } from "../../src/core/workflow/rollback.ts";
import { attemptsOf, type Run } from "../../src/core/workflow/run.ts";
import { recordsOf } from "../../src/wire/rpc/listed-run.ts";
import { Story, set, shell } from "./stories.ts";

const STEPS = [
  set("count", { n: "${iteration}" }),
  shell("work", { capture: { out: "stdout" } }),
  set("once", { first: "${iteration}" }, { when: "iteration == 1" }),
];
const FLOW = { mode: "iterative", max_iterations: MAX_ITERATIONS, steps: STEPS } as const;

/** A run, and its checkpoints after each iteration. */
class Endless extends Story {
  readonly saved: WorkflowCheckpoint[] = [];

  constructor() {
    super(FLOW);
  }

  goOn(through: number): this {
    for (let at = this.run.main.place.iteration; at <= through; at += 1) {
      this.later(1000).ends("work", 0, `output ${at}`);
      this.saved[at] = toCheckpoint(this.run, "AfterStep", new Date(this.now).toISOString());
    }
    return this;
  }

  interrupt(): this {
    this.say({ kind: "interrupt" });
    this.ends("work", 130);
    return this;
  }

  /** Back to the end of this iteration. */
  back(iteration: number) {
    const saved = this.saved[iteration];
    if (saved === undefined) throw new Error("there is a checkpoint of each iteration");
    return rollbackTo(this.run, saved);
  }

  rolledBack(iteration: number): this {
    const back = this.back(iteration);
    if (!back.ok) throw new Error(back.error.message);
    expect(this.say(back.value.command)).toEqual(["rolledback"]);
    return this;
  }
}

const sizeOf = (checkpoint: WorkflowCheckpoint | undefined) => JSON.stringify(checkpoint).length;

/** As text, in which the names of variables are sorted. */
function shown(run: Run): unknown {
  return JSON.parse(JSON.stringify(toCheckpoint(run, "Manual", "")));
}

test("a run that never ends keeps the steps of its last iterations, and the number of all: it does not grow", () => {
  const story = new Endless().goOn(20 * ITERATIONS_KEPT - 1);
  const [early, late] = [2 * ITERATIONS_KEPT - 1, 20 * ITERATIONS_KEPT - 1].map((at) => story.saved[at]);
  expect(sizeOf(late)).toBeLessThan(1.1 * sizeOf(early));
  expect(endedSteps(story.run)).toBe(3 * (20 * ITERATIONS_KEPT - 1) + 1);
  expect(story.run.records.length).toBeGreaterThanOrEqual(3 * ITERATIONS_KEPT);
  const { from, records } = recordsOf(story.run, 0);
  expect([from, records[0]?.iteration]).toEqual([story.run.past.steps, 18 * ITERATIONS_KEPT + 1]);
  expect(recordAt(story.run, from - 1)).toBeUndefined();
  expect(story.variables).toMatchObject({ first: 1, out: `output ${20 * ITERATIONS_KEPT - 1}` });
  const before = shown(story.run);
  expect(shown(story.restart().run)).toEqual(before);
});

test("K1 a fold that begins with any checkpoint gives the same run as the whole log", () => {
  const story = new Endless().goOn(ITERATIONS_KEPT - 2);
  for (let more = 0; more < ITERATIONS_KEPT + 4; more += 1) {
    story.goOn(story.run.main.place.iteration);
    const before = shown(story.run);
    story.save();
    expect(shown(story.restart().run)).toEqual(before);
  }
  const saved = story.saved[2 * ITERATIONS_KEPT];
  if (saved === undefined) throw new Error("it is saved after each iteration");
  expect(toRecord(fromCheckpoint(saved).past.variables)).toMatchObject({ first: 1, n: ITERATIONS_KEPT });
});

test("no attempt that may be asked for is let go", () => {
  const story = new Endless().goOn(3 * ITERATIONS_KEPT);
  // One attempt an iteration.
  expect(story.run.past.attempts).toBe(2 * ITERATIONS_KEPT);
  story.interrupt().rolledBack(3 * ITERATIONS_KEPT - 5);
  story.say({ kind: "resume", force: false });
  story.goOn(3 * ITERATIONS_KEPT);
  expect(story.run.past.attempts).toBe(2 * ITERATIONS_KEPT); // PS3
  expect(attemptsOf(story.run).map(({ id }) => Number(id.split(".")[1]))).toEqual([story.run.attempts]);
});

test("a rollback to a time that is kept, and to one that is not, gives the run as it was then", () => {
  for (const to of [4 * ITERATIONS_KEPT - 3, ITERATIONS_KEPT - 7]) {
    const story = new Endless().goOn(4 * ITERATIONS_KEPT).interrupt();
    const then = story.saved[to];
    story.rolledBack(to).restart();
    expect(story.variables).toEqual(then?.variables ?? {});
    expect(endedSteps(story.run)).toBe(3 * to + 1);
    expect(story.run.main.place).toMatchObject({ iteration: to + 1, index: 1 });
    story.say({ kind: "resume", force: false });
    story.goOn(to + 1);
    expect(story.variables).toMatchObject({ first: 1, n: to + 2, out: `output ${to + 1}` });
    expect(endedSteps(story.run)).toBe(3 * (to + 1) + 1);
  }
});

test("after such a rollback the steps of that iteration count as done if the file changes", () => {
  const story = new Endless().goOn(4 * ITERATIONS_KEPT).interrupt();
  story.rolledBack(3);
  const flow = { ...FLOW, steps: [shell("new"), ...STEPS] };
  expect(story.say({ kind: "change", definition: { name: "story", flow }, sourceSha256: "1" })).toEqual(["changed"]);
  story.restart().say({ kind: "resume", force: false });
  story.ends("new");
  expect(story.attempts).toEqual([`r1.${story.run.attempts} work starting`]);
});

test("RB1 a checkpoint of undone steps that are not kept any more is not part of the run's past", () => {
  const story = new Endless().goOn(2 * ITERATIONS_KEPT).interrupt();
  const undone = story.saved[2 * ITERATIONS_KEPT - 10];
  story.rolledBack(2 * ITERATIONS_KEPT - 20);
  story.say({ kind: "resume", force: false });
  story.goOn(4 * ITERATIONS_KEPT).interrupt();
  if (undone === undefined) throw new Error("it is saved after each iteration");
  expect(rollbackTo(story.run, undone)).toMatchObject({ ok: false, error: { code: "undone" } });
  expect(story.back(2 * ITERATIONS_KEPT)).toMatchObject({ ok: true });
});

test("what a rollback undoes is counted, even if it is not kept", () => {
  const story = new Endless().goOn(4 * ITERATIONS_KEPT).interrupt();
  const back = story.back(3);
  if (!back.ok) throw new Error(back.error.message);
  expect(back.value.unlisted + back.value.steps.length).toBe(endedSteps(story.run) - 10);
});
