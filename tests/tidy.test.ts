// The rules of the repository as tests: each is proved to bite on a bad sample, and then holds for every file.
import { describe, expect, test } from "bun:test";
import { readRepository, readText, type SourceFile } from "../scripts/files.ts";
import { clausesOf, groupsOfTsv } from "../scripts/requirement-rows.ts";
import { importCycles } from "./tidy/cycles.ts";
import { deadExports } from "./tidy/exports.ts";
import { daemonRoot, importDirections } from "./tidy/rooms.ts";
import * as rules from "./tidy/rules.ts";

const known = new Set(clausesOf(groupsOfTsv(readText("docs/requirements.tsv"))).map((clause) => clause.id));
const everything: readonly SourceFile[] = readRepository();

// Fragments that would break a rule if this file contained them whole.
const home = ["", "home", "ann", "x"].join("/");
const registry = ["https:/", ["registry", "npmjs", "org"].join("."), "x"].join("/");
const named = (call: string, name: string): string => `${call}("${name}", () => {});`;

type Sample = readonly [path: string, text: string];
type Claim = {
  readonly says: string;
  readonly rule: rules.Rule;
  readonly bad: readonly Sample[];
  readonly good: readonly Sample[];
};

const claims: readonly Claim[] = [
  {
    says: "imports go down, and programs never import each other",
    rule: importDirections,
    bad: [
      ["src/base/a.ts", 'import { x } from "../world/disk.ts";'],
      ["src/base/a.ts", 'import { z } from "zod";'],
      ["src/core/a.ts", 'import type { Disk } from "../world/disk.ts";'],
      ["src/log/a.ts", 'export { x } from "../wire/x.ts";'],
      ["src/daemon/providers/a.ts", 'import {\n  x,\n} from "../../holder/x.ts";'],
      ["src/cli/a.ts", 'const x = await import("../daemon/x.ts");'],
      ["src/cli/a.ts", 'import "../../tests/x.ts";'],
      ["src/page/a.tsx", 'import { x } from "../world/clock.ts";'],
      ["src/page/a.tsx", 'import { x } from "../vt/emulator.ts";'],
      ["src/utils/a.ts", ""],
    ],
    good: [
      ["src/log/a.ts", 'import type { Disk } from "../world/disk.ts";\nimport { x } from "./b.ts";'],
      ["src/daemon/providers/a.ts", 'import { x } from "../loop.ts";\nimport { y } from "../../core/y.ts";'],
      ["src/cli/a.ts", '// import "../daemon/x.ts"\nimport { x } from "@stricli/core";'],
      ["src/page/a.tsx", 'import { x } from "../vt/replay.ts";\nimport { y } from "preact";'],
      ["src/log/a.test.ts", 'import { simulate } from "../../tests/sim/disk.ts";'],
    ],
  },
  {
    says: "no file in the root of daemon/ belongs to one kind of session",
    rule: daemonRoot,
    bad: [
      ["src/daemon/terminals.ts", ""],
      ["src/daemon/agent-recovery.ts", ""],
    ],
    good: [
      ["src/daemon/part.ts", ""],
      ["src/daemon/agent/recovery.ts", ""],
      ["src/daemon/bus.test.ts", ""],
    ],
  },
  {
    says: "only world/ touches the outside",
    rule: rules.onlyWorldTouchesTheOutside,
    bad: [
      ...["Date.now()", "new Date()", "new Date", "Math.random()", "Bun.sleep(1)", "performance.now()"],
      ...["setTimeout(f, 1)", "setInterval(f)", "setImmediate(f)", "queueMicrotask(f)", 'fetch("x")', "process.exit()"],
      ...[
        'import "node:fs";',
        'import { dlopen } from "bun:ffi";',
        'import { $ } from "bun";',
        'await import("node:fs")',
      ],
      `\`x \${\`y \${Date.now()}\`}\``,
    ].flatMap((text): Sample[] => [
      ["src/log/a.ts", text],
      ["src/page/a.tsx", text],
    ]),
    good: [
      ["src/world/a.ts", "Date.now()"],
      ["src/page/browser.ts", "Date.now(); setTimeout(f, 1)"],
      ["src/log/a.test.ts", 'import { test } from "bun:test"; Bun.sleep(1)'],
      [
        "src/log/a.ts",
        '// Date.now()\nnew Date(0); prefetch(x); child.process.x; "Bun.write"; /Bun.x/.test(y); "import node:fs"',
      ],
      ["src/cli/program.ts", "process.exitCode = 1;"],
      ["scripts/a.ts", "Date.now()"],
    ],
  },
  {
    says: "the entry file may touch process, and nothing else",
    rule: rules.onlyWorldTouchesTheOutside,
    bad: [
      ["src/cli/program.ts", "Date.now()"],
      ["src/cli/other.ts", "process.argv"],
    ],
    good: [["src/cli/program.ts", "process.argv"]],
  },
  {
    says: "every file of src/ first says what it is",
    rule: rules.startsWithHeader,
    bad: [
      ["src/log/a.ts", "export const x = 1;\n// late"],
      ["src/log/a.ts", "//\nexport const x = 1;"],
    ],
    good: [
      ["src/log/a.ts", "// The log.\nexport const x = 1;"],
      ["src/cli/program.ts", "#!/usr/bin/env bun\n// The entry.\n"],
      ["src/log/a.test.ts", "test();"],
    ],
  },
  {
    says: "there are no leftovers",
    rule: rules.noLeftovers,
    bad: [
      ["src/log/a.ts", "// TODO: later"],
      ["src/log/a.ts", "debugger;"],
      ["src/log/a.test.ts", "test.only('x')"],
      ["src/log/a.ts", "console.log(1)"],
    ],
    good: [
      ["src/cli/a.ts", "console.log(1)"],
      ["src/log/a.ts", '"console.log(1) TODO"; onlyIf.x()'],
    ],
  },
  {
    says: "a test that may be skipped says what it needs",
    rule: rules.skipsSayWhy,
    bad: ["test.skip", "test.skipIf(!root)", "describe.if(isLinux())", "test.todo"].map(
      (call): Sample => ["tests/a.test.ts", named(call, "x")],
    ),
    good: [
      ["tests/a.test.ts", named("test.skipIf(!isRoot())", "x (needs root)")],
      ["tests/a.test.ts", named("test", "skip")],
    ],
  },
  {
    says: "no default exports, barrels, enums, any, or swallowed errors",
    rule: rules.plainShapes,
    bad: [
      ...[
        "export default 1",
        'export * from "./b.ts"',
        "enum A { x }",
        "export const enum A { x }",
        "let x: any",
        "f<any>()",
      ],
      ...["x: any[]", "try { f() } catch {}", "try { f() } catch (e) { /* why not */ }", "p.catch(() => {})"],
    ].map((text): Sample => ["src/log/a.ts", text]),
    good: [
      [
        "src/log/a.ts",
        '// any default\nPromise.any(x); if (a, any(b)) f("enum x"); try { f() } catch (e) { g(e) }\n// who waits sees it\np.catch(() => undefined);',
      ],
    ],
  },
  {
    says: "types are claimed with `as` only in wire/ and world/",
    rule: rules.noCasts,
    bad: ["x as Y", "f(x) as unknown as Y", "({}) as { a: 1 }", 'x as "a"'].map(
      (text): Sample => ["src/log/a.ts", text],
    ),
    good: [
      ["src/wire/a.ts", "x as Y"],
      ["src/world/a.ts", "x as Y"],
      [
        "src/log/a.ts",
        'import * as a from "./a.ts";\nimport { b as c } from "./b.ts";\nconst x = [1] as const; "x as Y"; // as y',
      ],
    ],
  },
  {
    says: "nothing in src/ writes a file in place",
    rule: rules.noWritesInPlace,
    bad: ["writeFileSync(a, b)", "await Bun.write(a, b)", "fs.promises.writeFile(a, b)", "appendFileSync(a)"].map(
      (text): Sample => ["src/world/a.ts", text],
    ),
    good: [["src/world/a.ts", "// never writeFileSync\nwriteSync(fd, b)"]],
  },
  {
    says: "comments are at most 120 columns wide",
    rule: rules.commentsAreNarrow,
    bad: [
      ["src/log/a.ts", `// ${"x ".repeat(60)}`],
      ["tests/a.ts", `  /** ${"x ".repeat(60)}*/`],
    ],
    good: [["src/log/a.ts", `const x = "${"x ".repeat(60)}";\n// ${"x ".repeat(50)}`]],
  },
  {
    says: "tests wait for the state of other processes, or say why it is settled",
    rule: rules.looksAtOthersWait,
    bad: [
      ["tests/a.test.ts", "expect(processes.alive(who)).toBe(true);"],
      ["tests/a.test.ts", 'expect(readFileSync(`/proc/${pid}/environ`)).toContain("x");'],
      ["tests/a.test.ts", 'expect(place.tmux("list-panes")).toBe("x");'],
    ],
    good: [
      ["tests/a.test.ts", "expect(processes.alive(who)).toBe(true); // Settled: it was waited for."],
      ["tests/a.test.ts", "// Settled: it has exited.\nexpect(processes.alive(who)).toBe(false);"],
      ["tests/a.test.ts", 'await until("it is gone", () => !processes.alive(who), () => who);'],
    ],
  },
  {
    says: "no file is longer than 400 lines",
    rule: rules.notTooLong,
    bad: [["src/log/a.ts", "x\n".repeat(401)]],
    good: [
      ["src/log/a.ts", "x\n".repeat(400)],
      ["docs/a.md", "x\n".repeat(1000)],
    ],
  },
  {
    says: "no file names a path of one machine or a registry",
    rule: rules.noMachineOrRegistry,
    bad: [home, `see \`${home}\``, `"${registry}"`].map((text): Sample => ["docs/a.md", text]),
    good: [
      ["tests/sim/a.ts", home],
      ["docs/a.md", "~/work/x, $HOME/x, a/home/x, the npm registry, registry.ts"],
    ],
  },
  {
    says: "every requirement that a test claims exists, by its clauses",
    rule: rules.knownRequirements(known),
    bad: ["ZZ-9 x", "WD-99 x", "WD-1 x", "WD-1(a,z) x", "WD-3(a) x"].map(
      (name): Sample => ["src/a.test.ts", named("describe", name)],
    ),
    good: [["src/a.test.ts", `${named("test", "WD-1(a,b) WD-3 WD-2a SHA-256 of it")} "ZZ-9"`]],
  },
];

