// The scripts that CI trusts: what they read is what is there.
import { describe, expect, test } from "bun:test";
import { hasReason, parseJunit } from "../scripts/junit.ts";
import { measure, parseLcov, percent, toTable } from "../scripts/lcov.ts";
import { claimsByRow, rowsOfDocument, rowsOfTsv, toPage, toTsv } from "../scripts/requirement-rows.ts";
import { requirementsIn, testNames } from "../scripts/test-names.ts";

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

describe("requirements", () => {
  const rows = rowsOfDocument("| ID | what |\n|---|---|\n| WD-1 | Watches | all. |\n| WD-2 | Waits. |\n");

  test("rows survive the way through the file in the repository", () => {
    expect(rows).toEqual([
      { id: "WD-1", text: "Watches | all." },
      { id: "WD-2", text: "Waits." },
    ]);
    expect(rowsOfTsv(toTsv(rows))).toEqual(rows);
  });

  test("a long row is cut at a word, and a piece of code in it is closed", () => {
    const [plain, code] = rowsOfDocument(`| WD-1 | ${"word ".repeat(40)} |\n| WD-2 | \`${"word ".repeat(40)}\` |\n`);
    expect(plain?.text.endsWith("word …")).toBe(true);
    expect(code?.text.endsWith("word…`")).toBe(true);
  });

  test("the page names each row's tests, and counts the rows that have one", () => {
    const text = named("test", '"WD-1 it | barks"');
    const page = toPage(rows, claimsByRow([{ path: "src/x.test.ts", text }]));
    expect(page).toContain("**1 of 2 rows have a test.**");
    expect(page).toContain("| WD-1 | Watches \\| all. | `src/x.test.ts`: WD-1 it \\| barks |");
    expect(page).toContain("| WD-2 | Waits. |  |");
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

  test("a pattern's test() is none", () => {
    expect(testNames('/x/.test("a"); latest("b");')).toEqual([]);
  });

  test("an ID is two capitals and a number, not the end of a longer word", () => {
    expect(requirementsIn("WD-1 and EL-12: SHA-256, UTF-8, W1, A-WD-3, WD-4-x")).toEqual(["WD-1", "EL-12"]);
  });
});

describe("the report of a test run", () => {
  const xml = `<testsuites><testsuite name="a.test.ts">
    <testcase name="good" file="a.test.ts" />
    <testcase name="left &lt;out&gt; (needs root)" file="a.test.ts"><skipped /></testcase>
    <testsuite name="group"><testcase name="bad" file="b.test.ts">
      <failure message="no" />
    </testcase></testsuite></testsuite></testsuites>`;

  test("passed, failed and skipped are told apart, and the files that reported are known", () => {
    const report = parseJunit(xml);
    expect([report.passed, report.failed]).toEqual([1, 1]);
    expect(report.skipped).toEqual([{ path: "a.test.ts", name: "left <out> (needs root)" }]);
    expect([...report.files]).toEqual(["a.test.ts", "b.test.ts"]);
  });

  test("no report means that nothing passed", () => {
    expect(parseJunit("").passed).toBe(0);
  });

  test("a reason is what the test needs", () => {
    expect(hasReason("x (needs root)")).toBe(true);
    expect(hasReason("x")).toBe(false);
  });
});
