// How the test command sorts its files into pools, and how it handles failing tests.
import { describe, expect, test } from "bun:test";
import { readAll } from "../scripts/files.ts";
import { type Failed, parseJunit, type Report, SILENT, type Test } from "../scripts/junit.ts";
import { patienceOf, workersFor } from "../scripts/patience.ts";
import { type Pool, poolsOf } from "../scripts/pools.ts";
import { seedOf } from "../scripts/seed.ts";
import { chosen } from "../scripts/test-arguments.ts";
import { filesToRepeat, judge, type Run, type Surroundings, type Verdict } from "../scripts/verdict.ts";

describe("the pools", () => {
  const poolOf = (text: string, more: Readonly<Record<string, string>> = {}): Pool | undefined => {
    const files = Object.entries({ "tests/a/x.test.ts": text, ...more });
    return poolsOf(files.map(([path, source]) => ({ path, text: source }))).get("tests/a/x.test.ts");
  };

  test("P1 a file that can start a process, open a socket or watch files works with real processes", () => {
    const bad = ["Bun.spawn([])", "Bun.spawnSync([])", "Bun.serve({})", "Bun.listen(x)", 'await fetch("x")'];
    const modules = ["node:child_process", "node:net", "http"].map((name) => `import { x } from "${name}"; x();`);
    for (const text of [...bad, ...modules, 'import { watch } from "node:fs"; watch("x");'])
      expect([text, poolOf(text)]).toEqual([text, "real-process"]);
  });

  test("P1 text in strings and comments, types, and files that are never imported change nothing", () => {
    const good = ['"Bun.spawn([])"', "// Bun.spawn([])", "prefetch(x); Bun.spawning()", 'import "node:fs";'];
    const typed = 'import type { A } from "./b.ts"; import { type B } from "./b.ts"; export const x: A | B = 1;';
    for (const text of [...good, typed])
      expect([text, poolOf(text, { "tests/a/b.ts": "Bun.spawn([])" })]).toEqual([text, "deterministic"]);
  });

  test("P1 imports count, however far away, and also in a cycle", () => {
    const helpers = {
      "tests/b.ts": 'export * from "./a/x.test.ts"; import { c } from "../src/c.ts"; export const b = c;',
      "src/c.ts": "export const c = () => Bun.spawn([]);",
    };
    expect(poolOf('import { b } from "../b.ts"; b();', helpers)).toBe("real-process");
    expect(poolOf('import { b } from "../b.ts"; b();', { ...helpers, "src/c.ts": "" })).toBe("deterministic");
  });

  test("simulated files of this repository are deterministic, and files of real programs are not", () => {
    const pools = poolsOf(["src", "tests", "scripts", "bench"].flatMap((room) => readAll(`${room}/**/*.ts`)));
    const byPool = (pattern: RegExp): Pool[] =>
      [...new Set([...pools].filter(([path]) => pattern.test(path)).map(([, pool]) => pool))].sort();
    // The lives of the whole daemon run in a process of their own, also those of workflows and agents.
    expect(byPool(/^tests\/sim\/(?!holdfast\/|fuzz\/(?:workflow|agent-crash))|^src\/base\//)).toEqual([
      "deterministic",
    ]);
    expect(byPool(/^tests\/launcher|\/real\.test\.ts$|^tests\/tmux\/keeper/)).toEqual(["real-process"]);
  });
});

