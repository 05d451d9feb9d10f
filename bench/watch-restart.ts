// watch.restart.pm2: a watched program, killed with SIGKILL, until its successor runs: a child of the watchdog's that
// has another pid and is executing the program (`sleep`), seen in /proc. The peer does the same with the same program,
// in turn, each with its own defaults.
// Both programs had lived for more than a second before each kill: neither side counts that as a crash loop. Not
// measured: the successor's own start, and a watchdog with many programs.
import { Home } from "./home.ts";
import { Pm2 } from "./pm2.ts";
import { childrenOf, programOf } from "./processes.ts";
import { inTurn, median, percentile } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

const NAME = "watch.restart.pm2";
const PROGRAM = "sleep";
const ARGUMENT = "100000";
const BACK_MS = 10_000;
/** Two of these are between two kills of the same one. */
const REST_MS = 700;

export async function watchRestart(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const pm2 = Pm2.find(bench, NAME);
  if (pm2 === undefined) return;
  const home = await Home.start(bench, "watch", `[watch.${PROGRAM}]\ncommand = ["${PROGRAM}", "${ARGUMENT}"]\n`);
  try {
    await pm2.run("start", Bun.which(PROGRAM) ?? PROGRAM, "--name", PROGRAM, "--interpreter", "none", "--", ARGUMENT);
    const { watchdog } = await until("the status", BACK_MS, () => home.status());
    emit(await compare(bench, watchdog.pid ?? 0, pm2.pid));
  } finally {
    await pm2.end();
    await home.end();
  }
}

async function compare(bench: Bench, ours: number, theirs: number): Promise<Row> {
  const rounds = bench.quick ? 2 : 21;
  bench.say(`${NAME}: ${rounds} kills of each`);
  const [mine = [], pm2 = []] = await inTurn(
    rounds,
    [ours, theirs].map((supervisor) => () => restartMs(supervisor)),
  );
  bench.say(`  p95: ${percentile(mine, 0.95).toFixed(1)} ms, pm2 ${percentile(pm2, 0.95).toFixed(1)} ms`);
  return timeRow({ name: NAME, value: median(mine), peer: "pm2", peerValue: median(pm2) });
}

/** A busy loop: a pause of a millisecond would be as long as the time it measures. */
async function restartMs(supervisor: number): Promise<number> {
  const old = await until(`${PROGRAM} below ${supervisor}`, BACK_MS, () => runningBelow(supervisor));
  await Bun.sleep(REST_MS);
  const before = performance.now();
  process.kill(old, "SIGKILL");
  for (;;) {
    const now = runningBelow(supervisor, old);
    const ms = performance.now() - before;
    if (now !== undefined) return ms;
    if (ms > BACK_MS) throw new Error(`${PROGRAM} did not come back below ${supervisor}`);
  }
}

function runningBelow(supervisor: number, other?: number): number | undefined {
  return childrenOf(supervisor).find((pid) => pid !== other && programOf(pid) === PROGRAM);
}
