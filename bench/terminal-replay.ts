// terminal.replay: the screen of an earlier moment of a tape of 200 MB, by its time, in milliseconds: the times are
// read, and the nearest key frame and the tape since are parsed and made into text, as the screen program does it. The
// peer parses the tape from its beginning up to the same byte.
// Not measured: the program's start, the way between it and the daemon, and how the key frames were made.
import { join } from "node:path";
import { Tape } from "../src/log/tape/tape.ts";
import { TimeLog } from "../src/log/tape/time-log.ts";
import { TapeTimes } from "../src/log/tape/times.ts";
import { answer } from "../src/screen/answer.ts";
import { LiveScreens } from "../src/screen/live.ts";
import { FollowedTape } from "../src/vt/follow.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { median, timed } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { output } from "./screen.ts";

const MB = 1_000_000;
const SIZE = { cols: 80, rows: 24 };
const LIMITS = { segmentBytes: 4 << 20, maxBytes: 1 << 30 };
/** A busy agent: a piece of 10 KB twice a second. */
const PIECE = 10_000;
const APART_MS = 500;
export const BEGAN = Date.UTC(2026, 0, 1);

export async function terminalReplay(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const world = { disk: realDisk(), clock: realClock() };
  const place = { directory: makePlace(bench, "replayed"), size: SIZE };
  const length = (bench.quick ? 6 : 200) * MB;
  record(join(place.directory, "tape"), length);
  const live = new LiveScreens(world);
  for (let after: number | null = 0; after !== null; ) after = await live.index(place, after);
  const ours: number[] = [];
  const moments = bench.quick ? 3 : 41;
  for (let turn = 0; turn < moments; turn += 1) {
    const time = BEGAN + Math.floor((((turn * 17) % moments) / moments) * (length / PIECE)) * APART_MS;
    const ms = await timed(async () => {
      const until = new TapeTimes(world.disk, join(place.directory, "tape")).offsetAt(time) ?? 0;
      const said = await answer(live, world.clock, { ...place, op: "past", until, maxBytes: 0 });
      if (!said.ok) throw new Error(said.error.message);
    });
    ours.push(ms);
  }
  bench.say(`  slowest of ${moments} past screens: ${Math.max(...ours).toFixed(0)} ms`);
  const peerValue = await timed(() => new FollowedTape(world, place.directory, { size: SIZE }).catchUp(length / 2));
  const peer = "parsing the tape from its beginning, to its middle";
  emit(timeRow({ name: "terminal.replay", value: median(ours), peer, peerValue }));
}

/** Returns the time of the last piece. */
export function record(directory: string, length: number): number {
  const tape = Tape.open(realDisk(), directory, LIMITS);
  const times = new TimeLog(realDisk(), directory, 0);
  const bytes = output(length);
  let time = BEGAN;
  for (let at = 0; at < length; at += PIECE, time += APART_MS) {
    const offset = tape.append(bytes.subarray(at, at + PIECE));
    times.note({ offset, time }, tape.lastSegment, tape.start);
  }
  tape.close();
  times.close();
  return time - APART_MS;
}
