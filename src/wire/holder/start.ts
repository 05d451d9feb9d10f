// How a holder is started: the words and the environment, the same for whoever starts one.
// ST1. Nothing of the starter's own environment gets in: what the child needs stands in its spec, or is entrusted (secrets.ts).
// ST2. A holder is small. It hardly computes, so it does without the compilers that run behind a Bun program; what it
//      frees goes back to the system at once, and one thread marks its garbage. Each of these was measured (docs/BENCHMARKS.md).
// ST3. A holder at rest stays at rest. Bun's timer, which looks once a second whether there is something to collect, took four fifths of
//      what idle holders cost; the engine still collects by what was allocated, and a holder tidies up when it comes to rest.
// ST4. A holder of attempts works for as long as it is there: it keeps the compilers, and takes a third less of a processor for each attempt.

import { ORDERS } from "./orders.ts";
import { setSecrets, type Variables } from "./secrets.ts";

export type HolderStart = {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

const FLAGS = ["--config=/dev/null", "--no-env-file", "--no-install", "--smol"];

const ENV = {
  DO_NOT_TRACK: "1",
  BUN_JSC_useJIT: "0", // bun:ffi does not work without it: a holder takes no flock.
  BUN_JSC_numberOfGCMarkers: "1",
  BUN_JSC_useConcurrentGC: "0", // A heap this small is marked in a millisecond; a thread for it costs 75 KiB.
  BUN_FEATURE_FLAG_DISABLE_ASYNC_TRANSPILER: "1",
  BUN_JSC_forceCodeBlockToJettisonDueToOldAge: "1", // What ran once, at the start, is not kept: 50 KiB.
  BUN_GC_TIMER_DISABLE: "1", // ST3
  MIMALLOC_PURGE_DELAY: "0",
};

/** What a drill gives to everything of its own: the boot, since whoever compares boots must be told the same one, and whose it is, so that a
 * holder is found before it has claimed anything. */
const OF_A_DRILL = ["HOLDFAST_BOOT_ID", "HOLDFAST_DRILL"];

/** `runtime` is our Bun, `entry` the holder's entry file, `directory` the terminal's. Its cwd is a place that stays. */
export function holderStart(
  runtime: string,
  entry: string,
  directory: string,
  { ours = {}, secrets = {} }: { readonly ours?: Variables; readonly secrets?: Variables } = {},
): HolderStart {
  const env = { ...ENV, ...drillOf(ours), ...setSecrets(secrets) };
  return { argv: [runtime, ...FLAGS, entry, directory], cwd: "/", env }; // ST1, ST2, ST3
}

/** One that waits for orders (orders.ts). */
export function ordersStart(runtime: string, entry: string, home: string, ours: Variables): HolderStart {
  const env = { DO_NOT_TRACK: "1", BUN_FEATURE_FLAG_DISABLE_ASYNC_TRANSPILER: "1", ...drillOf(ours) };
  return { argv: [runtime, ...FLAGS, entry, ORDERS, home], cwd: "/", env }; // ST1, ST4
}

function drillOf(ours: Variables): Variables {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => OF_A_DRILL.includes(name)));
}
