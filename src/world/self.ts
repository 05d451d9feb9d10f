// Access to our own installation: how our programs are started, and our environment.
// S1. Our programs start without anything from the current directory (BN1 of base/bun.ts).
// S2. What was preloaded into our program (`--preload`) is also preloaded into those we start.
// S3. Variables that would make Bun do something other than run our program are not passed on.
// S4. A program of ours that has to go on at a limit on processes starts no thread later than it must: Bun aborts if it
//     cannot have one. Its collector of garbage takes one now and then, and gives it back after ten seconds.
import { resolve } from "node:path";
import { BUN_FLAGS, withoutBunVariables } from "../base/bun.ts";
import { builtProgram, HOLDER_BUNDLE, PROGRAMS } from "./built.ts";

export interface Self {
  /** The words that start a program of ours: `entry` is below the installation's root. */
  command(entry: string, ...args: readonly string[]): readonly [string, ...string[]];
  /** A holder's program with everything it imports, as the text of one file; undefined if bundling fails. */
  holder(program: "holder" | "orders"): Promise<string | undefined>;
  /** Our environment, without what must not be passed on (S3). */
  environment(): Readonly<Record<string, string>>;
}

const ROOT = resolve(import.meta.dir, "../..");
const FLAGS = [...BUN_FLAGS, ...preloads(process.execArgv)]; // S1, S2
/**
 * The last two mark processes that a terminal started: a program of ours started inside a terminal does not belong to
 * it.
 */
const NOT_PASSED_ON = ["BUN_JSC_useConcurrentGC", "HOLDFAST_TERMINAL", "HOLDFAST_HOME_ID"];

/** S4. For daemon, watchdog and page. */
export const NO_LATE_THREADS = { BUN_JSC_useConcurrentGC: "0" };

export function realSelf(): Self {
  return {
    command: (entry, ...args) => [process.execPath, ...FLAGS, resolve(ROOT, entry), ...args],
    holder,
    environment,
  };
}

/** S2 */
export function preloads(words: readonly string[]): string[] {
  return words.flatMap((word, at) => (word === "--preload" ? [word, words[at + 1] ?? ""] : []));
}

async function holder(program: "holder" | "orders"): Promise<string | undefined> {
  const there = builtProgram(program);
  if (there !== undefined) return Bun.file(there).text();
  const built = await Bun.build({ entrypoints: [resolve(ROOT, PROGRAMS[program])], ...HOLDER_BUNDLE, throw: false });
  return built.success ? built.outputs[0]?.text() : undefined;
}

function environment(): Record<string, string> {
  const found: Record<string, string> = { DO_NOT_TRACK: "1" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_PASSED_ON.includes(name)) found[name] = value;
  }
  return withoutBunVariables(found);
}
