// The input and output of a step: parameters, launches, captures.
import { expect, test } from "bun:test";
import { itemPages } from "../../src/core/workflow/items.ts";
import { launchOf } from "../../src/core/workflow/launch.ts";
import { parameterFrom } from "../../src/core/workflow/parameters.ts";
import { bytes } from "../world/places.ts";
import { Story, set, shell } from "./stories.ts";

test("captures: JSON, a path, the exit code, and what is refused", () => {
  const capture = { all: "json", one: "$.a[1]", code: "exit_code" };
  const story = new Story([shell("a", { capture })]);
  story.ends("a", 0, '{"a":[1,2]}\n');
  expect(story.variables).toEqual({ all: { a: [1, 2] }, one: 2, code: 0 });
  const wrong = new Story([shell("a", { capture })]);
  wrong.ends("a", 0, "no json");
  const { status } = wrong.run;
  expect(status.kind === "failed" ? status.error.message : status).toBe("The output for all is not JSON.");
});

test("what a step is launched with", () => {
  const env = { A: "${p}", B: "b" };
  const step = shell("a", { env: { B: "${p + 1}" }, cwd: "sub/${p}" });
  const parameters = { p: { type: "number", default: 1 } } as const;
  const story = new Story([{ ...step, work: { kind: "shell", command: "echo ${p} ${file(p)}" } }], { env, parameters });
  const launch = launchOf(story.run, "r1.1", "/attempt");
  expect(launch.ok ? launch.value : launch.error).toEqual({
    kind: "program",
    argv: ["/bin/sh", "-e", "-c", 'echo "${HOLDFAST_VALUE_1}" "${HOLDFAST_VALUE_2}"'],
    cwd: "/w/sub/1",
    env: {
      ...{ A: "1", B: "2", HOLDFAST_RUN: "r1", HOLDFAST_STEP: "a", HOLDFAST_ATTEMPT: "r1.1", HOLDFAST_TRY: "1" },
      ...{ HOLDFAST_KEY: "r1/a/1", HOLDFAST_VALUE_1: "1", HOLDFAST_VALUE_2: "/attempt/file-1" },
    },
    files: [{ path: "/attempt/file-1", text: "1" }],
    secrets: {},
  });
  expect(launchOf(story.run, "r1.9", "/").ok).toBe(false);
});

test("an agent gets its prompt as text and each argument of its command unchanged", () => {
  const work = { kind: "agent", provider: "scripted", prompt: "Do ${x}", command: ["./a", "--x=${x}"] } as const;
  const story = new Story([set("s", { x: "a b; rm" }), { id: "a", work }], { interpreter: ["bash", "-c"] });
  const launch = launchOf(story.run, "r1.1", "/");
  expect(launch.ok && launch.value.kind === "agent" ? [launch.value.prompt, launch.value.argv] : launch).toEqual([
    "Do a b; rm",
    ["./a", "--x=a b; rm"],
  ]);
});

test("a value that fits no environment fails the step before it starts, with a next step", () => {
  const story = new Story([
    set("s", { x: "y".repeat(130_000) }),
    { ...shell("a"), work: { kind: "shell", command: "echo ${x}" } },
  ]);
  const { status } = story.run;
  expect(status.kind === "failed" ? status.error.message : status).toContain("too long for a program's environment");
  const large = new Story([set("s", { x: "y".repeat(300_000) })]);
  expect(large.state).toBe("failed");
});

test("parameters are checked before anything happens", () => {
  const parameters = {
    n: { type: "number", required: true },
    s: { type: "string", default: "x" },
    o: { type: "list" },
  } as const;
  const make = (given: Record<string, number | string>) => new Story([shell("a")], { parameters }, given);
  expect(make({ n: 1 }).variables).toEqual({ n: 1, s: "x" });
  expect(() => make({})).toThrow("The parameter n is missing.");
  expect(() => make({ n: "one" })).toThrow('The parameter n is "one".');
  expect(() => make({ n: 1, m: 2 })).toThrow("The workflow has no parameter m.");
});

test("the exit code of a failed step is captured as well, for workflows that continue", () => {
  const story = new Story([
    shell("a", { capture: { code: "exit_code", x: "stdout" }, continue_on_error: true }),
    shell("b"),
  ]);
  story.ends("a", 3, "out");
  expect(story.variables).toEqual({ code: 3 });
});

test("a captured value and an item's result fit a transaction in any encoding", () => {
  const story = new Story([shell("a", { capture: { x: "stdout", y: "stdout" } })]);
  const text = "\u0001".repeat(40_000);
  story.say({ kind: "attempt-ended", attempt: "r1.1", code: 0, signal: null, output: { text, bytes: 40_000 } });
  const { status } = story.run;
  expect(status.kind === "failed" ? status.error.message : status).toContain("bytes were captured");
  const flood = new Story([shell("a", { capture: { x: "stdout" } })]);
  flood.say({ kind: "attempt-ended", attempt: "r1.1", code: 0, signal: null, output: { text: "end", bytes: 1 << 30 } });
  expect(flood.state).toBe("failed");
  const path = new Story([shell("a", { capture: { x: "$.no" } })]);
  path.ends("a", 0, "{}");
  expect(path.state).toBe("failed");
});

test("text from the command line is converted to the parameter's type", () => {
  const parameters = { n: { type: "number" }, s: { type: "string" }, l: { type: "list" } } as const;
  const given = (name: string, text: string) =>
    parameterFrom({ name: "x", parameters, flow: { mode: "standard", steps: [] } }, name, text);
  expect([given("n", "5"), given("s", "5"), given("l", "[1]"), given("n", "five"), given("other", "1")]).toEqual([
    5,
    "5",
    [1],
    "five",
    "1",
  ]);
});

test("a value that contains a NUL fails the step: no program could receive it", () => {
  const story = new Story([set("s", { x: "a\u0000b" }), { id: "a", work: { kind: "shell", command: "echo ${x}" } }]);
  expect(story.state).toBe("failed");
});

test("the largest accepted end of a step fits one transaction of the log", () => {
  const steps = [shell("a", { capture: { x: "stdout" } }), set("b", { y: "${x}" }), shell("c")];
  const map = { input: { kind: "file", path: "x" }, max_parallel: 1, steps } as const;
  const story = new Story({ mode: "mapreduce", setup: [], map, reduce: [] });
  story.say({ kind: "items-read", from: 0, items: [1], last: true });
  const text = "ä".repeat(125_000);
  const events = story.say({
    kind: "attempt-ended",
    attempt: "r1.1",
    code: 0,
    signal: null,
    output: { text, bytes: 250_000 },
  });
  expect(events).toEqual(["attempt.ended", "step.ended", "step.ended", "attempt.started"]);
  expect(new TextEncoder().encode(story.log.at(-1)).length).toBeLessThan(1_000_000);
  const items = Array.from({ length: 500 }, () => "\u0001".repeat(1000));
  const pages = itemPages(story.run, { kind: "text", bytes: bytes(JSON.stringify(items)) }, 0);
  const lengths = pages.ok ? pages.value.map(({ length }) => length) : [];
  expect(lengths.length).toBeGreaterThan(1);
  expect(Math.max(...lengths)).toBeLessThan(70_000);
});
