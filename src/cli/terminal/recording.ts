// What `holdfast replay` replays: a terminal's tape with its times.
import { ok, type Result } from "../../base/result.ts";
import { type HeldDirectory, readSpec, terminalFiles } from "../../home/held/holder-files.ts";
import { offsetAt, timesOf } from "../../home/held/past.ts";
import { tapeOf } from "../../home/held/tape-parts.ts";
import type { TapeTimes } from "../../log/tape/times.ts";
import type { Size } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { pastTime } from "./past-time.ts";

export type Recording = {
  readonly id: string;
  readonly name: string;
  readonly place: HeldDirectory;
  readonly times: TapeTimes;
  /** Unless another was recorded. */
  readonly size: Size;
  /** What the tape has. */
  readonly start: number;
  readonly end: number;
};

const NO_SIZE = { cols: 80, rows: 24 };

export function recordingOf(disk: Disk, home: string, { id, name }: Pick<Recording, "id" | "name">): Recording {
  const place = terminalFiles(disk, home, id);
  const { start, end } = tapeOf(place);
  return { id, name, place, times: timesOf(place), size: readSpec(place)?.size ?? NO_SIZE, start, end };
}

/** How far the tape was at a time that a person gave. */
export function offsetOf(clock: Clock, { times, start }: Recording, text: string): Result<number> {
  const time = pastTime(text, clock.now(), clock);
  if (!time.ok) return time;
  const offset = offsetAt(times, time.value);
  return offset.ok ? ok(Math.max(start, offset.value)) : offset;
}