for (const { says, rule, bad, good } of claims) {
  describe(says, () => {
    test("a bad sample is caught, a good one is not", () => {
      for (const [path, text] of bad)
        expect({ text, caught: rule({ path, text }).length > 0 }).toEqual({ text, caught: true });
      for (const [path, text] of good) expect(rule({ path, text })).toEqual([]);
    });

    test("it holds for every file of the repository", () => {
      const violations = everything.flatMap(rule).map(({ path, line, what }) => `${path}:${line} ${what}`);
      expect(violations).toEqual([]);
    });
  });
}

describe("src/ has no import cycle", () => {
  const a = { path: "src/core/a.ts", text: 'import { b } from "./b.ts";' };
  const c = { path: "src/core/c.ts", text: 'export { x } from "../base/x.ts";' };

  test("a cycle is found, also through a type import or one that is loaded later", () => {
    const b = (text: string): SourceFile => ({ path: "src/core/b.ts", text });
    expect(importCycles([a, c, b('import { c } from "./c.ts";')])).toEqual([]);
    expect(importCycles([a, c, b('// import { a } from "./a.ts";')])).toEqual([]);
    expect(importCycles([a, c, b('import type { A } from "./a.ts";')])).toEqual([
      "src/core/a.ts → src/core/b.ts → src/core/a.ts",
    ]);
    const longer = { path: "src/core/c.ts", text: 'const { a } = await import("./a.ts");' };
    expect(importCycles([a, b('import { c } from "./c.ts";'), longer])).toEqual([
      "src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts",
    ]);
    expect(importCycles([{ path: "src/base/a.ts", text: 'import "./a.ts";' }])).toHaveLength(1);
  });

  test("it holds for every file of the repository", () => {
    expect(importCycles(everything)).toEqual([]);
  });
});

describe("nothing in src/ is exported for nobody", () => {
  test("a function that only a test calls is found", () => {
    const a = { path: "src/core/a.ts", text: "export function lonely() {}\nexport const used = 1;" };
    const b = { path: "src/core/b.ts", text: 'import { used } from "./a.ts"; // lonely' };
    const c = { path: "src/core/a.test.ts", text: 'import { lonely } from "./a.ts";' };
    expect(deadExports([a, b, c])).toEqual(["src/core/a.ts: lonely"]);
    const d = { path: "scripts/d.ts", text: 'import { lonely } from "../src/core/a.ts";' };
    expect(deadExports([a, b, c, d])).toEqual([]);
  });

  test("it holds for every file of the repository", () => {
    expect(deadExports(everything)).toEqual([]);
  });
});
