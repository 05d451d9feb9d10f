import { describe, expect, test } from "bun:test";
import { BARS, NAMES, namesBelow } from "../../bench/benches.ts";
import { countRow, toJson } from "../../bench/row.ts";
import { begun, executedTwice, reached } from "../../bench/step-lines.ts";
import { workflowFile } from "../../bench/workflow-runner.ts";
import { stepsOf } from "../../src/core/workflow/definition.ts";
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

test("a count of none has a ratio that is a number", () => {
  const row = countRow({ name: "x", value: 0, peer: "y", peerValue: 24 }, "steps");
  expect(JSON.parse(toJson([row]))[0].ratio).toBe(25);
});

test("every bar is one of a benchmark, and a name stands for all below it", () => {
  expect([...BARS.keys()].filter((name) => !NAMES.includes(name))).toEqual([]);
  expect(namesBelow("workflow.recover.25.dbos")).toEqual([
    "workflow.recover.25.dbos",
    "workflow.recover.25.dbos.twice",
  ]);
  expect(namesBelow("workflow.steps.1.langgraph")).toEqual(["workflow.steps.1.langgraph"]);
});
