import { expect, test } from "bun:test";
import type { Json } from "../../src/base/json.ts";
import { ok } from "../../src/base/result.ts";
import { deadLetters } from "../../src/core/workflow/decide-queue.ts";
import type { Flow, MapPhase } from "../../src/core/workflow/definition.ts";
import { allItems } from "../../src/core/workflow/item-list.ts";
import { inputPlace, itemPages } from "../../src/core/workflow/items.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import { deadLettersOf } from "../../src/wire/rpc/listed-run.ts";
import { bytes } from "../world/places.ts";
import { Story, set, shell } from "./stories.ts";

function mapOf(
  more: Partial<MapPhase> = {},
  reduce = [set("r", { good: "${map.successful}", bad: "${map.failed}" })],
): Flow {
  const map = { input: { kind: "file", path: "x.json" }, max_parallel: 2, steps: [shell("m")], ...more } as const;
  return { mode: "mapreduce", setup: [], map, reduce };
}

function reading(items: readonly number[], more: Partial<MapPhase> = {}): Story {
  const story = new Story(mapOf(more));
  story.say({ kind: "items-read", from: 0, items, last: true });
  return story;
}

const kinds = (story: Story) => allItems(story.run.items.all).map(({ state }) => state.kind);

test("at most max_parallel items are in progress; each end starts the next in the same transaction", () => {
  const story = reading([1, 2, 3]);
  expect(story.attempts).toEqual(["r1.1 m starting", "r1.2 m starting"]);
  expect(story.ends("m")).toEqual(["attempt.ended", "step.ended", "item.ended", "item.started", "attempt.started"]);
  expect(kinds(story)).toEqual(["succeeded", "active", "active"]);
});

test("UC-11(a) pages of the list follow one after the other, and a repeat is dropped", () => {
  const story = new Story(mapOf());
  expect(story.effects).toEqual(["read-items 0 "]);
  expect(story.say({ kind: "items-read", from: 0, items: [1], last: false })).toEqual(["items.found"]);
  expect(story.say({ kind: "items-read", from: 0, items: [1], last: false })).toEqual([]);
  expect(story.restart().effects).toEqual(["read-items 1 "]);
  expect(story.say({ kind: "items-read", from: 1, items: [2], last: true })).toContain("attempt.started");
});

test("a list produced by a command is read from that attempt's output", () => {
  const story = new Story(mapOf({ input: { kind: "command", command: "ls" } }));
  expect(story.attempts).toEqual(["r1.1 map.input starting"]);
  story.ends("map.input", 0, "a\nb\n");
  expect(story.restart().effects).toEqual(["read-items 0 r1.1"]);
  const failed = new Story(mapOf({ input: { kind: "command", command: "ls" } }));
  failed.ends("map.input", 2);
  expect(failed.state).toBe("failed");
  failed.say({ kind: "resume", force: false });
  expect(failed.attempts).toEqual(["r1.2 map.input starting"]);
});

test("a list that cannot be read fails the run, and resume reads it again", () => {
  const story = new Story(mapOf());
  story.say({ kind: "input-failed", reason: "There is no x.json." });
  expect(story.state).toBe("failed");
  story.say({ kind: "resume", force: false });
  expect(story.effects).toEqual(["read-items 0 "]);
});

test("UC-11(b) failed items go to the dead-letter queue, and the run continues with reduce", () => {
  const story = reading([1, 2, 3]);
  story.ends("m", 1);
  story.ends("m");
  story.ends("m");
  const end = [story.state, story.variables, deadLetters(story.run)];
  expect(end).toEqual(["done_with_failures", { bad: 1, good: 2 }, [0]]);
  expect(deadLettersOf(story.restart().run, 0).letters).toMatchObject([{ item: 0, step: "m", attempt: "r1.1" }]);
});

