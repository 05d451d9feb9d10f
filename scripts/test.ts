// The one test command: every test of src/ and tests/, in parallel, with coverage; the last line is `N passed, N failed`.
// Arguments are passed on to `bun test` (`npm test -- src/log`).
// T1. A file that was to run and reported nothing is a failure, and so is a skipped test that does not say what it needs.
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { addRan, layCounters } from "./children.ts";
import { ROOT, readAll, readIfThere } from "./files.ts";
import { hasReason, parseJunit, type Report, toldAgain } from "./junit.ts";
import { installPackages } from "./packages.ts";

const JUNIT = "coverage/junit.xml";
const LCOV = "coverage/lcov.info";
/** Bun's 5 s are too few for tests with real processes on a busy machine; none needs a minute on a quiet one. */
const TIMEOUT_MS = 180_000;

async function runBun(args: readonly string[]): Promise<number> {
  const workers = availableParallelism() + 1; // Most tests wait for processes as long as they compute.
  const flags = [`--parallel=${workers}`, `--timeout=${TIMEOUT_MS}`, "--coverage", "--coverage-reporter=lcov"];
  const report = ["--coverage-dir=coverage", "--reporter=junit", `--reporter-outfile=${JUNIT}`];
  const what = args.length === 0 ? ["./src", "./tests"] : args;
  rmSync(join(ROOT, JUNIT), { force: true });
  mkdirSync(join(ROOT, "coverage"), { recursive: true });
  const command = [process.execPath, "test", ...flags, ...report, ...what];
  const env = { ...process.env, HOLDFAST_COUNTING: "1" };
  const child = Bun.spawn(command, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"] });
  return child.exited;
}

/** The failures that bun's report does not count: T1, and in CI any skipped test at all. */
function unreported(report: Report, expected: readonly string[]): string[] {
  const inCi = process.env["CI"] !== undefined;
  const silent = expected.filter((path) => !report.files.has(path));
  return [
    ...silent.map((path) => `${path}: no test of it has run`),
    ...report.skipped
      .filter((test) => inCi || !hasReason(test.name))
      .map((test) => `${test.path}: skipped${inCi ? " in CI" : ' without "(needs …)"'}`),
  ];
}

for (const name of installPackages()) console.log(`missing: ${name}; tests that need it are skipped`);
const args = Bun.argv.slice(2);
const expected = [...readAll("src/**/*.test.ts"), ...readAll("tests/**/*.test.ts")].map((file) => file.path);
const ran = await layCounters();
const code = await runBun(args);
await Bun.write(LCOV, addRan(readIfThere(LCOV) ?? "", ran()));
const report = parseJunit(readIfThere(JUNIT) ?? "");
for (const test of report.skipped) console.log(`skipped: ${test.name} [${test.path}]`);
const more = unreported(report, args.length === 0 ? expected : []);
for (const failure of report.failed) console.log(toldAgain(failure));
for (const reason of more) console.log(`failed: ${reason}`);
const counted = report.failed.length + more.length;
// Bun can also fail without a failed test, for example by an error between tests.
const failed = counted === 0 && code !== 0 ? 1 : counted;
console.log(`${report.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