describe("the result of a run", () => {
  const path = "tests/x.test.ts";
  const ok = (name: string): Test => ({ path, name, ms: 1 });
  const bad = (name: string, why = "it broke"): Failed => ({ ...ok(name), why });
  const report = (passed: readonly Test[], failed: readonly Failed[]): Report => {
    const files = [...passed, ...failed.filter(({ name }) => name !== SILENT)].map((one) => [one.path, 1] as const);
    return { passed, failed, skipped: [], files: new Map(files) };
  };
  const NOTHING = parseJunit("");
  const HEADER = "file\ttest\treason\texpires\n";
  const IN_CI: Surroundings = { inCi: true, flakyList: HEADER, today: "2026-03-10", paths: [path] };
  const listing = (expires: string, name = "a"): Surroundings => ({
    ...IN_CI,
    flakyList: `${HEADER}${path}\t${name}\twaits for a kernel\t${expires}\n`,
  });
  const counts = ({ passed, failed }: Verdict): [number, number] => [passed, failed];
  const once: Run = { first: report([ok("b")], [bad("a")]), second: report([ok("a"), ok("b")], []), again: [path] };

  test("V3 only failed files with real processes are run again", () => {
    const first = report([], [bad("a"), bad("b"), { ...bad("c"), path: "tests/sim.test.ts" }]);
    const pools = new Map<string, Pool>([
      [path, "real-process"],
      ["tests/sim.test.ts", "deterministic"],
      ["tests/good.test.ts", "real-process"],
    ]);
    expect(filesToRepeat(first, pools)).toEqual([path]);
    expect(counts(judge({ first, second: NOTHING, again: [] }, IN_CI))).toEqual([0, 3]);
  });

  test("V1 V2 a test that fails once and passes once is flaky: a failure in CI, and named with its first error", () => {
    expect(judge(once, IN_CI)).toEqual({
      ...{ passed: 1, failed: 1 },
      lines: ["failed: tests/x.test.ts: a (flaky: it also passed)\n    it broke"],
    });
    expect(judge(once, { ...IN_CI, inCi: false })).toEqual({
      ...{ passed: 2, failed: 0 },
      lines: ["flaky: tests/x.test.ts: a (it also passed)\n    it broke"],
    });
  });

  test("V1 a test that passes first and fails in the second run is flaky too", () => {
    const run: Run = { first: report([ok("a")], [bad("b")]), second: report([ok("b")], [bad("a")]), again: [path] };
    expect(counts(judge(run, IN_CI))).toEqual([0, 2]);
    expect(counts(judge(run, { ...IN_CI, inCi: false }))).toEqual([2, 0]);
  });

  test("V2 a listed flaky test is named with the reason, and fails nothing", () => {
    expect(judge(once, listing("2026-03-24"))).toEqual({
      ...{ passed: 2, failed: 0 },
      lines: ["flaky: tests/x.test.ts: a (listed until 2026-03-24: waits for a kernel)\n    it broke"],
    });
    expect(counts(judge(once, listing("2026-03-10")))).toEqual([2, 0]);
  });

  test("F1 F2 a row that has expired, lasts too long, cannot be read or has no test is a failure", () => {
    const passed: Run = { first: report([ok("a")], []), second: NOTHING, again: [] };
    expect(counts(judge(passed, listing("2026-03-24")))).toEqual([1, 0]);
    for (const [around, what] of [
      [listing("2026-03-09"), "expired on 2026-03-09"],
      [listing("2026-03-25"), "expires later than 14 days from now"],
      [listing("2026-02-30"), "is not"],
      [listing("soon"), "is not"],
      [listing("2026-03-11\tmore"), "is not"],
      [listing("2026-03-11", "renamed"), "no such test: tests/x.test.ts: renamed"],
      [{ ...listing("2026-03-11"), paths: [] }, "no such test"],
      [{ ...IN_CI, flakyList: "" }, "is not the header"],
    ] as const) {
      const verdict = judge(passed, around);
      expect([what, verdict.failed, verdict.lines.join()]).toEqual([what, 1, expect.stringContaining(what)]);
    }
    expect(counts(judge(once, listing("2026-03-09")))).toEqual([1, 2]);
  });

  test("V1 a test that fails twice has failed, listed or not, and so has one that never passed", () => {
    const twice: Run = { ...once, second: report([ok("b")], [bad("a", "again")]) };
    expect(judge(twice, listing("2026-03-24"))).toEqual({
      ...{ passed: 1, failed: 1 },
      lines: ["failed: tests/x.test.ts: a\n    it broke"],
    });
    expect(counts(judge({ ...once, second: report([ok("b")], []) }, IN_CI))).toEqual([1, 1]);
    expect(counts(judge({ ...once, second: report([], [bad(SILENT)]) }, IN_CI))).toEqual([0, 2]);
  });

  test("V1 a file that reports only in its second run is flaky as a whole", () => {
    const run: Run = { first: report([], [bad(SILENT)]), second: report([ok("a")], []), again: [path] };
    expect(counts(judge(run, IN_CI))).toEqual([1, 1]);
    expect(counts(judge(run, { ...IN_CI, inCi: false }))).toEqual([2, 0]);
    expect(counts(judge({ ...run, second: report([], [bad("a")]) }, IN_CI))).toEqual([0, 2]);
  });

  test("a skipped test is a failure in CI, and elsewhere if it does not say what it needs", () => {
    const skipping = (name: string): Run => ({
      ...{ first: { ...report([ok("a")], []), skipped: [ok(name)] }, second: NOTHING, again: [] },
    });
    expect(counts(judge(skipping("b (needs root)"), IN_CI))).toEqual([1, 1]);
    expect(counts(judge(skipping("b (needs root)"), { ...IN_CI, inCi: false }))).toEqual([1, 0]);
    expect(counts(judge(skipping("b"), { ...IN_CI, inCi: false }))).toEqual([1, 1]);
  });
});

describe("the environment of a run", () => {
  test("S1 S2 S3 the seed is the requested one, otherwise the commit's in the gate, and a random one in longer profiles", () => {
    expect(seedOf({ HOLDFAST_SEED: "12" }, "ff00ff0aa", 5)).toBe(12);
    expect(seedOf({}, "ff00ff0aa", 5)).toBe(0xff00ff0);
    expect(seedOf({ HOLDFAST_FUZZ: "ci" }, undefined, 5)).toBe(20_260_101);
    expect(seedOf({ HOLDFAST_FUZZ: "full" }, "ff00ff0aa", 5)).toBe(5);
    expect(() => seedOf({ HOLDFAST_SEED: "x" }, undefined, 5)).toThrow('not "x"');
  });

  test("PA1 PA2 waits are longer on a busy machine, not shorter on a quiet one, and a second run is alone", () => {
    expect([patienceOf(0, 1, 2), patienceOf(2, 3, 2), patienceOf(100, 3, 2)]).toEqual([1, 3, 8]);
    const workers = (pool: Pool, isRepeat: boolean): number => workersFor({ pool, isRepeat }, 2);
    expect(workers("deterministic", false)).toBe(2);
    expect([workers("real-process", false), workers("real-process", true)]).toEqual([7, 1]);
  });

  test("words select files by a part of their path, and the rest is passed on", () => {
    const all = ["src/log/a.test.ts", "tests/sim/b.test.ts"];
    expect(chosen([], all)).toEqual({ paths: all, flags: [], timings: false });
    expect(chosen(["./src/log", "--timings"], all)).toEqual({ paths: all.slice(0, 1), flags: [], timings: true });
    expect(chosen(["-t", "a name", "b.test"], all)).toEqual({
      paths: all.slice(1),
      flags: ["-t", "a name"],
      timings: false,
    });
    expect(() => chosen(["src/nowhere"], all)).toThrow("src/nowhere");
  });
});
