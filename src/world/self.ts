// Access to our own installation: how our programs are started, and our environment.
// S1. Our programs start without anything from the current directory: no `.env` is read, no packages are installed.
// S2. What was preloaded into our program (`--preload`) is also preloaded into those we start.
// S3. Variables that would make Bun do something other than run our program are not passed on.
import { resolve } from "node:path";

export interface Self {
  /** The words that start a program of ours: `entry` is below the installation's root. */
  command(entry: string, ...args: readonly string[]): readonly [string, ...string[]];
  /** A program of ours with everything it imports, as the text of one file; undefined if bundling fails. */
  bundle(entry: string): Promise<string | undefined>;
  /** Our environment, without what must not be passed on (S3). */
  environment(): Readonly<Record<string, string>>;
}

const ROOT = resolve(import.meta.dir, "../..");
const FLAGS = ["--no-env-file", "--no-install", ...preloads(process.execArgv)]; // S1, S2
/**
 * The last one marks processes that a terminal started: a program of ours started inside a terminal does not belong to
 * it.
 */
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
  // CommonJS: the same program takes 150 KiB less memory than as a module, and many run at the same time.
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
