import { expect, test } from "bun:test";
import { toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { changesOf } from "../../src/core/workflow/decide-versions.ts";
import type { Definition, Flow, Step } from "../../src/core/workflow/definition.ts";
import { allItems } from "../../src/core/workflow/item-list.ts";
import { masked } from "../../src/core/workflow/masked.ts";
import { rollbackTo } from "../../src/core/workflow/rollback.ts";
import { Story, set, shell } from "./stories.ts";

const flowOf = (steps: readonly Step[]): Definition => ({ name: "story", flow: { mode: "standard", steps } });

function failedAtC(): Story {
  const story = new Story([shell("a", { capture: { x: "stdout" } }), shell("b"), shell("c")]);
  story.ends("a", 0, "1");
  story.ends("b");
  story.ends("c", 1);
  return story;
}

test("a changed file: finished steps with the same id and content stay finished, new and changed ones run", () => {
  const story = failedAtC();
  const changed = flowOf([
    shell("a", { capture: { x: "stdout" } }),
    shell("new"),
    shell("b", { cwd: "sub" }),
    shell("c"),
  ]);
  expect(changesOf(story.run, changed)).toEqual([
    { step: "b", change: "changed", done: true },
    { step: "new", change: "added", done: false },
  ]);
  expect(story.say({ kind: "change", definition: changed, sourceSha256: "1" })).toEqual(["changed"]);
  expect(story.restart().say({ kind: "resume", force: false })).toEqual(["resumed", "step.ended", "attempt.started"]);
  expect(story.attempts).toEqual(["r1.4 new starting"]);
  story.ends("new");
  expect(story.attempts).toEqual(["r1.5 b starting"]);
  expect(story.variables).toEqual({ x: "1" });
});

test("a removed step stays done, and a running run keeps its file", () => {
  const story = failedAtC();
  const changed = flowOf([shell("b"), shell("c")]);
  expect(changesOf(story.run, changed)).toEqual([{ step: "a", change: "removed", done: true }]);
  story.say({ kind: "change", definition: changed, sourceSha256: "1" });
  story.say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.4 c starting"]);
  expect(story.say({ kind: "change", definition: changed, sourceSha256: "2" })).toBe("still-running");
});

test("a file of another mode, or one too large, is not a new version of the run", () => {
  const story = failedAtC();
  const flow: Flow = { mode: "iterative", max_iterations: 1, steps: [shell("a")] };
  expect(story.say({ kind: "change", definition: { name: "x", flow }, sourceSha256: "1" })).toBe("other-mode");
  const large = flowOf([set("a", { x: "y".repeat(1_000_000) })]);
  expect(story.say({ kind: "change", definition: large, sourceSha256: "1" })).toBe("too-large");
});

test("a failure that no retry could change may be retried with a new file", () => {
  const story = new Story([shell("a", { when: "nothing" })]);
  expect(story.say({ kind: "resume", force: false })).toBe("not-retryable");
  story.say({ kind: "change", definition: flowOf([shell("a")]), sourceSha256: "1" });
  expect(story.say({ kind: "resume", force: false })).toEqual(["resumed", "attempt.started"]);
});

test("W3 a new file or a rollback does not make a run forget what is uncertain", () => {
  const story = new Story([shell("a")]);
  story.lost("a");
  const definition = flowOf([shell("a"), shell("b")]);
  expect(story.say({ kind: "change", definition, sourceSha256: "1" })).toBe("uncertain");
  story.say({ kind: "interrupt" });
  expect(story.state).toBe("interrupted");
  expect(story.say({ kind: "change", definition, sourceSha256: "1" })).toBe("uncertain");
  expect(story.say({ kind: "rollback", records: 0, items: 0 })).toBe("uncertain");
  story.say({ kind: "resolve", attempt: "r1.1", verdict: "done" });
  story.say({ kind: "change", definition, sourceSha256: "1" });
  story.say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.2 b starting"]);
});

test("rolling back is an event: the steps and variables of that time, and numbers that keep rising", () => {
  const story = new Story([set("s", { x: 0 }), shell("a", { capture: { x: "stdout" } }), shell("b")]);
  story.ends("a", 0, "1");
  expect(story.say({ kind: "rollback", records: 1, items: 0 })).toBe("still-running");
  story.ends("b", 1);
  expect(story.say({ kind: "rollback", records: 9, items: 0 })).toBe("unknown");
  expect(story.say({ kind: "rollback", records: 1, items: 0 })).toEqual(["rolledback"]);
  expect([story.state, story.variables]).toEqual(["interrupted", { x: 0 }]);
  story.restart().say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.3 a starting"]);
  story.ends("a", 0, "2");
  story.ends("b");
  expect([story.state, story.variables]).toEqual(["done", { x: "2" }]);
});

const mapping: Flow = {
  mode: "mapreduce",
  setup: [set("s", { base: 1 })],
  map: { input: { kind: "file", path: "x" }, max_parallel: 1, steps: [shell("m")] },
  reduce: [set("r", { all: "${map.results}" })],
};

test("RB1 a checkpoint of steps that were themselves undone is not part of the run's past", () => {
  const story = failedAtC();
  const [before, late] = [new Story([shell("a")]), toCheckpoint(story.run, "Manual", "")];
  const back = rollbackTo(story.run, toCheckpoint(before.run, "Manual", ""));
  if (!back.ok) throw new Error(back.error.message);
  expect(story.say(back.value.command)).toEqual(["rolledback"]);
  expect(rollbackTo(story.run, late)).toMatchObject({ ok: false, error: { code: "undone" } });
});

test("rolling back a map takes the items that ended later", () => {
  const story = new Story(mapping);
  story.say({ kind: "items-read", from: 0, items: [1, 2, 3], last: true });
  for (const result of ["one", "two", "three"]) story.ends("m", 0, result);
  expect([story.state, story.variables]).toEqual(["done", { all: ["one", "two", "three"], base: 1 }]);
  story.say({ kind: "rollback", records: 1, items: 1 });
  story.restart().say({ kind: "resume", force: false });
  expect(allItems(story.run.items.all).map(({ state }) => state.kind)).toEqual(["succeeded", "active", "pending"]);
  story.ends("m", 0, "zwei");
  story.ends("m", 0, "drei");
  expect(story.variables["all"]).toEqual(["one", "zwei", "drei"]);
  story.say({ kind: "rollback", records: 0, items: 0 });
  story.say({ kind: "resume", force: false });
  expect([story.run.items.all.length, story.effects]).toEqual([0, ["read-items 0 "]]);
});

test("a map's steps may change between two of its items", () => {
  const story = new Story(mapping);
  story.say({ kind: "items-read", from: 0, items: [1, 2], last: true });
  story.say({ kind: "interrupt" });
  story.ends("m", 130);
  const map = { ...mapping.map, steps: [shell("before"), shell("m")] };
  story.say({ kind: "change", definition: { name: "story", flow: { ...mapping, map } }, sourceSha256: "1" });
  story.restart().say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.2 m starting"]);
  story.ends("m");
  expect(story.attempts).toEqual(["r1.3 before starting"]);
});

test("a rollback to when a file had just changed skips the unchanged steps, and begins with the new one", () => {
  const story = failedAtC();
  const changed = flowOf([shell("new"), shell("a", { capture: { x: "stdout" } }), shell("b"), shell("c")]);
  story.say({ kind: "change", definition: changed, sourceSha256: "1" });
  const then = toCheckpoint(story.run, "Manual", "");
  story.say({ kind: "resume", force: false });
  story.ends("new");
  story.ends("c", 1);
  const back = rollbackTo(story.run, then);
  if (!back.ok) throw new Error(back.error.message);
  expect(back.value.steps.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
    "new succeeded",
    "a kept",
    "b kept",
    "c failed",
  ]);
  expect(story.say(back.value.command)).toEqual(["rolledback"]);
  expect(rollbackTo(story.run, then)).toMatchObject({ ok: false, error: { code: "nothing-to-undo" } });
  story.restart().say({ kind: "resume", force: false });
  expect(story.attempts).toEqual(["r1.6 new starting"]);
  story.ends("new");
  expect([story.attempts, story.variables]).toEqual([["r1.7 c starting"], { x: "1" }]);
});

test("MK1 MK2 a secret by name or form is hidden, also inside other text", () => {
  const shown = masked({
    variables: {
      db_password: "abcdef",
      name: "ann",
      url: "postgres://ann:pw@host/db",
      list: ["x abcdef y"],
      api_key: null,
    },
  });
  expect(shown).toEqual({
    variables: { db_password: "(hidden)", name: "ann", url: "(hidden)", list: ["x (hidden) y"], api_key: null },
  });
});
