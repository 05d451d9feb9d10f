// The scripts that CI relies on: they read what is really there.
import { describe, expect, test } from "bun:test";
import { addRan } from "../scripts/children.ts";
import { COUNTERS, withCounters } from "../scripts/counters.ts";
import { readAll } from "../scripts/files.ts";
import { hasReason, joined, joinedXml, parseJunit, toldAgain, withSilent } from "../scripts/junit.ts";
import { measure, parseLcov, percent, toTable } from "../scripts/lcov.ts";
import { namedUnder } from "../scripts/named-files.ts";
import { claimsByClause, clausesOf, groupsOfTsv, problemsOf, toPage } from "../scripts/requirement-rows.ts";
import { requirementsIn, testNames } from "../scripts/test-names.ts";
import { keptTimes, slowest, timesOf } from "../scripts/timings.ts";

const compile = (ts: string): string => new Bun.Transpiler({ loader: "ts" }).transformSync(ts);
const named = (call: string, name: string): string => `${call}(${name}, () => {});`;

describe("coverage", () => {
  const lcov = "SF:src/a/x.ts\nDA:1,1\nDA:2,0\nend_of_record\nSF:src/a/x.ts\nDA:2,3\nDA:3,0\nend_of_record\n";

  test("several reports of one file are added up line by line", () => {
    expect([...(parseLcov(lcov).get("src/a/x.ts") ?? [])]).toEqual([
      [1, 1],
      [2, 3],
      [3, 0],
    ]);
  });

  test("L1 a file that no test loaded counts as 0 of its code lines", () => {
    const unseen = "// A header.\n\n/* a\n   note */\nexport const x = 1;\nexport const y = 2;\n";
    expect(measure([{ path: "src/b/y.ts", text: unseen }], lcov, compile)).toEqual([
      { path: "src/b/y.ts", hit: 0, lines: 2 },
    ]);
  });

  test("L2 a file of types has no lines", () => {
    const types =
      'import type { A } from "./a.ts";\nexport interface B { a: A }\nexport type C = B;\nexport type { A };\n';
    expect(measure([{ path: "src/b/t.ts", text: types }], lcov, compile)).toEqual([
      { path: "src/b/t.ts", hit: 0, lines: 0 },
    ]);
  });

  test("the table adds up rooms and the total", () => {
    const files = measure(
      [
        { path: "src/a/x.ts", text: "" },
        { path: "src/b/y.ts", text: "f();\n" },
      ],
      lcov,
      compile,
    );
    expect(percent(files)).toBe(50);
    expect(percent([])).toBe(100);
    expect(toTable(files).split("\n").slice(1)).toEqual([
      "src/a              1       3    66.7 %",
      "src/b              1       1     0.0 %",
      "total              2       4    50.0 %",
    ]);
  });
});

describe("coverage of the files that the source documents name", () => {
  const named = [{ document: "D", name: "x.rs", ours: ["src/x.ts", "src/y.ts"] }];

  test("NF-1 one of ours that is under the limit is named, with what it stands for", () => {
    const files = [
      { path: "src/x.ts", hit: 17, lines: 20 },
      { path: "src/y.ts", hit: 16, lines: 20 },
    ];
    expect(namedUnder(85, files, named)).toEqual(["src/y.ts has 80.0 % (D: x.rs)"]);
  });

  test("NF-1 one that is not there is named too, and all that are listed are there", () => {
    expect(namedUnder(85, [{ path: "src/x.ts", hit: 1, lines: 1 }], named)).toEqual([
      "src/y.ts is not there (D: x.rs)",
    ]);
    const whole = readAll("src/**/*.ts").map(({ path }) => ({ path, hit: 1, lines: 1 }));
    expect(namedUnder(85, whole)).toEqual([]);
  });
});

