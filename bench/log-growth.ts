// log.growth: events a second of 25 writers on a log that has 10⁶ events, over the same on a log that has 10⁴. Both are
// open at the same time and write in alternating rounds; each round takes both as they were, so that the short one
// stays short. Not measured: the time to open them (log.recover) and the memory they take.
import { killedHome, lengths, SESSIONS } from "./histories.ts";
import { median, timed } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { writersOn } from "./writers.ts";

/** As much as the short history has, and no more: the round itself must not make it a long one. */
const EVENTS_A_ROUND = 10_000;
const ROUNDS = 9;

export async function logGrowth(_names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const { short, long } = lengths(bench);
  const rounds = bench.quick ? 2 : ROUNDS;
  bench.say(`log.growth: ${rounds} rounds on ${short} and on ${long} events`);
  const seen: { readonly short: number; readonly long: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const homes = { short: killedHome(bench, short), long: killedHome(bench, long) };
    seen.push(await oneRound(homes, round % 2 === 0));
  }
  const value = median(seen.map((rates) => rates.long));
  const peerValue = median(seen.map((rates) => rates.short));
  emit(rateRow({ name: "log.growth", value, peer: `the same log with ${short} events`, peerValue }));
}

async function oneRound(homes: { readonly short: string; readonly long: string }, shortFirst: boolean) {
  const short = await writersOn(homes.short, SESSIONS);
  const long = await writersOn(homes.long, SESSIONS);
  const ms = { short: 0, long: 0 };
  if (shortFirst) ms.short = await timed(() => short.run(EVENTS_A_ROUND));
  ms.long = await timed(() => long.run(EVENTS_A_ROUND));
  if (!shortFirst) ms.short = await timed(() => short.run(EVENTS_A_ROUND));
  await short.close();
  await long.close();
  return { short: (EVENTS_A_ROUND * 1000) / ms.short, long: (EVENTS_A_ROUND * 1000) / ms.long };
}
