// fleet.steps.N.dbos: durable steps a second of N workflows at once, ours and DBOS on the same PostgreSQL (default
// settings, on a socket) in one run. A step of ours is a variable that is set, a commit of its own on this disk and in
// the database, sealed, before the next step of its workflow begins (one-a-commit.ts); the daemon is a fleet's owner,
// with its lease, and with the standby program that ships and watches beside it. A step of DBOS returns a number, which
// is an insert of its own. Workflows at once share commits on our side: that is what the log is for.
// fleet.cpu: CPU time of the server's processes a step with 25 workflows, in µs, over the same runs.
import { join } from "node:path";
import { fleetSection, newFleetKey } from "./fleet-home.ts";
import { oneStepACommit } from "./one-a-commit.ts";
import { Postgres } from "./postgres.ts";
import { cpuMsBetween } from "./processes.ts";
import { median, timed } from "./rounds.ts";
import { type Row, rateRow, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { startDbosOn } from "./workflow-peers.ts";
import { newIds, type OurRunner, type Runner, startOurs } from "./workflow-runner.ts";

type Size = { readonly workflows: number; readonly steps: number };

const CPU = "fleet.cpu";
/** The size that `fleet.cpu` is measured with. */
const CPU_WORKFLOWS = 25;
const SIZES: readonly Size[] = [
  { workflows: 1, steps: 500 },
  { workflows: CPU_WORKFLOWS, steps: 200 },
  { workflows: 250, steps: 80 },
];
const QUICK_STEPS = 4;
const ROUNDS = 5;
/** The part of a round that warms up. */
const WARM_UP = 4;
/** No round of a size begins later, after the first. */
const ENOUGH_MS = 60_000;

type Pair = { readonly ours: OurRunner; readonly dbos: Runner; readonly postgres: Postgres };
type Seen = { readonly rate: number; readonly cpuUs: number };

export async function fleetSteps(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const why = await withPair(bench, async (pair) => {
    for (const size of SIZES) {
      const mine = names.filter((name) => rowNames(size).includes(name));
      if (mine.length > 0) await compare(mine, bench.quick ? { ...size, steps: QUICK_STEPS } : size, pair, bench, emit);
    }
  });
  if (why !== undefined) bench.say(`skipped, because ${why}: ${names.join(", ")}`);
}

/** Both on one server; ended however `use` ends. Returns why they cannot be had. */
async function withPair(bench: Bench, use: (pair: Pair) => Promise<void>): Promise<string | undefined> {
  const missing = Postgres.missing(bench);
  if (missing !== undefined) return missing;
  const place = makePlace(bench, "fleet-steps");
  const postgres = await Postgres.start(bench, join(place, "postgres"));
  const running: Runner[] = [];
  try {
    const dbos = await startDbosOn(postgres, bench, "fleet-steps/dbos");
    if (typeof dbos === "string") return dbos;
    running.push(dbos);
    const config = fleetSection("bench", { postgres, key: newFleetKey(place), homes: join(place, "homes") });
    const ours = await startOurs({ ...bench, root: await oneStepACommit(bench) }, "fleet-steps/ours", config);
    running.push(ours);
    await use({ ours, dbos, postgres });
    return undefined;
  } finally {
    for (const runner of running) await runner.end();
    await postgres.end();
  }
}

function rowNames({ workflows }: Size): string[] {
  const rate = `fleet.steps.${workflows}.dbos`;
  return workflows === CPU_WORKFLOWS ? [rate, CPU] : [rate];
}

async function compare(
  mine: readonly string[],
  size: Size,
  pair: Pair,
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  const rounds = bench.quick ? 1 : ROUNDS;
  bench.say(`fleet.steps.${size.workflows}: ${rounds} rounds of ${size.workflows} × ${size.steps} steps each`);
  const [our, their] = await measured(rounds, size, pair);
  say(bench, pair.ours.title, our);
  say(bench, pair.dbos.title, their);
  const most = await stepsInACommit(pair.ours, size);
  const peer = `${pair.dbos.title}, the same server; ours ${most} a commit of each`;
  const [rate = "", cpu = ""] = rowNames(size);
  const of = (seen: readonly Seen[], key: keyof Seen) => median(seen.map((one) => one[key]));
  const figures = (key: keyof Seen) => ({ value: of(our, key), peer, peerValue: of(their, key) });
  if (mine.includes(rate)) emit(rateRow({ name: rate, ...figures("rate") }, "steps/s"));
  if (mine.includes(cpu)) emit({ ...timeRow({ name: cpu, ...figures("cpuUs") }), unit: "µs/step" });
}

/** In turn, after a shorter round of each that only warms it up. On a busy machine there are fewer rounds. */
async function measured(rounds: number, size: Size, { ours, dbos, postgres }: Pair): Promise<[Seen[], Seen[]]> {
  const seen: [Seen[], Seen[]] = [[], []];
  const end = performance.now() + ENOUGH_MS;
  for (let round = -1; round < rounds && (round <= 0 || performance.now() < end); round += 1) {
    for (const [at, runner] of [ours, dbos].entries()) {
      const one = await once(runner, round < 0 ? { ...size, steps: Math.ceil(size.steps / WARM_UP) } : size, postgres);
      if (round >= 0) seen[at]?.push(one);
    }
  }
  return seen;
}

async function once(runner: Runner, { workflows, steps }: Size, postgres: Postgres): Promise<Seen> {
  const work = { ids: newIds(workflows), steps, command: null };
  const before = postgres.cpu();
  const ms = await timed(() => runner.run(work));
  const cpuMs = cpuMsBetween(before, postgres.cpu());
  return { rate: (workflows * steps * 1_000) / ms, cpuUs: (cpuMs * 1_000) / (workflows * steps) };
}

function say(bench: Bench, title: string, seen: readonly Seen[]): void {
  const [rates, costs] = [seen.map(({ rate }) => rate.toFixed(0)), seen.map(({ cpuUs }) => cpuUs.toFixed(0))];
  bench.say(`  ${title}: ${rates.join(", ")} steps/s; ${costs.join(", ")} µs of the server's CPU a step`);
}

/** Seen in the log of one more run. Fails if the figures are not of steps that are a commit each. */
async function stepsInACommit(ours: OurRunner, { steps }: Size): Promise<number> {
  const [id = ""] = newIds(1);
  await ours.run({ ids: [id], steps, command: null });
  const most = ours.stepsInACommit(id);
  if (most !== 1) throw new Error(`fleet.steps: a commit of ours had ${most} steps, and not 1`);
  return most;
}
