// Tests of our tests: each deliberate bug is put into a copy of the sources, and the check that is named for it must catch it.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readText } from "../../scripts/files.ts";
import { BUGS } from "./bugs.ts";
import { CHECKS } from "./checks.ts";
import { PAGE, renewed } from "./page.ts";
import { apply, copySources } from "./scratch.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-bugs-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** All of them start at once and share the machine with the rest of the tests. */
const TIMEOUT_MS = 60_000;

type Outcome = { readonly code: number; readonly said: string; readonly err: string };

let copies = 0;

function newCopy(): string {
  copies += 1;
  const copy = join(scratch, String(copies));
  copySources(copy);
  return copy;
}

async function runCheck(copy: string, check: string): Promise<Outcome> {
  const command = [process.execPath, join(copy, "tests/bugs/check.ts"), check];
  const child = Bun.spawn(command, { cwd: copy, stdio: ["ignore", "pipe", "pipe"] });
  const [said, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, said: said.trim(), err };
}

describe("without a bug", () => {
  const clean = newCopy();
  for (const check of Object.keys(CHECKS)) {
    test.concurrent(
      `the sources pass: ${check}`,
      async () => {
        const { code, said, err } = await runCheck(clean, check);
        expect({ code, err }).toEqual({ code: 0, err: "" });
        expect(said).toMatch(/^survived [1-9]\d*$/);
      },
      TIMEOUT_MS,
    );
  }
});

describe("a deliberate bug is caught", () => {
  for (const { bug, changes, caughtBy, says } of BUGS) {
    test.concurrent(
      `${bug}: by the ${caughtBy}`,
      async () => {
        const copy = newCopy();
        for (const change of changes) apply(copy, change);
        const { code, said, err } = await runCheck(copy, caughtBy);
        expect({ code, err, said }).toEqual({ code: 3, err: "", said: expect.stringMatching(says) });
      },
      TIMEOUT_MS,
    );
  }
});

test("every bug is different, and every check catches one", () => {
  expect(new Set(BUGS.map(({ bug }) => bug)).size).toBe(BUGS.length);
  expect(new Set(BUGS.map(({ caughtBy }): string => caughtBy))).toEqual(new Set(Object.keys(CHECKS)));
});

test("a change that no longer matches the source fails loudly", () => {
  const copy = newCopy();
  const change = { file: "src/log/wal.ts", from: "this text is nowhere", to: "" };
  expect(() => apply(copy, change)).toThrow("src/log/wal.ts has 0 times, not once");
});

test("the page lists the bugs as they are; refresh it with: bun tests/bugs/page.ts", () => {
  expect(readText(PAGE)).toBe(renewed(readText(PAGE)));
});