test.each([
  ["a number of items", { items: 1 }, "2 of 4 items have failed, and max_failures is 1."],
  ["a share of the items", { percent: 25 }, "2 of 4 items have failed, and max_failures is 25%."],
] as const)(
  "max_failures as %s: with one more no item is started, the run fails, and dlq retry continues it",
  (...row) => {
    const [, max_failures, message] = row;
    const story = reading([1, 2, 3, 4], { max_failures, max_parallel: 1 });
    story.ends("m", 1);
    expect(story.state).toBe("running");
    story.ends("m", 1);
    expect([story.state, kinds(story)]).toEqual(["failed", ["failed", "failed", "pending", "pending"]]);
    expect(story.run.status).toMatchObject({ error: { step: "map", message } });
    expect(story.restart().say({ kind: "resume", force: false })).toBe("not-retryable");
    expect(story.say({ kind: "dlq-retry", items: [1] })).toContain("attempt.started");
    for (const _ of [1, 2, 3]) story.ends("m");
    expect([story.state, story.variables]).toEqual(["done_with_failures", { bad: 1, good: 3 }]);
  },
);

test("a single item is retried although too many others have failed; if it fails again, so does the run", () => {
  const story = reading([1, 2, 3], { max_failures: { items: 0 }, max_parallel: 2 });
  story.ends("m", 1);
  story.ends("m", 1);
  expect(story.say({ kind: "dlq-retry", items: [0] })).toContain("attempt.started");
  story.ends("m", 1);
  expect([story.state, kinds(story)]).toEqual(["failed", ["failed", "failed", "pending"]]);
});

test("UC-11(b) the queue is retried, also after the end: then reduce runs again", () => {
  const story = reading([1, 2]);
  story.ends("m", 1);
  story.ends("m", 1);
  expect(story.say({ kind: "dlq-retry", items: [7] })).toBe("not-in-queue");
  expect(story.restart().say({ kind: "dlq-retry", items: "all" })).toContain("dlq.retried");
  expect([story.state, kinds(story)]).toEqual(["running", ["active", "active"]]);
  story.ends("m");
  story.ends("m", 1);
  expect([story.state, story.variables]).toEqual(["done_with_failures", { bad: 1, good: 1 }]);
  expect(story.say({ kind: "resume", force: false })).toBe("over");
  expect(story.say({ kind: "dlq-clear", items: "all" })).toEqual(["dlq.cleared"]);
  expect([deadLetters(story.run), story.say({ kind: "dlq-retry", items: "all" })]).toEqual([[], []]);
});

test("UC-11(a,b) a checkpoint has the items to retry", () => {
  const story = reading([1, 2, 3, 4], { max_parallel: 1 });
  story.ends("m", 1);
  story.ends("m", 1);
  story.say({ kind: "dlq-retry", items: "all" });
  story.save();
  story.restart();
  for (const _ of [1, 2, 3, 4]) story.ends("m");
  expect([story.state, story.variables, progressOf(story.run).items]).toEqual([
    "done",
    { bad: 0, good: 4 },
    { total: 4, active: 0, succeeded: 4, failed: 0, complete: true, mayFail: false },
  ]);
});

test("the queue is retried while the map is still running, but not during reduce", () => {
  const story = new Story(
    mapOf(
      {},
      [shell("r")].map((step) => ({ ...step })),
    ),
  );
  story.say({ kind: "items-read", from: 0, items: [1, 2, 3], last: true });
  story.ends("m", 1);
  expect(story.say({ kind: "dlq-retry", items: [0] })).toEqual(["dlq.retried"]);
  story.ends("m");
  expect(story.attempts.map((one) => one.split(" ")[0])).toEqual(["r1.3", "r1.4"]);
  story.ends("m", 1);
  story.ends("m");
  expect(story.attempts).toEqual(["r1.5 r starting"]);
  expect(story.say({ kind: "dlq-retry", items: "all" })).toBe("reducing");
});

test("an uncertain item does not block others; the run is uncertain when nothing else can proceed", () => {
  const story = reading([1, 2, 3], { max_parallel: 1 });
  story.lost("m");
  expect([story.state, kinds(story)]).toEqual(["running", ["active", "active", "pending"]]);
  story.say({ kind: "attempt-ended", attempt: "r1.2", code: 0, signal: null, output: { text: "", bytes: 0 } });
  story.say({ kind: "attempt-ended", attempt: "r1.3", code: 0, signal: null, output: { text: "", bytes: 0 } });
  expect(story.state).toBe("uncertain");
  story.say({ kind: "resolve", attempt: "r1.1", verdict: "done" });
  expect(story.state).toBe("done");
});

