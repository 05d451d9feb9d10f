// How a holder is started: its arguments and its environment, the same for every program that starts one.
// ST1. The environment of the starting process is not passed on: what the child needs is in its spec or in secrets.ts.
// ST2. A holder is small. It hardly computes, so it runs without the JIT compilers; freed memory is returned to the
//      system at once, and one thread marks garbage. Each of these was measured (docs/BENCHMARKS.md).
// ST3. An idle holder does not wake up. Bun's timer, which checks once a second for garbage, took four fifths of the
//      processor time of idle holders; the engine still collects after allocations, and a holder collects once when it
//      becomes idle.
// ST4. A holder of attempts works all the time: it keeps the compilers, and takes a third less processor time per
//      attempt.
// ST5. A holder of agents keeps the JIT, but not its compilers: bun:ffi needs it, for what they adopt (M5 of
//      holder/hold.ts) and to see who connects. It costs 0.7 MB beside the hundreds that an agent takes.

import { flagsFor } from "../../base/bun.ts";
import { ORDERS, SPARE } from "./orders.ts";
import { setSecrets, type Variables } from "./secrets.ts";

export type HolderStart = {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** ST2. The same as `--smol`, a word that our binary does not have. */
const SMALL_HEAP = { BUN_JSC_largeHeapSize: "1048576" };

const ENV = {
  DO_NOT_TRACK: "1",
  ...SMALL_HEAP,
  BUN_JSC_numberOfGCMarkers: "1",
  BUN_JSC_smallHeapSize: "131072", // Garbage of the start is collected early, and leaves fewer gaps: 60 KiB.
  BUN_JSC_useConcurrentGC: "0", // So small a heap is marked in a millisecond; a thread for it costs 75 KiB.
  BUN_FEATURE_FLAG_DISABLE_ASYNC_TRANSPILER: "1",
  BUN_JSC_forceCodeBlockToJettisonDueToOldAge: "1", // Code that ran once, at the start, is not kept: 50 KiB.
  BUN_GC_TIMER_DISABLE: "1", // ST3
  MIMALLOC_PURGE_DELAY: "0",
};

/** bun:ffi does not work without the JIT, so a terminal's holder takes no flock. */
const NO_JIT = { BUN_JSC_useJIT: "0" };
/** ST5 */
const NO_COMPILERS = { BUN_JSC_useBaselineJIT: "0", BUN_JSC_useDFGJIT: "0", BUN_JSC_useRegExpJIT: "0" };

/** Variables of a drill that all its processes get: the simulated boot, which all must agree on, and the drill's
 *  mark, by which a holder is found before it has written a claim. */
const OF_A_DRILL = ["HOLDFAST_BOOT_ID", "HOLDFAST_DRILL"];

/** `adopts`: as in the spec (protocol.ts). */
export type HolderGiven = { readonly ours?: Variables; readonly secrets?: Variables; readonly adopts?: boolean };

/** `runtime` is our Bun, `entry` the holder's entry file, `directory` the terminal's. The cwd is one that is never
 *  removed. */
export function holderStart(
  runtime: string,
  entry: string,
  directory: string,
  { ours = {}, secrets = {}, adopts = false }: HolderGiven = {},
): HolderStart {
  const env = { ...ENV, ...(adopts ? NO_COMPILERS : NO_JIT), ...drillOf(ours), ...setSecrets(secrets) };
  return { argv: [...wordsOf(runtime, entry), directory], cwd: "/", env }; // ST1, ST2, ST3
}

/** A holder of a terminal that waits for its order; with it, `shown` becomes the terminal's directory. */
export function spareStart(runtime: string, entry: string, shown: string, ours: Variables): HolderStart {
  const { env, ...start } = holderStart(runtime, entry, shown, { ours });
  return { ...start, env: { ...env, [SPARE]: "1" } };
}

/** One that waits for orders (orders.ts). */
export function ordersStart(runtime: string, entry: string, home: string, ours: Variables): HolderStart {
  const env = { DO_NOT_TRACK: "1", ...SMALL_HEAP, BUN_FEATURE_FLAG_DISABLE_ASYNC_TRANSPILER: "1", ...drillOf(ours) };
  return { argv: [...wordsOf(runtime, entry), ORDERS, home], cwd: "/", env }; // ST1, ST4
}

function wordsOf(runtime: string, entry: string): readonly [string, ...string[]] {
  const flags = flagsFor(entry);
  return [runtime, ...flags, ...(flags.length > 0 ? ["--smol"] : []), entry];
}

function drillOf(ours: Variables): Variables {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => OF_A_DRILL.includes(name)));
}
