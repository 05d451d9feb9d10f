// The command lines that start our programs in a test.
import { join } from "node:path";
import { COUNTING as COUNTING_FILE } from "../scripts/counted-files.ts";
import { ROOT } from "../scripts/files.ts";

/** The real file: the one in node_modules/.bin is a link, and our child processes name the real one. */
export const BUN = join(ROOT, "node_modules/bun/bin/bun.exe");

/** Under `npm test` our programs count the lines they run, wherever they run (scripts/counting.ts). */
export const COUNTING: readonly string[] =
  process.env["HOLDFAST_COUNTING"] === undefined ? [] : ["--preload", COUNTING_FILE];

export function ours(entry: string, ...args: readonly string[]): [string, ...string[]] {
  return oursAt(ROOT, entry, ...args);
}

/** The same from another installation. */
export function oursAt(root: string, entry: string, ...args: readonly string[]): [string, ...string[]] {
  return [BUN, "--config=/dev/null", "--no-env-file", "--no-install", ...COUNTING, join(root, entry), ...args];
}
