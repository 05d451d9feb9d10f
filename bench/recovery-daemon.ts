// recovery.daemon.N: the daemon is killed with SIGKILL while N terminals run, until the status of another daemon says
// LIVE: the watchdog has seen the end, recorded it and started another one, which has opened the log, folded it, and
// has every holder on the line again.
// recovery.daemon.500: the same with 500 terminals; the peer is recovery.daemon.25 of the same run. The kills take
// turns, so that a machine that is busy for a while is busy for both.
// RD1. After each kill every program is the very process that it was at the beginning: the status names the same pid,
//      and /proc has a living child of the same holder there with the same start time. Anything else breaks the
//      benchmark: a status alone could be what the daemon believes.
// Not measured: a watchdog that was killed as well, a crash loop (its threshold is out of reach here), programs that
// flood.
import { Home } from "./home.ts";
import { childrenOf, startOf } from "./processes.ts";
import { inTurn, median, percentile } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";

type Size = { readonly terminals: number; readonly kills: number; readonly barMs: number };

export const RECOVERIES: readonly Size[] = [
  { terminals: 1, kills: 21, barMs: 400 },
  { terminals: 25, kills: 21, barMs: 400 },
  { terminals: 250, kills: 9, barMs: 2000 },
];

const MANY = "recovery.daemon.500";
/** Of the homes that take turns. */
const KILLS = 5;
const FEW = 25;

const CONFIG = "[crash_loop]\ncrashes = 1000000\nwindow_s = 86400\n";
/** Processes started after LIVE have come to rest. */
const REST_MS = 500;

export async function recoveryDaemon(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const size of RECOVERIES) {
    const name = `recovery.daemon.${size.terminals}`;
    if (!names.includes(name)) continue;
    const kills = bench.quick ? 2 : size.kills;
    bench.say(`${name}: ${kills} kills`);
    const home = await Home.start(bench, `r${size.terminals}`, CONFIG);
    try {
      await home.open(size.terminals, ["sleep", "100000"]);
      emit(rowOf(name, size, await killed(home, kills), bench));
    } finally {
      await home.end();
    }
  }
  if (names.includes(MANY)) emit(await many(bench));
}

async function many(bench: Bench): Promise<Row> {
  const home = await Home.start(bench, "r500", CONFIG);
  try {
    await home.open(bench.quick ? 2 * FEW : 500, ["sleep", "100000"]);
    return await besideFew(bench, MANY, home, programs);
  } finally {
    home.cut();
  }
}

/** Kills the daemon of this home and that of one with 25 terminals in turn. `programs` must not change (RD1). */
export async function besideFew(
  bench: Bench,
  name: string,
  home: Home,
  programsOf: (home: Home) => Promise<string>,
): Promise<Row> {
  const few = await Home.start(bench, `few-${name}`, CONFIG);
  try {
    await few.open(FEW, ["sleep", "100000"]);
    const kills = bench.quick ? 1 : KILLS;
    bench.say(`${name}: ${kills} kills each`);
    const before = await Promise.all([programsOf(home), programs(few)]);
    const [value = [], peer = []] = await inTurn(kills, [
      () => killedOnce(home, programsOf, before[0]),
      () => killedOnce(few, programs, before[1]),
    ]);
    bench.say(`  ${[value, peer].map((of) => of.map(Math.round).join(", ")).join(" ms; 25 terminals: ")} ms`);
    return timeRow({ name, value: median(value), peer: "25 terminals", peerValue: median(peer) });
  } finally {
    await few.end();
  }
}

function rowOf(name: string, { barMs }: Size, seen: readonly number[], bench: Bench): Row {
  const [p95, most] = [percentile(seen, 0.95), Math.max(...seen)].map(Math.round);
  bench.say(`  p95 ${p95} ms, longest ${most} ms`);
  return timeRow({ name, value: median(seen), peer: `bar ${barMs} ms`, peerValue: barMs });
}

async function killed(home: Home, kills: number): Promise<number[]> {
  const before = await programs(home);
  const seen: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) seen.push(await killedOnce(home, programs, before));
  return seen;
}

async function killedOnce(home: Home, programsOf: (home: Home) => Promise<string>, before: string): Promise<number> {
  await Bun.sleep(REST_MS);
  const ms = await home.liveAgainMs();
  const now = await programsOf(home);
  if (now !== before) throw new Error(`programs are not the same after the kill: ${before} → ${now}`); // RD1
  return ms;
}

/** Every terminal with its program, as the status names it and as it is in /proc (RD1), as one text. */
async function programs(home: Home): Promise<string> {
  const terminals = await home.terminals();
  const holders = new Map(home.processes().holders.flatMap((pid) => childrenOf(pid).map((child) => [child, pid])));
  return terminals
    .map(({ name, state }) => {
      if (state.kind !== "running") throw new Error(`terminal ${name} is ${state.kind}`);
      const [holder, start] = [holders.get(state.pid), startOf(state.pid)];
      if (holder === undefined || start === undefined)
        throw new Error(`the program of ${name}, process ${state.pid}, is not a living child of a holder`);
      return `${name} ${state.pid}, started at ${start}, below ${holder}`;
    })
    .sort()
    .join("; ");
}
