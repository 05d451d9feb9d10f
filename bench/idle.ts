// What Holdfast costs while nothing happens: 25 terminals with a shell each, left alone until everything is at rest.
// terminal.memory.25: private memory of the 25 holders together (/proc/PID/smaps_rollup, dirty and clean), in MB (10⁶
// bytes).
// terminal.memory.25.all: the same of holders, daemon, watchdog and page together. The shells are the user's and not
// counted.
// idle.cpu: the share of one core that all of those use, in percent, as the scheduler counts it. Not measured: memory
// after much output, 250 terminals, browsers that look at the page.
import { Home } from "./home.ts";
import { cpuMsBetween, cpuTimesOf, type Memory, memoryOf } from "./processes.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";

const TERMINALS = 25;
const HOLDERS = "terminal.memory.25";
const ALL = "terminal.memory.25.all";
const CPU = "idle.cpu";
const MB = 1_000_000;
/** The last terminal is checkpointed after a minute, and the program that draws screens leaves a minute later. */
const REST_MS = 130_000;
/**
 * Whatever is done now and then is done within it: holders look after their sockets once a minute, and nothing is done
 * less often.
 */
const WATCH_MS = 60_000;

export async function idle(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const home = await Home.start(bench, "i");
  try {
    await home.open(TERMINALS, ["/bin/sh"]);
    const restMs = bench.quick ? 500 : REST_MS;
    bench.say(`idle: ${TERMINALS} terminals, left alone for ${restMs / 1000} s`);
    await Bun.sleep(restMs);
    if (names.includes(HOLDERS) || names.includes(ALL)) memory(names, home, bench, emit);
    if (names.includes(CPU)) emit(await cpu(home, bench));
  } finally {
    await home.end();
  }
}

function memory(names: readonly string[], home: Home, bench: Bench, emit: (row: Row) => void): void {
  const { holders, ours } = home.processes();
  if (holders.length !== TERMINALS) throw new Error(`${holders.length} holders for ${TERMINALS} terminals`);
  const [held, own] = [memoryOf(holders), memoryOf(ours)];
  bench.say(`  ${TERMINALS} holders: ${text(held)}`);
  bench.say(`  daemon, watchdog, page: ${text(own)}`);
  const rows = [
    { name: HOLDERS, value: mb(held), bar: 80, unit: "MB" },
    { name: ALL, value: mb(held) + mb(own), bar: 160, unit: "MB" },
  ];
  for (const row of rows) if (names.includes(row.name)) emit(costRow(row));
}

function mb({ privateClean, privateDirty }: Memory): number {
  return (privateClean + privateDirty) / MB;
}

function text({ privateClean, privateDirty, pss }: Memory): string {
  const [dirty, clean, share] = [privateDirty, privateClean, pss].map((bytes) => (bytes / MB).toFixed(1));
  return `private dirty ${dirty} MB, private clean ${clean} MB, PSS ${share} MB`;
}

async function cpu(home: Home, bench: Bench): Promise<Row> {
  const { holders, ours } = home.processes();
  const look = () => ({ held: cpuTimesOf(holders), own: cpuTimesOf(ours), at: performance.now() });
  const before = look();
  await Bun.sleep(bench.quick ? 1000 : WATCH_MS);
  const after = look();
  const percent = (ms: number) => (100 * ms) / (after.at - before.at);
  const held = percent(cpuMsBetween(before.held, after.held));
  const own = percent(cpuMsBetween(before.own, after.own));
  bench.say(`  holders ${held.toFixed(3)} %, daemon, watchdog and page ${own.toFixed(3)} % of a core`);
  return costRow({ name: CPU, value: held + own, bar: 0.5, unit: "%" });
}
