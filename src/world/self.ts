// Access to our own installation: how our programs are started, and our environment.
// S1. Our programs start without anything from the current directory (BN1 of base/bun.ts).
// S2. What was preloaded into our program (`--preload`) is also preloaded into those we start.
// S3. Variables that would make Bun do something other than run our program are not passed on.
// S4. A program of ours that has to go on at a limit on processes starts no thread later than it must: Bun aborts if it
//     cannot have one. Its collector of garbage takes one now and then, and gives it back after ten seconds.
// S5. A command runs for milliseconds: its code is compiled only if it runs often. By default, compiling took a sixth
//     of its processor time. Not so the daemon and its like: with compilers that begin late, they would want threads
//     when it is too late to get them (S4).
// S6. A key that is typed from afar passes through web host and relay, which do little else: by default their code was
//     not compiled well before hundreds of keys. Compiled early, an echo took some 8 % less time.
// S7. What we start ourselves is of our own version (RT1 of real/runtime.ts). A watchdog is of the version that is
//     installed when it starts, and so is what others start for us, by words that are written down: a service's unit.
// S8. A home keeps a holder's program as one file, because the sources may change. Our binary starts the one inside:
//     that takes 5 % less memory, and less than half of the processor time.
import { flagsFor, INSIDE, withoutBunVariables } from "../base/bun.ts";
import { joinPath } from "../base/path.ts";
import { builtProgram, HOLDER_BUNDLE, PROGRAMS, withoutPrivateNames } from "./built.ts";
import { IS_BINARY, ownRuntime, runtimeFile } from "./real/runtime.ts";
import { ROOT } from "./root.ts";

export interface Self {
  /** The words by which we start a program of ours: `entry` is below the installation's root. */
  command(entry: string, ...args: readonly string[]): readonly [string, ...string[]];
  /** The same of the version that is installed when it starts (S7). */
  lasting(entry: string, ...args: readonly string[]): readonly [string, ...string[]];
  /** Our single binary, by its name; undefined if we run from the sources. */
  binary(): string | undefined;
  /** The files and directories that a program of ours needs in order to start. */
  files(): readonly string[];
  /** A holder's program with everything it imports, as the text of one file; undefined if there is none (S8). */
  holder(program: "holder" | "orders"): Promise<string | undefined>;
  /** Our environment, without what must not be passed on (S3). */
  environment(): Readonly<Record<string, string>>;
  /** What this machine, or the container we are in, has. */
  capacity(): { readonly cores: number; readonly memoryBytes: number };
  /** Frees what is not used any more, now; or only what was made lately, which takes a tenth of the time. */
  collect(which: "all" | "new"): void;
}

/** S5. The launcher (./holdfast) has the same for the CLI, our binary something like it; the engine has 500 and 100. */
export const LATE_COMPILERS = { BUN_JSC_thresholdForJITAfterWarmUp: "50000", BUN_JSC_thresholdForJITSoon: "5000" };
/** S6. For web host and relay; the engine's own numbers are 500, 100, 1000 and 1000. */
export const EARLY_COMPILERS = {
  ...{ BUN_JSC_thresholdForJITAfterWarmUp: "50", BUN_JSC_thresholdForJITSoon: "20" },
  ...{ BUN_JSC_thresholdForOptimizeAfterWarmUp: "300", BUN_JSC_thresholdForOptimizeSoon: "100" },
};
/** S4. For daemon, watchdog and page. */
export const ENGINE_OPTIONS = { BUN_JSC_useConcurrentGC: "0" };

/**
 * The last two mark processes that a terminal started: a program of ours started inside a terminal does not belong to
 * it.
 */
const NOT_PASSED_ON = [
  ...Object.keys({ ...ENGINE_OPTIONS, ...LATE_COMPILERS, ...EARLY_COMPILERS }),
  "HOLDFAST_TERMINAL",
  "HOLDFAST_HOME_ID",
];

export function realSelf(): Self {
  return {
    command: (entry, ...args) => [ownRuntime(), ...wordsOf(entry), ...args],
    lasting: (entry, ...args) => [runtimeFile(), ...wordsOf(entry), ...args],
    binary: () => (IS_BINARY ? runtimeFile() : undefined),
    files: () => (IS_BINARY ? [runtimeFile()] : [runtimeFile(), ROOT]),
    holder,
    environment,
    capacity,
    collect: (which) => (which === "all" ? Bun.gc(true) : collectNew()),
  };
}

function wordsOf(entry: string): string[] {
  const path = IS_BINARY ? `${INSIDE}${entry}` : joinPath(ROOT, entry);
  return [...flagsFor(path), ...preloads(process.execArgv), path]; // S1, S2
}

function collectNew(): void {
  const { edenGC }: typeof import("bun:jsc") = require("bun:jsc"); // Commands need none of it.
  edenGC();
}

/** S2 */
export function preloads(words: readonly string[]): string[] {
  return words.flatMap((word, at) => (word === "--preload" ? [word, words[at + 1] ?? ""] : []));
}

async function holder(program: "holder" | "orders"): Promise<string | undefined> {
  if (IS_BINARY) return undefined; // S8
  const there = builtProgram(program);
  if (there !== undefined) return Bun.file(there).text();
  const built = await Bun.build({ entrypoints: [joinPath(ROOT, PROGRAMS[program])], ...HOLDER_BUNDLE, throw: false });
  const text = built.success ? await built.outputs[0]?.text() : undefined;
  return text && withoutPrivateNames(text);
}

function capacity() {
  const { availableParallelism, totalmem }: typeof import("node:os") = require("node:os"); // Commands need none of it.
  const limit = process.constrainedMemory(); // 0 if there is none.
  return { cores: availableParallelism(), memoryBytes: Math.min(totalmem(), limit || Number.POSITIVE_INFINITY) };
}

function environment(): Record<string, string> {
  const found: Record<string, string> = { DO_NOT_TRACK: "1" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_PASSED_ON.includes(name)) found[name] = value;
  }
  return withoutBunVariables(found);
}
