// The slowest files and tests of a run, as `npm test -- --timings` prints them.
import type { Report } from "./junit.ts";

const FILES = 30;
const TESTS = 40;

export function slowest({ files, passed, failed }: Report): string[] {
  const byFile = [...files].map(([path, ms]) => ({ ms, what: path }));
  const byTest = [...passed, ...failed].map(({ path, name, ms }) => ({ ms, what: `${path}: ${name}` }));
  return ["slowest files:", ...longest(byFile, FILES), "slowest tests:", ...longest(byTest, TESTS)];
}

function longest(all: readonly { readonly ms: number; readonly what: string }[], count: number): string[] {
  const first = all.toSorted((a, b) => b.ms - a.ms).slice(0, count);
  return first.map(({ ms, what }) => `${(ms / 1000).toFixed(2).padStart(8)} s  ${what}`);
}
