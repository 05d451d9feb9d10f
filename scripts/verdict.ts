// The result of a test run, once the failed files of the real-process pool have been run a second time.
// V1. A test is flaky if it failed in one run of its file and passed in the other. If it never passed, it failed.
// V2. In CI a flaky test is a failure, unless tests/flaky.tsv lists it.
// V3. Only files of the real-process pool are run again. A deterministic test that fails has failed.
import { type FlakyRow, readFlaky, rowsWithoutTest } from "./flaky.ts";
import { type Failed, hasPassed, hasReason, isSame, joined, type Report, type Test, toldAgain } from "./junit.ts";
import type { Pool } from "./pools.ts";

export type Run = {
  readonly first: Report;
  /** The second run of the files in `again`. */
  readonly second: Report;
  readonly again: readonly string[];
};
export type Surroundings = {
  readonly inCi: boolean;
  readonly flakyList: string;
  /** A date such as 2026-01-31. */
  readonly today: string;
  /** Every test file of the repository. */
  readonly paths: readonly string[];
};
export type Verdict = { readonly passed: number; readonly failed: number; readonly lines: readonly string[] };

/** V3: the files to run again. */
export function filesToRepeat(first: Report, pools: ReadonlyMap<string, Pool>): string[] {
  const failed = new Set(first.failed.map(({ path }) => path));
  return [...failed].filter((path) => pools.get(path) === "real-process");
}

export function judge(run: Run, around: Surroundings): Verdict {
  const { rows, problems } = readFlaky(around.flakyList, around.today);
  const { failed, flaky } = sorted(run);
  const isRed = (test: Test): boolean => around.inCi && rowOf(test, rows) === undefined; // V2
  const red = flaky.filter(isRed);
  const green = flaky.filter((test) => !isRed(test));
  const missing = rowsWithoutTest(rows, joined([run.first, run.second]), around.paths);
  const { passed, skipped } = last(run);
  const faults = [...problems, ...missing, ...badSkips(skipped, around.inCi)];
  const passedBefore = green.filter((test) => !passed.some((other) => isSame(other, test)));
  return {
    passed: passed.filter((test) => !red.some((other) => isSame(other, test))).length + passedBefore.length,
    failed: failed.length + red.length + faults.length,
    lines: [
      ...green.map((test) => toldAgain({ ...test, name: `${test.name} ${noteOn(test, rows)}` }, "flaky")),
      ...failed.map((test) => toldAgain(test)),
      ...red.map((test) => toldAgain({ ...test, name: `${test.name} (flaky: it also passed)` })),
      ...faults.map((fault) => `failed: ${fault}`),
    ],
  };
}

/** What each file reported when it ran last. */
function last({ first, second, again }: Run): Pick<Report, "passed" | "skipped"> {
  const isLast = ({ path }: Test): boolean => !again.includes(path);
  return {
    passed: [...first.passed.filter(isLast), ...second.passed],
    skipped: [...first.skipped.filter(isLast), ...second.skipped],
  };
}

/** V1: each failed test once, with its first error. */
function sorted({ first, second, again }: Run): { failed: Failed[]; flaky: Failed[] } {
  const failed: Failed[] = [];
  const flaky: Failed[] = [];
  for (const test of first.failed) {
    const passedLater = again.includes(test.path) && hasPassed(second, test);
    (passedLater ? flaky : failed).push(test);
  }
  for (const test of second.failed) {
    if (first.failed.some((other) => isSame(other, test))) continue;
    (hasPassed(first, test) ? flaky : failed).push(test);
  }
  return { failed, flaky };
}

function rowOf(test: Test, rows: readonly FlakyRow[]): FlakyRow | undefined {
  return rows.find((row) => isSame({ ...row, ms: 0 }, test));
}

function noteOn(test: Test, rows: readonly FlakyRow[]): string {
  const row = rowOf(test, rows);
  return row === undefined ? "(it also passed)" : `(listed until ${row.expires}: ${row.reason})`;
}

/** In CI nothing is skipped; elsewhere a skipped test names what it needs. */
function badSkips(skipped: readonly Test[], inCi: boolean): string[] {
  const bad = skipped.filter(({ name }) => inCi || !hasReason(name));
  return bad.map(({ path, name }) => `${path}: ${name}: skipped${inCi ? " in CI" : ' without "(needs …)"'}`);
}