describe("coverage of programs that tests start", () => {
  const source = [
    "export type Side = { a: number };", // 1
    "export function twice(n: number): number {", // 2
    "  if (n > 5)", // 3
    "    return n;", // 4
    "  const add = (x: number): Side => ({ a: x + n });", // 5
    "  return add(n).a;", // 6
    "}", // 7
  ].join("\n");
  const run = (n: number): Uint8Array => {
    const counted = withCounters(source);
    const hits = new Uint8Array(counted.units);
    new Function(COUNTERS, `${compile(counted.text).replace("export", "")}; ${COUNTERS}[0] = 1; twice(${n});`)(hits);
    return hits;
  };
  const linesOf = (hits: Uint8Array): string =>
    addRan("", [{ path: "src/a/x.ts", owners: withCounters(source).owners, hits }]);

  test("C1 C3 lines keep their positions, and what only the compiler sees is not counted as a line", () => {
    const { text, owners } = withCounters(source);
    expect(text.split("\n").map((line) => line.replace(/^\s*/, ""))).toEqual([
      "export type Side = { a: number };",
      "export function twice(n: number): number {",
      "__hits[1]=1;if (n > 5)",
      "{__hits[2]=1;return n;}",
      "__hits[3]=1;const add = (x: number): Side => ((__hits[4]=1,{ a: x + n }));",
      "__hits[5]=1;return add(n).a;",
      "}",
    ]);
    expect([...owners.keys()]).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test("C2 a line is hit when its own statement ran", () => {
    expect(linesOf(run(1))).toBe(
      "SF:src/a/x.ts\nDA:2,1\nDA:3,1\nDA:4,0\nDA:5,1\nDA:6,1\nDA:7,1\nLF:6\nLH:5\nend_of_record\n",
    );
    expect(linesOf(run(7))).toContain("DA:4,1\nDA:5,0\nDA:6,0\n");
  });

  test("Bun's own lines stay, and get the hits of the children", () => {
    const owners = withCounters(source).owners;
    const bun = "SF:src/a/x.ts\nDA:3,2\nDA:6,0\nend_of_record\nSF:src/b.ts\nDA:1,1\nend_of_record\n";
    expect(
      [...parseLcov(addRan(bun, [{ path: "src/a/x.ts", owners, hits: run(1) }])).values()].map((x) => [...x]),
    ).toEqual([
      [
        [3, 3],
        [6, 1],
      ],
      [[1, 1]],
    ]);
    const nobody = new Uint8Array(run(1).length);
    expect(addRan("", [{ path: "src/a/x.ts", owners, hits: nobody }])).toBe("");
  });
});

describe("requirements", () => {
  const groups = groupsOfTsv(
    [
      "# WD\twatchdog",
      "WD-1a\tmet\tT001\tWatches | all.\t",
      "WD-1b\tpartial\tT002\tWaits.\tNot long.",
      "# ZZ\tnothing",
      "ZZ-1\tmissing\tB\tDigs.\tNo spade.\n",
    ].join("\n"),
  );
  const clauses = clausesOf(groups);
  const claims = (name: string) => claimsByClause([{ path: "src/x.test.ts", text: named("test", `"${name}"`) }]);

  test("a line of the table is a clause of the group above it", () => {
    expect(groups.map(({ prefix, title }) => [prefix, title])).toEqual([
      ["WD", "watchdog"],
      ["ZZ", "nothing"],
    ]);
    expect(clauses.map(({ id, status }) => [id, status])).toEqual([
      ["WD-1a", "met"],
      ["WD-1b", "partial"],
      ["ZZ-1", "missing"],
    ]);
    expect(clauses[1]).toMatchObject({ sources: "T002", text: "Waits.", note: "Not long." });
    expect(() => groupsOfTsv("# WD\twatchdog\nWD-1\tperhaps\t\tx\t")).toThrow("perhaps");
  });

  test("the page counts the clauses, and names the tests of each", () => {
    const page = toPage(groups, claims("WD-1(a) it | barks"));
    expect(page).toContain("**2 rows in 3 clauses: 1 met, 1 partial, 1 missing.**");
    expect(page).toContain("**2 clauses have no test**: WD-1b, ZZ-1.");
    expect(page).toContain("| WD-1a | Watches \\| all. | met | T001 | `src/x.test.ts`: WD-1(a) it \\| barks |");
    expect(page).toContain("| WD-1b | Waits. | partial: Not long. | T002 |  |");
    expect(page).toContain("\n## ZZ: nothing\n");
  });

  test("unknown clauses, clauses that are met without a test, and judgements without a reason are problems", () => {
    expect(problemsOf(clauses, claims("WD-1(a) x"))).toEqual([]);
    expect(problemsOf(clauses, claims("WD-1 ZZ-1 x"))).toEqual([
      'src/x.test.ts: "WD-1 ZZ-1 x" claims WD-1, which is no clause',
      "WD-1a is called met, and has no test",
    ]);
    const bad = { id: "WD-1a", status: "missing", sources: "", text: "", note: "" } as const;
    expect(problemsOf([...clauses, bad], claims("WD-1(a) x"))).toEqual([
      "WD-1a is in the table twice",
      "WD-1a is missing, and does not say why",
      "WD-1a has no text",
    ]);
  });
});

describe("test names", () => {
  test("names are found behind modifiers, on the next line and in every kind of quote", () => {
    const text = [
      named("test", '"a"'),
      named("describe", "'b'"),
      named("it.skipIf(!isRoot())", "`c <1>`"),
      named("test.each([1, 2])", '\n  "d \\"quoted\\""'),
    ].join("\n");
    expect(testNames(text)).toEqual(["a", "b", "c <1>", 'd "quoted"']);
  });

  test("a call of a pattern's test() is not a test", () => {
    expect(testNames('/x/.test("a"); latest("b");')).toEqual([]);
  });

  test("an ID is two capitals and a number, not the end of a longer word", () => {
    expect(requirementsIn("WD-1 and EL-12: SHA-256, UTF-8, W1, A-WD-3, WD-4-x")).toEqual(["WD-1", "EL-12"]);
    expect(requirementsIn("UC-3(a,b) UC-8a TC-4: x (b)")).toEqual(["UC-3a", "UC-3b", "UC-8a", "TC-4"]);
  });
});

describe("the report of a test run", () => {
  const xml = `<testsuites><testsuite name="a.test.ts" file="a.test.ts" time="0.5">
    <testcase name="good" classname="" time="0.25" file="a.test.ts" />
    <testcase name="left &lt;out&gt; (needs root)" file="a.test.ts"><skipped /></testcase></testsuite>
    <testsuite name="b.test.ts" file="b.test.ts" time="2"><testsuite name="group" file="b.test.ts" time="0">
    <testcase name="bad" classname="inner &gt; group" file="b.test.ts">
      <failure type="Error" message="no">Error: no&#10;      at b.test.ts:3:39&#10;</failure>
    </testcase></testsuite><testcase name="slow" time="1.5" file="b.test.ts">
      <failure type="TimeoutError" message="test timed out" />
    </testcase></testsuite></testsuites>`;

  test("passed, failed and skipped tests are distinguished, and the files that reported are listed with their times", () => {
    const report = parseJunit(xml);
    expect(report.passed).toEqual([{ path: "a.test.ts", name: "good", ms: 250 }]);
    expect(report.failed).toEqual([
      { path: "b.test.ts", name: "group > inner > bad", ms: 0, why: "Error: no\n      at b.test.ts:3:39\n" },
      { path: "b.test.ts", name: "slow", ms: 1500, why: "test timed out" },
    ]);
    expect(report.skipped).toEqual([{ path: "a.test.ts", name: "left <out> (needs root)", ms: 0 }]);
    expect([...report.files]).toEqual([
      ["a.test.ts", 500],
      ["b.test.ts", 2000],
    ]);
  });

  test("several reports make one with the same content", () => {
    const [a, b] = [xml, xml.replaceAll("a.test.ts", "c.test.ts").replaceAll("b.test.ts", "d.test.ts")];
    expect(parseJunit(joinedXml([a, "", b]))).toEqual(joined([parseJunit(a), parseJunit(b)]));
  });

  test("a file that was to run and reported nothing is a failure", () => {
    const silent = withSilent(parseJunit(xml), ["a.test.ts", "c.test.ts"]).failed.slice(2);
    expect(silent).toEqual([{ path: "c.test.ts", name: "(the file)", ms: 0, why: "no test of it has run" }]);
  });

  test("a failure is repeated with its name and reason, at limited length", () => {
    expect(toldAgain({ path: "b.test.ts", name: "bad", ms: 0, why: "no\nat b\n" })).toBe(
      "failed: b.test.ts: bad\n    no\n    at b",
    );
    const long = toldAgain({ path: "b.test.ts", name: "bad", ms: 0, why: "x\n".repeat(50) }).split("\n");
    expect([long.length, long.at(-1)]).toEqual([42, "    (10 lines more)"]);
  });

  test("no report means that nothing passed", () => {
    expect(parseJunit("").passed).toEqual([]);
  });

  test("a reason is what the test needs", () => {
    expect(hasReason("x (needs root)")).toBe(true);
    expect(hasReason("x")).toBe(false);
  });

  test("the slowest files and tests come first", () => {
    expect(slowest(parseJunit(xml))).toEqual([
      "slowest files:",
      "    2.00 s  b.test.ts",
      "    0.50 s  a.test.ts",
      "slowest tests:",
      "    1.50 s  b.test.ts: slow",
      "    0.25 s  a.test.ts: good",
      "    0.00 s  b.test.ts: group > inner > bad",
    ]);
  });

  test("every file has a time by which it starts, and only the slowest are kept", () => {
    const kept = keptTimes(parseJunit(xml));
    expect(Object.entries(kept.files)).toEqual([
      ["b.test.ts", 2_000],
      ["a.test.ts", 500],
    ]);
    expect(timesOf(["a.test.ts", "new.test.ts"], kept)).toEqual({
      version: 1,
      files: { "a.test.ts": 500, "new.test.ts": 2_000 },
    });
    const many = new Map(Array.from({ length: 500 }, (_, ms) => [`${ms}.test.ts`, ms] as const));
    const slow = Object.keys(keptTimes({ ...parseJunit(""), files: many }).files);
    expect([slow.length, slow[0]]).toEqual([60, "499.test.ts"]);
  });
});
