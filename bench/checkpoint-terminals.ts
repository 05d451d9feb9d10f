// checkpoint.terminals.25: a checkpoint of 25 terminals that have all printed since the last one, each with a snapshot
// of 10 KB: looking at tapes and processes, drawing the screens (the screen program runs already), then from the
// sessions in memory to durable; ms. The peer writes the same bytes atomically with bare node:fs.
// checkpoint.terminals.25.bytes: how large its file is, against the 1 MB that it may have.
// checkpoint.terminals.25.typing: milliseconds from a key to its echo through a real holder, the median, while another
// process does nothing but such checkpoints, without a pause; the peer is the same without them. Median, 95th and 99th
// go to standard error.
// Not measured: the start of the screen program, and asking holders over their sockets.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CheckpointWriter } from "../src/daemon/terminal/checkpoint-writer.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { writeAtomically } from "./atomically.ts";
import { inTurn } from "./checkpoint.ts";
import { Echo } from "./echo.ts";
import { openTerminals } from "./open-terminals.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const NAME = "checkpoint.terminals.25";
const MAX_BYTES = 1_000_000;

export async function checkpointTerminals(
  names: readonly string[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  if (names.includes(NAME) || names.includes(`${NAME}.bytes`)) await saves(names, bench, emit);
  if (names.includes(`${NAME}.typing`)) emit(await typing(bench));
}

async function saves(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const times = bench.quick ? 5 : 100;
  bench.say(`checkpoint of 25 terminals: ${times} times`);
  const terminals = openTerminals(bench, 25);
  try {
    const writer = new CheckpointWriter({ disk: realDisk(), clock: realClock(), home: terminals.home }, bench.say);
    const ours = async () => {
      const saved = await writer.write(await terminals.state.sessions());
      if (!saved.ok) throw new Error(saved.error.message);
    };
    terminals.print();
    await ours();
    const bytes = readFileSync(writer.getCheckpointPath());
    const raw = join(makePlace(bench, "terminals-raw"), "checkpoint.json");
    const peers = () => {
      terminals.print();
      writeAtomically(raw, bytes);
    };
    const figures = await inTurn(ours, peers, times);
    if (names.includes(NAME)) emit(timeRow({ name: NAME, peer: "raw atomic write of the same bytes", ...figures }));
    if (names.includes(`${NAME}.bytes`)) emit(sizeRow(bytes.length));
  } finally {
    await terminals.close();
  }
}

function sizeRow(value: number): Row {
  const ratio = MAX_BYTES / value;
  return { name: `${NAME}.bytes`, value, unit: "bytes", peer: "what it may have", peerValue: MAX_BYTES, ratio };
}

async function typing(bench: Bench): Promise<Row> {
  const keys = bench.quick ? 20 : 100;
  const rounds = bench.quick ? 1 : 5;
  const echo = await Echo.open(makePlace(bench, "typing"));
  const seen = { ours: [] as number[], peers: [] as number[] };
  try {
    await echo.times(keys);
    for (let round = 0; round < rounds; round += 1) {
      seen.peers.push(...(await echo.times(keys)));
      const loop = await startLoop(join(bench.directory, `loop-${round}`));
      seen.ours.push(...(await echo.times(keys)));
      loop.kill("SIGTERM");
      await loop.exited;
    }
  } finally {
    await echo.close();
  }
  bench.say(`typing, ms: ${spread(seen.peers)} alone, ${spread(seen.ours)} beside checkpoints`);
  const figures = { value: at(seen.ours, 0.5), peerValue: at(seen.peers, 0.5) };
  return timeRow({ name: `${NAME}.typing`, peer: "without checkpoints", ...figures });
}

async function startLoop(directory: string) {
  mkdirSync(directory, { recursive: true });
  const words = [process.execPath, "--no-env-file", "--no-install", join(import.meta.dir, "checkpoint-loop.ts")];
  const loop = Bun.spawn([...words, directory], { stdio: ["ignore", "pipe", "inherit"] });
  await loop.stdout.getReader().read(); // "going"
  return loop;
}

function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

function spread(values: readonly number[]): string {
  return [0.5, 0.95, 0.99].map((part) => at(values, part).toFixed(2)).join(" / ");
}
