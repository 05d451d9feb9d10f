// A terminal's past, by time: how far its tape was at a moment.
// PA1. Only what the holder wrote down counts. A tape of an older version has no times, and the refusal says so.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Moment } from "../../log/tape/moments.ts";
import { TapeTimes } from "../../log/tape/times.ts";
import { type HeldDirectory, tapeDirectory } from "./holder-files.ts";

export function timesOf(place: HeldDirectory): TapeTimes {
  return new TapeTimes(place.disk, tapeDirectory(place));
}

export function offsetAt(times: TapeTimes, time: number): Result<number> {
  const timed = hasTimes(times);
  if (!timed.ok) return timed;
  const offset = times.offsetAt(time);
  if (offset !== undefined) return ok(offset);
  return refused(
    "no-times",
    `The times of this terminal begin at ${new Date(timed.value.time).toISOString()}; what came before has none.`,
    "Ask for a later time. `holdfast history` has the output.",
  );
}

/** PA1. The first moment. */
export function hasTimes({ first }: TapeTimes): Result<Moment> {
  if (first !== undefined) return ok(first);
  return refused(
    "no-times",
    "When this terminal's output came is not known: there is none, or it is all from before this version of Holdfast.",
    "`holdfast history` has the output. Terminals that are started from now on have times.",
  );
}
