// The one test command: every test of src/ and tests/, with coverage; the last line is `N passed, N failed`.
//   npm test [-- [path…] [--timings] [flags of `bun test`]]
// A path chooses the test files whose paths contain it. `--timings` prints the slowest files and tests,
// and if all files ran, they start in that order from now on (scripts/timings.ts).
// T1. Two pools (scripts/pools.ts), side by side: deterministic files run once. A file with real processes that fails
//     is run once more, and a test that failed only once is named as flaky (scripts/verdict.ts).
// T2. A file that was to run and reported nothing is a failure, and so is a skipped test that does not say what it
//     needs.
// T3. The seed (scripts/seed.ts) is printed with every run, and again with the failures.
import { addRan, layCounters } from "./children.ts";
import { ROOT, readAll, readText } from "./files.ts";
import { FLAKY_LIST } from "./flaky.ts";
import { joined, joinedXml } from "./junit.ts";
import { installPackages } from "./packages.ts";
import { type Pool, poolsOf } from "./pools.ts";
import { seedOf } from "./seed.ts";
import { chosen } from "./test-arguments.ts";
import { type Outcome, runTests } from "./test-run.ts";
import { keepTimes, slowest } from "./timings.ts";
import { filesToRepeat, judge } from "./verdict.ts";

function headCommit(): string | undefined {
  const git = Bun.which("git");
  if (git === null) return undefined;
  const { exitCode, stdout } = Bun.spawnSync([git, "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" });
  return exitCode === 0 ? stdout.toString().trim() : undefined;
}

for (const name of installPackages()) console.log(`missing: ${name}; tests that need it are skipped`);
const started = performance.now();
const pools = poolsOf(["src", "tests", "scripts", "bench"].flatMap((room) => readAll(`${room}/**/*.ts`)));
const { paths, flags, timings } = chosen(Bun.argv.slice(2), [...pools.keys()]);
const seed = seedOf(process.env, headCommit(), Math.floor(Math.random() * 1e9));
console.log(`seed ${seed}, profile ${process.env["HOLDFAST_FUZZ"] ?? "ci"}`); // T3

const of = (pool: Pool): string[] => paths.filter((path) => pools.get(path) === pool);
const run = (pool: Pool, files: readonly string[], isRepeat: boolean): Promise<Outcome> =>
  runTests({ pool, paths: files, isRepeat }, flags, seed);
const beside = run("deterministic", of("deterministic"), false); // T1. They need no counters, which take a while.
const counting = layCounters();
const others = counting.then(() => run("real-process", of("real-process"), false));
await Promise.allSettled([beside, others]); // If there are no counters, the tests that run already end first.
const [deterministic, real, ran] = [await beside, await others, await counting];
const first = joined([deterministic.report, real.report]);
const again = filesToRepeat(first, pools);
if (again.length > 0) console.log(`running failed files with real processes once more: ${again.join(", ")}`);
const second = await run("real-process", again, true);

const outcomes = [deterministic, real, second];
await Bun.write(`${ROOT}/coverage/lcov.info`, addRan(outcomes.map(({ lcov }) => lcov).join(""), ran()));
await Bun.write(`${ROOT}/coverage/junit.xml`, joinedXml(outcomes.map(({ xml }) => xml)));
const inCi = process.env["CI"] !== undefined;
const today = new Date().toISOString().slice(0, 10);
const surroundings = { inCi, today, flakyList: readText(FLAKY_LIST), paths: [...pools.keys()] };
const verdict = judge({ first, second: second.report, again }, surroundings);
for (const test of first.skipped) console.log(`skipped: ${test.name} [${test.path}]`);
if (timings) console.log(slowest(first).join("\n"));
if (timings && paths.length === pools.size) await keepTimes(first);
for (const line of verdict.lines) console.log(line);
if (verdict.failed > 0) console.log(`seed ${seed}: repeat with HOLDFAST_SEED=${seed}`);
console.log(`took ${((performance.now() - started) / 1000).toFixed(0)} s`);
console.log(`${verdict.passed} passed, ${verdict.failed} failed`);
process.exit(verdict.failed === 0 ? 0 : 1);
