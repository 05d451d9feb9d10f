// log.append.N.<peer>: acknowledged events a second with N writers at a time, each with a session of its own and each
// waiting for its acknowledgement. The clock stops when every event is also in its session's own log (`drain`), so the
// second write that keeps those logs readable is in the figure. Sessions exist and are drained before it starts.
// log.append.scale: the figure at 250 writers over the figure at 25, measured in rounds of their own. Not measured: how
// long one acknowledgement takes, the making of events, opening, several events in a transaction.
import { PEERS, type PeerName } from "./append-peers.ts";
import { rates } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { writersOn } from "./writers.ts";

const SCALE = "log.append.scale";

export async function logAppend(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const writers of [1, 25, 250]) {
    const peers = peersOf(names, writers);
    if (peers.length > 0) await against(peers, writers, bench, emit);
  }
  if (names.includes(SCALE)) emit(await scale(bench));
}

function peersOf(names: readonly string[], writers: number): PeerName[] {
  const all: readonly PeerName[] = ["fdatasync", "preallocated", "groupcommit", "sqlite", "sqlite-batched"];
  return all.filter((peer) => names.includes(`log.append.${writers}.${peer}`));
}

/** Our rounds are shared by all peers of one N. */
async function against(
  names: readonly PeerName[],
  writers: number,
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  bench.say(`log.append.${writers}: ${bench.rounds} rounds of us and ${names.join(", ")}`);
  const place = makePlace(bench, `append-${writers}`);
  const peers = names.map((name) => PEERS[name](place, writers));
  const ours = await writersOn(makePlace(bench, `append-${writers}/home`), writers);
  const [value = Number.NaN, ...others] = await rates([ours, ...peers], bench);
  names.forEach((name, index) => {
    const figures = { value, peer: peers[index]?.name ?? name, peerValue: others[index] ?? Number.NaN };
    emit(rateRow({ name: `log.append.${writers}.${name}`, ...figures }));
  });
}

async function scale(bench: Bench): Promise<Row> {
  bench.say(`${SCALE}: ${bench.rounds} rounds of 25 and of 250 writers`);
  const few = await writersOn(makePlace(bench, "scale-25"), 25);
  const many = await writersOn(makePlace(bench, "scale-250"), 250);
  const [peerValue = Number.NaN, value = Number.NaN] = await rates([few, many], bench);
  return rateRow({ name: SCALE, value, peer: few.name, peerValue });
}