test("an interrupted map resumes its items at their steps", () => {
  const story = reading([1, 2, 3], { steps: [shell("m"), shell("n")] });
  story.ends("m");
  story.say({ kind: "interrupt" });
  story.ends("n", 130);
  story.ends("m", 130);
  expect(story.state).toBe("interrupted");
  story.restart().say({ kind: "resume", force: false });
  expect(story.attempts.sort()).toEqual(["r1.4 n starting", "r1.5 m starting"]);
});

test("an item's variables are its own, and its result is its set value or its output", () => {
  const result = {
    id: "x",
    work: { kind: "set", values: { result: { of: "${item}", at: "${item_index}" } } },
  } as const;
  const own = reading([7], { steps: [shell("m"), result] });
  own.ends("m", 0, "text\n");
  while (own.effects.includes("advance")) own.say({ kind: "advance" });
  expect(allItems(own.run.items.all)[0]?.state).toMatchObject({ kind: "succeeded", result: { of: 7, at: 0 } });
  expect(own.variables["result"]).toBeUndefined();
  const written = reading([7]);
  written.ends("m", 0, "text\n");
  expect(allItems(written.run.items.all)[0]?.state).toMatchObject({ result: "text" });
});

test("a list is JSON, a path into it, or lines; filtered, sorted and cut", () => {
  const items = (map: Partial<MapPhase>, text: string) => {
    const found = itemPages(new Story(mapOf(map)).run, { kind: "text", bytes: bytes(text) }, 0);
    return found.ok ? found.value.flatMap((page) => JSON.parse(page)) : found.error.code;
  };
  expect(items({}, "[1, 2]")).toEqual([1, 2]);
  expect(items({}, "a b\n\nc\r\n")).toEqual(["a b", "c"]);
  expect(items({}, "5")).toEqual(["5"]);
  expect(items({}, '{"a": 1}')).toBe("no-list");
  expect(items({ json_path: "$.a[*].n" }, '{"a": [{"n": 2}, {"n": 1}, {}]}')).toEqual([2, 1]);
  expect(items({ json_path: "$.a" }, "a")).toBe("not-json");
  expect(items({ filter: "item > 1" }, "[1, 2, 3]")).toEqual([2, 3]);
  expect(items({ filter: "item.x > 1" }, "[1]")).toBe("unset");
  expect(items({ sort: { by: "item", descending: true }, max_items: 2 }, '["9", 10, "b"]')).toEqual(["b", 10]);
  expect(items({ sort: { by: "item.n", descending: false } }, '[{"n": 2}, {"n": 1}]')).toEqual([{ n: 1 }, { n: 2 }]);
  expect(items({ sort: { by: "item.n", descending: false } }, "[1]")).toBe("unset");
  const glob = itemPages(new Story(mapOf()).run, { kind: "paths", paths: ["b", "a"] }, 0);
  expect(glob).toEqual(ok(['["a","b"]']));
});

test("the list's path is relative to the run's directory; pages of it fit a transaction", () => {
  const place = inputPlace(new Story(mapOf({ input: { kind: "glob", pattern: "src/*.${run.name}" } })).run);
  expect(place.ok ? place.value : place).toEqual({ kind: "glob", path: "/w/src/*.story" });
  const large = Array.from({ length: 10 }, () => "x".repeat(30_000));
  const pages = (items: readonly Json[], from: number) =>
    itemPages(new Story(mapOf()).run, { kind: "text", bytes: bytes(JSON.stringify(items)) }, from);
  const texts = [0, 2, 4, 6, 8].map((at) => JSON.stringify(large.slice(at, at + 2)));
  expect(pages(large, 0)).toEqual(ok(texts));
  expect(pages(large, 8)).toEqual(ok(texts.slice(4)));
  expect(pages([], 0)).toEqual(ok(["[]"]));
  expect(pages(["y".repeat(200_000), 1], 0)).toEqual(ok([JSON.stringify(["y".repeat(200_000)]), "[1]"]));
  expect(pages(["y".repeat(300_000)], 0)).toMatchObject({
    error: { code: "too-long", message: "Item 0 is too long." },
  });
});

test("an empty list goes straight to reduce", () => {
  expect([reading([]).state, reading([]).variables]).toEqual(["done", { bad: 0, good: 0 }]);
});
