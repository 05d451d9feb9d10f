// How long test files take: the slowest of a run, as `npm test -- --timings` prints them, and the order they start in.
// TI1. The slowest files start first: one that starts last runs alone at the end, when most of the machine is idle. Bun
//      reads how long each took last time (`--timings`), and starts files that it does not know before all others, so
//      it is given a time for each.
// TI2. The repository keeps the times of the slowest only (tests/timings.json), which `npm test -- --timings` renews
//      when it runs everything. A file that is gone from the tree stays there until then, and does no harm.
import { join } from "node:path";
import { ROOT, readText } from "./files.ts";
import type { Report } from "./junit.ts";

const TIMINGS = "tests/timings.json";
const FILES = 30;
const TESTS = 40;
/** Those that are kept (TI2). The others take seconds. */
const KEPT = 60;
const OTHERS_MS = 2_000;

/** As Bun reads it. */
type Times = { readonly version: 1; readonly files: Readonly<Record<string, number>> };

export function slowest({ files, passed, failed }: Report): string[] {
  const byFile = [...files].map(([path, ms]) => ({ ms, what: path }));
  const byTest = [...passed, ...failed].map(({ path, name, ms }) => ({ ms, what: `${path}: ${name}` }));
  return ["slowest files:", ...longest(byFile, FILES), "slowest tests:", ...longest(byTest, TESTS)];
}

function longest(all: readonly { readonly ms: number; readonly what: string }[], count: number): string[] {
  const first = all.toSorted((a, b) => b.ms - a.ms).slice(0, count);
  return first.map(({ ms, what }) => `${(ms / 1000).toFixed(2).padStart(8)} s  ${what}`);
}

/** TI1 */
export function timesOf(paths: readonly string[], kept: Times = JSON.parse(readText(TIMINGS))): Times {
  return { version: 1, files: Object.fromEntries(paths.map((path) => [path, kept.files[path] ?? OTHERS_MS])) };
}

/** TI2 */
export function keptTimes({ files }: Report): Times {
  const slow = [...files].toSorted(([, a], [, b]) => b - a).slice(0, KEPT);
  return { version: 1, files: Object.fromEntries(slow.map(([path, ms]) => [path, Math.round(ms)])) };
}

export async function keepTimes(report: Report): Promise<void> {
  await Bun.write(join(ROOT, TIMINGS), `${JSON.stringify(keptTimes(report), undefined, 2)}\n`);
}
