// The command lines that start our programs in a test.
import { join } from "node:path";
import { COUNTING as COUNTING_FILE, IN_ONE_FILE } from "../scripts/counted-files.ts";
import { ROOT } from "../scripts/files.ts";
import { LATE_COMPILERS } from "../src/world/self.ts";

/** The real file: the one in node_modules/.bin is a link, and our child processes name the real one. */
export const BUN = join(ROOT, "node_modules/bun/bin/bun.exe");

/** Under `npm test` our programs count the lines they run, wherever they run (scripts/counting.ts). */
export const COUNTING: readonly string[] =
  process.env["HOLDFAST_COUNTING"] === undefined ? [] : ["--preload", COUNTING_FILE];

/**
 * A daemon of a test lives for seconds, in which the engine's optimizing compiler and its threads cost a fifth of its
 * processor time and give nothing. Passed on from a command to all that it starts.
 */
export const LITTLE_COMPILING = {
  BUN_JSC_useConcurrentJIT: "0",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "20000",
};

/** As the launcher starts it. */
const OPTIONS = Object.entries({ ...LATE_COMPILERS, ...LITTLE_COMPILING }).map(([name, value]) => `${name}=${value}`);
const STARTS = ["/usr/bin/env", ...OPTIONS, BUN, "--config=/dev/null", "--no-env-file", "--no-install"] as const;

/** As the launcher starts it; that the bundles are found has its own tests. */
const IN_ONE: Readonly<Record<string, string>> =
  process.env["HOLDFAST_COUNTING"] === undefined ? {} : { "src/cli/main.ts": join(IN_ONE_FILE, "quick/main.js") };

export function ours(entry: string, ...args: readonly string[]): [string, ...string[]] {
  return [...STARTS, ...COUNTING, IN_ONE[entry] ?? join(ROOT, entry), ...args];
}

/** The same from another installation. */
export function oursAt(root: string, entry: string, ...args: readonly string[]): [string, ...string[]] {
  return [...STARTS, ...COUNTING, join(root, entry), ...args];
}
