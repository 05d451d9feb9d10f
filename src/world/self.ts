// The door to our own installation: with what our programs are started, and the environment we were given.
// S1. Our programs start without what lies in the current directory: no `.env`, no installing of packages on the way.
// S2. What was loaded before our program (`--preload`) is loaded before those we start.
// S3. What would make Bun do something else than run our program is not passed on.
import { resolve } from "node:path";

export interface Self {
  /** The words that start a program of ours: `entry` is below the installation's root. */
  command(entry: string, ...args: readonly string[]): readonly [string, ...string[]];
  /** A program of ours with all it imports, as the text of one file; undefined where that cannot be made. */
  bundle(entry: string): Promise<string | undefined>;
  /** What we were given, without what must not be handed on (S3). */
  environment(): Readonly<Record<string, string>>;
}

const ROOT = resolve(import.meta.dir, "../..");
const FLAGS = ["--no-env-file", "--no-install", ...preloads(process.execArgv)]; // S1, S2
/** The last one marks what a terminal started: a program of ours that is started from within one is not that terminal's. */
const NOT_PASSED_ON = ["BUN_OPTIONS", "BUN_BE_BUN", "HOLDFAST_TERMINAL"];

export function realSelf(): Self {
  return {
    command: (entry, ...args) => [process.execPath, ...FLAGS, resolve(ROOT, entry), ...args],
    bundle,
    environment,
  };
}

/** S2 */
export function preloads(words: readonly string[]): string[] {
  return words.flatMap((word, at) => (word === "--preload" ? [word, words[at + 1] ?? ""] : []));
}

async function bundle(entry: string): Promise<string | undefined> {
  // CommonJS: the same program takes 150 KiB less memory than as a module, and many run at a time.
  const options = { target: "bun", format: "cjs", minify: true, throw: false } as const;
  const built = await Bun.build({ entrypoints: [resolve(ROOT, entry)], ...options });
  return built.success ? built.outputs[0]?.text() : undefined;
}

function environment(): Record<string, string> {
  const found: Record<string, string> = { DO_NOT_TRACK: "1" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_PASSED_ON.includes(name)) found[name] = value;
  }
  return found;
}
