// How things are compared: in rounds, one after the other, so that a machine that is busy for a while is busy for all
// of them.
// M1. The median of the rounds counts: one bad second does not.
// M2. What a round leaves for the collector is collected before the next clock starts.

/** Something that does `events` units of work and is measured by how long that takes. */
export type Contestant = {
  readonly name: string;
  run(events: number): Promise<void> | void;
  close(): Promise<void> | void;
};

export type Effort = {
  readonly rounds: number;
  readonly seconds: number;
  /** Words for people; standard output belongs to the figures. */
  say(line: string): void;
};

const FIRST_TRY = 100;
const MAX_GROWTH = 8;
/** Of the wanted time. */
const ENOUGH = 0.75;

/** Events a second of each, in the order given. Closes them. */
export async function rates(contestants: readonly Contestant[], effort: Effort, unit = "events"): Promise<number[]> {
  try {
    const lanes: { readonly contestant: Contestant; readonly events: number; readonly seen: number[] }[] = [];
    for (const contestant of contestants)
      lanes.push({ contestant, events: await enoughFor(contestant, effort.seconds), seen: [] });
    for (let round = 0; round < effort.rounds; round += 1) {
      for (const { contestant, events, seen } of lanes) seen.push(await rateOf(contestant, events));
    }
    for (const { contestant, seen } of lanes) effort.say(`  ${contestant.name}: ${spread(seen)} ${unit}/s`);
    return lanes.map(({ seen }) => median(seen));
  } finally {
    for (const contestant of contestants) await contestant.close();
  }
}

async function rateOf(contestant: Contestant, events: number): Promise<number> {
  const ms = await timed(() => contestant.run(events));
  return (events * 1000) / ms;
}

/**
 * How many events take about `seconds`; finding out warms up code and files. It asks again until a try took nearly that
 * long:
 * a short one is mostly what a round costs at its end, and would promise too little.
 */
async function enoughFor(contestant: Contestant, seconds: number): Promise<number> {
  for (let events = FIRST_TRY; ; ) {
    const took = events / (await rateOf(contestant, events));
    const wanted = Math.ceil((events * seconds) / took);
    if (took >= ENOUGH * seconds) return wanted;
    events = Math.min(wanted, events * MAX_GROWTH);
  }
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  Bun.gc(true); // M2
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** What each gives in every round, one after the other. */
export async function inTurn(rounds: number, works: readonly (() => Promise<number>)[]): Promise<number[][]> {
  const seen = works.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, work] of works.entries()) seen[at]?.push(await work());
  }
  return seen;
}

/** The smallest one that is not below this part of them. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2; // M1
}

/** How far the rounds lie apart says how much a ratio is worth. */
function spread(values: readonly number[]): string {
  return `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))}`;
}
