// One `bun test` over the files of one pool: its report, and the coverage of the lines that ran in it.
// R1. The environment has what tests follow: HOLDFAST_SEED (scripts/seed.ts), HOLDFAST_PATIENCE (scripts/patience.ts),
//     and HOLDFAST_COUNTING, which lets our programs count the lines that they run (scripts/counting.ts).
// R2. The deterministic pool gives way to the other one, which runs beside it. What it printed is shown once it is
//     done: the lines of two runs in one stream would tell nobody which file they are about.
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, setPriority } from "node:os";
import { join } from "node:path";
import { ROOT, readIfThere } from "./files.ts";
import { parseJunit, type Report, withSilent } from "./junit.ts";
import { patienceOf, type Workload, workersFor } from "./patience.ts";
import type { Pool } from "./pools.ts";
import { timesOf } from "./timings.ts";

export type TestRun = Workload & { readonly paths: readonly string[] };
export type Outcome = { readonly report: Report; readonly xml: string; readonly lcov: string };

/** Bun's 5 s are too few for tests with real processes on a busy machine; none needs a minute on a quiet one. */
const TIMEOUT_MS = 90_000;
const LEAST_TIMEOUT_MS = 180_000;
/** Deterministic tests wait for nobody but a core, and give way (R2): a busy machine must not fail them. */
const DETERMINISTIC_TIMEOUT_MS = 1_200_000;

/** Flags with which bun may leave out whole files. */
const NARROWS = /^(?:-t|--test-name-pattern|--only|--shard|--changed|--bail)(?:=|$)/;

/** `flags` are passed on to bun. */
export async function runTests(run: TestRun, flags: readonly string[], seed: number): Promise<Outcome> {
  const directory = `coverage/${run.pool}${run.isRepeat ? "-again" : ""}`;
  rmSync(join(ROOT, directory), { recursive: true, force: true });
  mkdirSync(join(ROOT, directory), { recursive: true });
  if (run.paths.length === 0) return { report: parseJunit(""), xml: "", lcov: "" };
  const cores = availableParallelism();
  const workers = workersFor(run, cores);
  const patience = run.pool === "deterministic" ? 1 : patienceOf(loadavg()[0] ?? 0, workers, cores);
  console.log(`${run.paths.length} ${run.pool} files, ${workers} at a time, patience ${patience}, seed ${seed}`);
  await Bun.write(join(ROOT, timesIn(directory)), JSON.stringify(timesOf(run.paths)));
  const command = [process.execPath, "test", ...flagsOf(run, directory), `--parallel=${workers}`];
  command.push(`--timeout=${timeoutOf(run.pool, patience)}`, ...flags);
  // R1
  const env = { ...process.env, HOLDFAST_COUNTING: "1", HOLDFAST_PATIENCE: `${patience}`, HOLDFAST_SEED: `${seed}` };
  const argv = [...command, ...run.paths.map((path) => `./${path}`)];
  const code = await (run.pool === "deterministic"
    ? runBeside(argv, env, join(ROOT, directory))
    : runBefore(argv, env));
  const xml = readIfThere(`${directory}/junit.xml`) ?? "";
  const report = withSilent(parseJunit(xml), flags.some((flag) => NARROWS.test(flag)) ? [] : run.paths);
  return { report: withCode(report, code, run.pool), xml, lcov: readIfThere(`${directory}/lcov.info`) ?? "" };
}

function timeoutOf(pool: Pool, patience: number): number {
  return pool === "deterministic" ? DETERMINISTIC_TIMEOUT_MS : Math.max(LEAST_TIMEOUT_MS, TIMEOUT_MS * patience);
}

type Env = Readonly<Record<string, string | undefined>>;

function runBefore(argv: string[], env: Env): Promise<number> {
  return Bun.spawn(argv, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"] }).exited;
}

/** How nice it is: enough to give way, and not so much that a test runs into its time limit on a busy machine. */
const GIVES_WAY = 5;

/** R2 */
async function runBeside(argv: string[], env: Env, directory: string): Promise<number> {
  const path = join(directory, "output.txt");
  const output = openSync(path, "w");
  const child = Bun.spawn(argv, { cwd: ROOT, env, stdio: ["ignore", output, output] });
  setPriority(child.pid, GIVES_WAY);
  const code = await child.exited;
  closeSync(output);
  await Bun.write(Bun.stdout, Bun.file(path));
  return code;
}

function timesIn(directory: string): string {
  return `${directory}/timings.json`;
}

function flagsOf({ pool }: TestRun, directory: string): string[] {
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${directory}`];
  const report = ["--reporter=junit", `--reporter-outfile=${directory}/junit.xml`];
  const order = `--timings=${timesIn(directory)}`;
  return [
    ...coverage,
    ...report,
    order,
    ...(pool === "deterministic" ? ["--preload", "./scripts/no-processes.ts"] : []),
  ];
}

/** Bun can also fail without a failed test, for example by an error between tests. */
function withCode(report: Report, code: number, pool: Pool): Report {
  if (code === 0 || report.failed.length > 0) return report;
  const failure = { path: pool, name: "(bun test)", ms: 0, why: `exit code ${code} without a failed test` };
  return { ...report, failed: [failure] };
}
