// The proof and the soak, without running them: what they remember, what they write down, and what counts as growth.
import { describe, expect, test } from "bun:test";
import { ROOT, readAll, readText } from "../scripts/files.ts";
import { growthTable, judge, type Sample } from "../scripts/growth.ts";
import { readWish } from "../scripts/proof-arguments.ts";
import { PARTS, type Part } from "../scripts/proof-parts.ts";
import {
  begun,
  isFinished,
  readRound,
  readState,
  renewed,
  resultOf,
  seedOf,
  withRound,
  writeState,
} from "../scripts/proof-state.ts";
import { roleOf, toleranceOf } from "../scripts/soak-samples.ts";

const twice: Part = { name: "twice", tries: "something", command: ["x"], until: { rounds: 2 } };
const counting: Part = {
  name: "many",
  tries: "more",
  command: ["y"],
  until: { count: /^n (\d+)/gm, of: "ns", goal: 50 },
};
const well = { counted: 0, failures: 0, seconds: 61 };
const start = begun(undefined, "abc", "2026-01-02", 7);

describe("how far a part of the proof has come", () => {
  test("PS1 it continues at the same commit with the next seed, and starts again at another", () => {
    const once = withRound(start, well);
    expect(seedOf(begun(once, "abc", "2026-01-03", 99))).toBe(8);
    expect(begun(once, "abc", "2026-01-03", 99)).toEqual({ ...once, date: "2026-01-03" });
    expect(begun(once, "def", "2026-01-03", 99)).toMatchObject({ commit: "def", seed: 99, rounds: 0, seconds: 0 });
    expect(seedOf({ ...start, seed: 999_999_999, rounds: 2 })).toBe(1);
  });

  test("it is finished after its rounds, or when enough was counted", () => {
    const once = withRound(start, well);
    expect([undefined, start, once, withRound(once, well)].map((at) => isFinished(twice, at))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    const counted = withRound(start, { ...well, counted: 49 });
    expect(isFinished(counting, counted)).toBe(false);
    expect(isFinished(counting, withRound(counted, { ...well, counted: 1 }))).toBe(true);
  });

  test("PS3 with a failure it is not finished, and the next run starts it again", () => {
    const failed = withRound(withRound(start, well), { ...well, failures: 3 });
    expect(isFinished(twice, failed)).toBe(false);
    expect(begun(failed, "abc", "2026-01-03", 99).rounds).toBe(0);
  });

  test("it is read back as it was written; what is no progress is left out", () => {
    const state = new Map([["twice", withRound(start, well)]]);
    expect(readState(writeState(state))).toEqual(state);
    expect(readState(undefined).size).toBe(0);
    expect(readState('{"twice":{"commit":"abc","rounds":"2"},"many":null}').size).toBe(0);
  });
});

describe("what a round came to", () => {
  test("failed tests are those it counted, or one if it only ended badly", () => {
    expect(readRound(twice, "x\n5 passed, 2 failed\n", 1, 3)).toEqual({ counted: 0, failures: 2, seconds: 3 });
    expect(readRound(twice, "5 passed, 0 failed\n", 0, 3).failures).toBe(0);
    expect(readRound(twice, "5 passed, 0 failed\n", 1, 3).failures).toBe(1);
  });

  test("what it counts is added up, and to count nothing is a failure", () => {
    expect(readRound(counting, "n 12 (3/s)\nother\nn 30\n", 0, 1)).toMatchObject({ counted: 42, failures: 0 });
    expect(readRound(counting, "nothing\n", 0, 1)).toMatchObject({ counted: 0, failures: 1 });
  });
});

describe("the table in docs/PROOF.md", () => {
  const page = "a\n<!-- runs of the proof: made by scripts/proof.ts -->\n<!-- end of runs of the proof -->\nz\n";

  test("a row says what was tried, the seeds, failures, commit and date; one that is not finished says that", () => {
    const done = withRound(withRound({ ...start, commit: "0123456789abcdef" }, well), well);
    expect(resultOf(twice, done)).toBe("2 rounds, 2 min | 7 to 8 | 0 | `0123456789ab` | 2026-01-02 |");
    expect(resultOf(counting, withRound(start, { ...well, counted: 1234 }))).toBe(
      "1,234 ns, 1 round, 1 min | 7 | 0 | `abc` | 2026-01-02 |",
    );
    expect(resultOf(twice, withRound(start, well))).toStartWith("1 round, 1 min (unfinished) | 7 | 0 |");
    expect(resultOf(twice, withRound(start, { ...well, failures: 4 }))).toStartWith("1 round, 1 min | 7 | 4 |");
  });

  test("a new result replaces its row and leaves the others; a part that never ran says so", () => {
    const first = renewed(page, [twice, counting], twice, "well |");
    expect(first).toContain("| `twice` | something | well |\n| `many` | more | not run yet | | | | |\n");
    const second = renewed(first, [counting, twice], counting, "also |");
    expect(second).toContain("| `many` | more | also |\n| `twice` | something | well |\n");
    expect([second.startsWith("a\n"), second.endsWith("\nz\n")]).toEqual([true, true]);
    expect(() => renewed("no place", [twice])).toThrow("no place for runs");
  });

  test("it has a row for every part there is", () => {
    expect(renewed(readText("docs/PROOF.md"), PARTS)).toBe(readText("docs/PROOF.md"));
  });
});

describe("the parts", () => {
  const files = readAll("{src,tests}/**/*.test.ts").map(({ path }) => path);
  const isThere = (word: string) => files.some((path) => path.includes(word.replace("./", "")));

  test("each has a name of its own and names only tests and programs that exist", async () => {
    expect(new Set(PARTS.map(({ name }) => name)).size).toBe(PARTS.length);
    for (const { command } of PARTS) {
      const [program, ...words] = command;
      expect(program === "test" || (await Bun.file(`${ROOT}/${program}`).exists())).toBe(true);
      expect(words.filter((word) => /\btests\/|\.test\.ts$/.test(word) && !isThere(word))).toEqual([]);
    }
  });

  test("arguments choose some of them, and a wrong one is named", () => {
    const all = [twice, counting];
    expect(readWish([], all)).toEqual({ kind: "run", parts: all, again: false, minutes: Number.POSITIVE_INFINITY });
    expect(readWish(["many", "--again", "--minutes", "5"], all)).toEqual({
      kind: "run",
      parts: [counting],
      again: true,
      minutes: 5,
    });
    expect(readWish(["--list"], all)).toEqual({ kind: "list" });
    for (const args of [["none"], ["--minutes"], ["--minutes", "0"], ["--sometimes"]])
      expect(readWish(args, all)).toMatchObject({ kind: "wrong", message: expect.stringContaining("usage:") });
  });
});

describe("growth", () => {
  const seen = (values: readonly number[]): Sample[] => values.map((value) => new Map([["x", value]]));
  const none = () => ({ fixed: 0, part: 0, eachCycle: 0 });

  test("the medians of the first and the last third are compared; one outlier is not growth", () => {
    expect(judge(seen([1, 1, 1, 1, 1, 1, 1, 90, 1]), none)).toEqual([
      { name: "x", first: 1, last: 1, allowed: 0, isTooMuch: false },
    ]);
    expect(judge(seen([1, 1, 9, 5, 5, 5, 2, 2, 0]), none)?.[0]).toMatchObject({ first: 1, last: 2, isTooMuch: true });
  });

  test("what is allowed is a fixed part, a share of the beginning, and a part for each cycle", () => {
    const allowing = () => ({ fixed: 1, part: 0.5, eachCycle: 2 });
    const [growth] = judge(seen([10, 10, 10, 0, 0, 0, 28, 28, 28]), allowing) ?? [];
    expect(growth).toEqual({ name: "x", first: 10, last: 28, allowed: 18, isTooMuch: false });
    expect(judge(seen([10, 10, 10, 0, 0, 0, 29, 29, 29]), allowing)?.[0]?.isTooMuch).toBe(true);
  });

  test("a process that appears later counts from nothing, and too few samples tell nothing", () => {
    const late = [...Array.from({ length: 6 }, (): Sample => new Map()), ...seen([7, 7, 7])];
    expect(judge(late, none)?.[0]).toMatchObject({ first: 0, last: 7, isTooMuch: true });
    expect(judge(seen([1, 1, 1, 1, 1, 1, 1, 1]), none)).toBeUndefined();
  });

  test("the table marks what grew too much", () => {
    const table = growthTable(judge(seen([1, 1, 1, 1, 1, 1, 5000, 5000, 5000]), none) ?? []);
    expect(table.split("\n")[1]).toMatch(/^x +1 +5,000 +0 +GREW$/);
  });

  test("a process has the same name in its next life, and the user's programs have none", () => {
    expect(roleOf(["bun", "/r/src/daemon/main.ts", "/h"], "/h")).toBe("daemon");
    expect(roleOf(["bun", "/h/holders/x.js", "/h/terminals/t1"], "/h")).toBe("holder terminals/t1");
    expect(roleOf(["bun", "/x.js", "/h/agents/a1/processes/4"], "/h")).toBe("holder agents/a1");
    expect(roleOf(["bun", "/h/holders/x.js"], "/h")).toBe("other holders");
    expect(roleOf(["sleep", "100000"], "/h")).toBeUndefined();
    expect(toleranceOf("daemon files")).toEqual(toleranceOf("holder agents/a1 files"));
    expect(toleranceOf("daemon memory")).toMatchObject({ eachCycle: 0, part: toleranceOf("web memory").part });
    expect(toleranceOf("disk: output of steps").eachCycle).toBe(0);
    expect(toleranceOf("disk: logs of terminals, agents and runs").eachCycle).toBeGreaterThan(0);
  });
});
