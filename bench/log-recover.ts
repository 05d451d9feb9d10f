// How long a log takes to come back after its process was killed with SIGKILL, a thousand acknowledged events not yet
// in the session logs, and its write-ahead log as long as so many events make it. Every event is counted afterwards.
// log.recover.replay: open and read every session of 10⁶ events from the start, in events a second; the peer reads the
// same files in
//   a bare loop (split into lines, JSON.parse) and checks nothing.
// log.recover.checkpoint: open, load the checkpoint, read the tail behind it, with 10⁶ events against 10⁴, in
// milliseconds.
// Not measured: a cold page cache (files were just written and are in memory), and the start of the process itself.
import { readFileSync } from "node:fs";
import type { EventLog } from "../src/log/event-log.ts";
import { eventsPath, listSessions } from "../src/log/session/places.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { type Fold, foldOn, foldStore, loadFold, mustHaveAll } from "./fold.ts";
import { killedHome, lengths } from "./histories.ts";
import { median, timed } from "./rounds.ts";
import { type Row, rateRow, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { openLog } from "./writers.ts";

const REPLAY = "log.recover.replay";
const CHECKPOINT = "log.recover.checkpoint";

export async function logRecover(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  if (names.includes(REPLAY)) emit(await replay(bench));
  if (names.includes(CHECKPOINT)) emit(await checkpoint(bench));
}

async function replay(bench: Bench): Promise<Row> {
  const { short, middle, long } = lengths(bench);
  const rounds = bench.quick ? 1 : 3;
  for (const events of [short, middle]) {
    const { ours, peers } = await replayRates(bench, events, rounds);
    bench.say(`${REPLAY}: ${events} events: ${Math.round(ours)} events/s, bare loop ${Math.round(peers)}`);
  }
  const { ours, peers } = await replayRates(bench, long, rounds);
  return rateRow({ name: REPLAY, value: ours, peer: "read, split, JSON.parse", peerValue: peers });
}

async function replayRates(bench: Bench, events: number, rounds: number) {
  const ours: number[] = [];
  const peers: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const home = killedHome(bench, events);
    const { log, ms } = await timedOpen(home, () => new Map());
    ours.push((log.durable * 1000) / ms);
    await log.close();
    const peerMs = await timed(() => parseAll(home));
    peers.push((log.durable * 1000) / peerMs);
  }
  return { ours: median(ours), peers: median(peers) };
}

/** Opens and folds; the log stays open, whole and counted. */
async function timedOpen(home: string, start: () => Fold): Promise<{ readonly log: EventLog; readonly ms: number }> {
  const opened: { log?: EventLog; fold: Fold } = { fold: new Map() };
  const ms = await timed(async () => {
    opened.log = await openLog(home);
    opened.fold = start();
    foldOn(opened.fold, opened.log);
  });
  if (opened.log === undefined) throw new Error("the log did not open");
  mustHaveAll(opened.fold, opened.log);
  return { log: opened.log, ms };
}

function parseAll(home: string): void {
  for (const session of listSessions(realDisk(), home)) {
    for (const line of readFileSync(eventsPath(home, session), "utf8").split("\n")) {
      if (line !== "") JSON.parse(line);
    }
  }
}

async function checkpoint(bench: Bench): Promise<Row> {
  const { short, long } = lengths(bench);
  const rounds = bench.quick ? 2 : 7;
  bench.say(`${CHECKPOINT}: ${rounds} kills and recoveries of ${short} and of ${long} events`);
  const ms = new Map([
    [short, [] as number[]],
    [long, []],
  ]);
  await recoveryTime(bench, short); // The first one also warms up the code.
  for (let round = 0; round < rounds; round += 1) {
    for (const [events, seen] of ms) seen.push(await recoveryTime(bench, events));
  }
  const [peerValue = Number.NaN, value = Number.NaN] = [...ms.values()].map(median);
  return timeRow({ name: CHECKPOINT, value, peer: `the same with ${short} events`, peerValue });
}

async function recoveryTime(bench: Bench, events: number): Promise<number> {
  const home = killedHome(bench, events);
  const { log, ms } = await timedOpen(home, () => loadFold(foldStore(home)));
  await log.close();
  return ms;
}
