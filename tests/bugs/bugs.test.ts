// Tests of our tests: each deliberate bug is put into the sources as its own program loads them, and its check must
// catch it. The gate tries a sample, different for each commit. One at a time, because all at once would starve every
// other test on the machine.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT, readText } from "../../scripts/files.ts";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { BUGS } from "./bugs.ts";
import { CHECKS } from "./checks.ts";
import { PAGE, renewed } from "./page.ts";
import { withBug } from "./plant.ts";

const GATE_ONE_IN = 16;
/** Without a bug a check is a sweep that the gate runs elsewhere, and takes the longest. */
const SOUND_ONE_IN = 48;

type Outcome = { readonly code: number; readonly said: string; readonly err: string };

async function runCheck(...words: readonly string[]): Promise<Outcome> {
  const command = [process.execPath, join(ROOT, "tests/bugs/check.ts"), ...words];
  // Fixed: a bug must be caught every time, and for the same reason.
  const env = { ...process.env, HOLDFAST_SEED: "1", HOLDFAST_FUZZ: "ci" };
  const child = Bun.spawn(command, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  const [said, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, said: said.trim(), err };
}

describe("without a bug", () => {
  for (const check of sampleOf(Object.keys(CHECKS), SOUND_ONE_IN)) {
    test(`the sources pass: ${check}`, async () => {
      const { code, said, err } = await runCheck(check);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(said).toMatch(/^survived [1-9]\d*$/);
    });
  }
});

describe("a deliberate bug is caught", () => {
  for (const { bug, caughtBy, says } of sampleOf(BUGS, GATE_ONE_IN)) {
    test(`${bug}: by the ${caughtBy}`, async () => {
      const { code, said, err } = await runCheck(caughtBy, bug);
      expect({ code, err, said }).toEqual({ code: 3, err: "", said: expect.stringMatching(says) });
    });
  }
});

test("every bug is different, and every check catches one", () => {
  expect(new Set(BUGS.map(({ bug }) => bug)).size).toBe(BUGS.length);
  expect(new Set(BUGS.map(({ caughtBy }): string => caughtBy))).toEqual(new Set(Object.keys(CHECKS)));
});

test("every change still matches its source", () => {
  for (const bug of BUGS) if (bug.how === "source") for (const { file } of bug.changes) withBug(file, bug.changes);
});

test("a change that no longer matches the source fails loudly", () => {
  const change = { file: "src/log/wal/wal.ts", from: "this text is nowhere", to: "" };
  expect(() => withBug(change.file, [change])).toThrow("src/log/wal/wal.ts has 0 times, not once");
});

test("the page lists the bugs as they are; refresh it with: bun tests/bugs/page.ts", () => {
  expect(readText(PAGE)).toBe(renewed(readText(PAGE)));
});
