import { describe, expect, test } from "bun:test";
import { BARS, NAMES, namesBelow } from "../../bench/benches.ts";
import { withOneAStep } from "../../bench/one-a-commit.ts";
import { startOf } from "../../bench/processes.ts";
import { countRow, toJson } from "../../bench/row.ts";
import { begun, executedTwice, reached } from "../../bench/step-lines.ts";
import { mostStepsInACommit, workflowFile } from "../../bench/workflow-runner.ts";
import { readText } from "../../scripts/files.ts";
import { stepsOf } from "../../src/core/workflow/definition.ts";
import { IN_PROCESS_A_TURN } from "../../src/core/workflow/limits.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";

describe("what steps left in the world", () => {
  const text = "a 0\nb 0\na 1\nb 1\nb 1\na 0\nb 2";

  test("a step with two lines was executed twice, one with three as well", () => {
    expect(executedTwice(text)).toBe(2);
    expect(executedTwice("a 0\na 0\na 0\n")).toBe(1);
    expect(executedTwice("a 1\na 11\nb 1\n")).toBe(0);
  });

  test("a line that is half written does not count yet", () => {
    expect(reached(text, 2)).toBe(0);
    expect(reached(`${text}\n`, 2)).toBe(1);
    expect(executedTwice("a 1\na 1")).toBe(0);
  });

  test("every line is a step that its workflow began", () => {
    expect([...begun(text)]).toEqual([
      ["a", 3],
      ["b", 3],
    ]);
  });
});

describe("the workflow that is measured", () => {
  const read = (command: string | null) => {
    const file = new TextEncoder().encode(workflowFile({ ids: [], steps: 3, command }));
    const definition = readWorkflow(file, "bench");
    if (!definition.ok) throw new Error(JSON.stringify(definition.error));
    return stepsOf(definition.value, "steps");
  };

  test("it has as many steps as were asked for, in process or in a shell", () => {
    expect(read(null).map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
    expect(read('echo "$WORKFLOW $STEP" >> file; : < gate').length).toBe(3);
  });
});

describe("how many steps share a commit", () => {
  const step = (id: string) => `"session_id":"${id}","ts":"t","event":"workflow.step.ended"`;

  test("it is read from the log: the most steps of the run in one line, which may have those of others", () => {
    const segments = [
      `1\ta\t${step("a")}\ta\t${step("a")}\tb\t${step("b")}\n2\ta\t${step("a")}\n`,
      `3\tb\t${step("b")}\n\0\0`,
    ];
    expect([mostStepsInACommit(segments, "a"), mostStepsInACommit(segments, "b")]).toEqual([2, 1]);
    expect(() => mostStepsInACommit(segments, "c")).toThrow("no step of run c");
  });

  test("the installation with one step in each has only that number changed", () => {
    const changed = withOneAStep(readText("src/core/workflow/limits.ts"));
    expect(changed.replace("IN_PROCESS_A_TURN = 1;", `IN_PROCESS_A_TURN = ${IN_PROCESS_A_TURN};`)).toBe(
      readText("src/core/workflow/limits.ts"),
    );
    expect(changed).toContain("export const IN_PROCESS_A_TURN = 1;\n");
    expect(() => withOneAStep(changed.replaceAll("IN_PROCESS_A_TURN", "X"))).toThrow("how many steps share a commit");
  });
});

test("a process is known by its start, and one that is gone has none", () => {
  expect(startOf(process.pid)).toBeGreaterThan(0);
  expect(startOf(process.pid)).toBe(startOf(process.pid));
  expect(startOf(2 ** 30)).toBeUndefined();
});

test("a count of none has a ratio that is a number", () => {
  const row = countRow({ name: "x", value: 0, peer: "y", peerValue: 24 }, "steps");
  expect(JSON.parse(toJson([row]))[0].ratio).toBe(25);
});

test("every bar has a published figure, or is listed as one without", () => {
  const measured = readText("docs/BENCHMARKS.md").split("\n## Measured\n")[1]?.split("\n## ")[0] ?? "";
  expect(measured).toMatch(/^\nOn \d{1,2} [A-Z][a-z]+ \d{4}, /);
  const named = measured.split("\n").flatMap((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? []);
  const [figures = "", without = ""] = measured.split("### Bars without a published figure");
  expect(without).toMatch(/^\n\nAs of \d{1,2} [A-Z][a-z]+ \d{4} /);
  const isNamed = (bar: string) => named.some((name) => bar === name || bar.startsWith(`${name}.`));
  expect([...BARS.keys()].filter((bar) => !isNamed(bar))).toEqual([]);
  expect([...BARS.keys()].filter((bar) => figures.includes(`\`${bar}\``) && without.includes(`| \`${bar}\``))).toEqual(
    [],
  );
});

test("RS-7(b) our own bars for 25 terminals are far below the document's ten seconds, and the published figures meet them", () => {
  const page = readText("docs/BENCHMARKS.md");
  for (const name of ["recovery.daemon.25", "recovery.machine.25"]) {
    const bar = BARS.get(name);
    const atMost = bar?.of === "value" && "atMost" in bar ? bar.atMost : 0;
    const published = new RegExp(`^\\| \`${name}\` \\| (\\d+) ms`, "m").exec(page)?.[1];
    expect(Number(published)).toBeLessThanOrEqual(atMost);
    expect(atMost).toBeLessThanOrEqual(2_000);
  }
});

test("every bar is one of a benchmark, and a name stands for all below it", () => {
  expect([...BARS.keys()].filter((name) => !NAMES.includes(name))).toEqual([]);
  expect(namesBelow("workflow.recover.25.dbos")).toEqual([
    "workflow.recover.25.dbos",
    "workflow.recover.25.dbos.twice",
  ]);
  expect(namesBelow("workflow.steps.1.langgraph")).toEqual(["workflow.steps.1.langgraph"]);
});
