// The bundles of the frequent commands: each has all that its commands load once they have begun.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import fc from "fast-check";
import { bundle, programs } from "../../scripts/build.ts";
import { ROOT, readText } from "../../scripts/files.ts";
import { PARTS } from "../../scripts/quick-parts.ts";
import { bundleFor } from "../../src/cli/frequent.ts";
import { saidBy } from "../../src/cli/plain.ts";
import { isQuick } from "../../src/world/built.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-frequent-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const LATE = /\bimport\("(\.[^"]+)"\)/g;
const CLI = join(ROOT, "src/cli");

/** What a file loads late, below src/cli/. */
function loadedLate(path: string): string[] {
  const found = [...readText(path).matchAll(LATE)].map(([, from = ""]) => resolve(dirname(join(ROOT, path)), from));
  return found.map((file) => relative(CLI, file));
}

test.each(programs().filter(isQuick))(
  "FQ1 what %s lacks is only loaded before its commands have begun",
  async (name) => {
    const inputs = await bundle(ROOT, name, join(scratch, name));
    const isOut = (path: string) => path.startsWith("left-out:");
    const out = inputs.filter(isOut).map((path) => relative(CLI, path.slice("left-out:".length)));
    const { has, lacks } = PARTS[name];
    const routes = name === "quick-complete" ? "workflow/run.ts" : "workflow/routes.ts";
    expect(out).toContain(lacks.includes("understand.ts") ? "understand.ts" : routes);
    expect(out.filter((path) => has.includes(path))).toEqual([]);
    const commands = inputs
      .filter((path) => !isOut(path) && path.startsWith("src/"))
      .filter((path) => !/(?:routes|\/app|\/plain)\.ts$/.test(path));
    const missed = commands.flatMap((path) => loadedLate(path).filter((late) => out.includes(late)));
    expect(missed.filter((path) => !lacks.includes(path))).toEqual([]);
  },
);

test("FQ1 the bundle without what attaches gets no `new` that attaches", () => {
  const words = ["-d", "--detach", "--json", "--lane", "--lane=-d", "--cwd", "--cwd=/", "--home", "--", "a", "-x", ""];
  const lines = fc.array(fc.constantFrom(...words), { maxLength: 5 }).map((rest) => ["new", ...rest]);
  fc.assert(
    fc.property(lines, (line) => {
      if (bundleFor(line) !== "quick-new-detached") return;
      const { flags } = saidBy(line) ?? { flags: undefined }; // What is not plain runs from the whole program.
      expect(flags === undefined || flags["detach"] === true || flags["json"] === true).toBe(true);
    }),
  );
  expect(["-d", "--detach", "--json"].map((word) => bundleFor(["new", "a", word]))).toEqual(
    Array(3).fill("quick-new-detached"),
  );
  expect(bundleFor(["new", "a", "--", "program", "-d"])).toBe("quick-new");
  expect(bundleFor(["attach", "-d"])).toBe("quick-attach");
});
