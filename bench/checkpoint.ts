// checkpoint.save.<size>: `CheckpointStore.save` of a body of that size, from the object in memory to durable under its
// name, the one before it kept as backup; the peer writes the same bytes atomically with bare node:fs (temp, fsync,
// rename, directory fsync) and neither encodes, nor hashes, nor reads back, nor keeps a backup.
// checkpoint.load.<size>: `CheckpointStore.load`, hash checked; the peer reads the same file and parses it. Both in
// milliseconds, one of ours and one of the peer's in turn. Not measured: a cold page cache, the first save of a process
// (it also looks at what is there), history instead of backup.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CheckpointStore } from "../src/log/checkpoint/store.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { writeAtomically } from "./atomically.ts";
import { median, timed } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

type Size = { readonly label: string; readonly bytes: number; readonly times: number };

const SIZES: readonly Size[] = [
  { label: "10k", bytes: 10_000, times: 200 },
  { label: "250k", bytes: 250_000, times: 100 },
  { label: "5m", bytes: 5_000_000, times: 20 },
];

export async function checkpoints(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const size of SIZES) {
    const saveName = `checkpoint.save.${size.label}`;
    const loadName = `checkpoint.load.${size.label}`;
    if (!names.includes(saveName) && !names.includes(loadName)) continue;
    const times = bench.quick ? 5 : size.times;
    bench.say(`checkpoint ${size.label}: ${times} times`);
    const place = await preparedPlace(bench, size);
    if (names.includes(saveName)) emit(await compareSaves(saveName, place, times));
    if (names.includes(loadName)) emit(await compareLoads(loadName, place, times));
  }
}

type Place = { readonly store: CheckpointStore; readonly path: string; readonly raw: string; readonly body: unknown };

/** With two saves behind it, so that every further one has a backup to keep. */
async function preparedPlace(bench: Bench, size: Size): Promise<Place> {
  const home = makePlace(bench, `checkpoint-${size.label}`);
  const path = join(home, "ours", "checkpoint.json");
  const raw = join(makePlace(bench, `checkpoint-${size.label}/raw`), "checkpoint.json");
  const keep = { backup: join(home, "ours", "checkpoint.backup.json") };
  const facts = { kind: "bench", version: 1, fold: 1 };
  const place = {
    store: new CheckpointStore(realDisk(), realClock(), { home, path, keep, ...facts }),
    path,
    raw,
    body: bodyOf(size.bytes),
  };
  await save(place);
  await save(place);
  return place;
}

/** Steps of a workflow, as many as make about so many bytes of JSON. */
function bodyOf(bytes: number): unknown {
  const step = (index: number) => {
    return {
      id: `step-${index}`,
      state: "done",
      attempt: 1,
      exitCode: 0,
      startedAt: 1_767_322_800_000 + index,
      output: "ok: 12 files checked",
    };
  };
  const one = JSON.stringify(step(1000)).length + 1;
  return { run: "run-1", steps: Array.from({ length: Math.ceil(bytes / one) }, (_, index) => step(1000 + index)) };
}

async function save(place: Place): Promise<void> {
  const saved = await place.store.save(place.body, 1);
  if (!saved.ok) throw new Error(saved.error.message);
}

async function compareSaves(name: string, place: Place, times: number): Promise<Row> {
  const bytes = readFileSync(place.path);
  const ours = () => save(place);
  const peers = () => writeAtomically(place.raw, bytes);
  return timeRow({ name, peer: "raw atomic write of the same bytes", ...(await inTurn(ours, peers, times)) });
}

async function compareLoads(name: string, place: Place, times: number): Promise<Row> {
  const ours = () => {
    if (place.store.load().kind !== "loaded") throw new Error("the checkpoint is not there");
  };
  const peers = () => JSON.parse(readFileSync(place.path, "utf8"));
  return timeRow({ name, peer: "read + JSON.parse", ...(await inTurn(ours, peers, times)) });
}

/** One of each in turn; the first of both only warm up. */
export async function inTurn(ours: () => unknown, peers: () => unknown, times: number) {
  const seen = { ours: [] as number[], peers: [] as number[] };
  for (let turn = 0; turn <= times; turn += 1) {
    const ms = { ours: await timed(ours), peers: await timed(peers) };
    if (turn === 0) continue;
    seen.ours.push(ms.ours);
    seen.peers.push(ms.peers);
  }
  return { value: median(seen.ours), peerValue: median(seen.peers) };
}
