// Places in the past of a terminal: what an address or the slider means, and what is asked for. Pure.
// PA1. The slider moves by time if times are known, else by bytes: tapes of older versions have no times.
// PA2. In an address, a number is an offset of the tape, and a time is in ISO 8601. What is neither means the
//      end.
import type { PastScreen } from "../../wire/rpc/rpc.ts";

export type Place =
  | { readonly kind: "end" }
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "offset"; readonly offset: number };

export const END: Place = { kind: "end" };

/** PA2 */
export function placeIn(text: string): Place {
  if (/^\d{1,15}$/.test(text)) return { kind: "offset", offset: Number(text) };
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? END : { kind: "time", ms };
}

export function placeText(place: Place): string {
  if (place.kind === "end") return "end";
  return place.kind === "offset" ? String(place.offset) : new Date(place.ms).toISOString();
}

export type Wish = { readonly offset?: number; readonly time?: string };

/** What `terminal.screenAt` is asked for. */
export function wishFor(place: Place): Wish {
  if (place.kind === "end") return {};
  return place.kind === "offset" ? { offset: place.offset } : { time: new Date(place.ms).toISOString() };
}

/** PA1 */
export type Axis = { readonly by: "time" | "bytes"; readonly min: number; readonly max: number };

export function axisOf({ first, last, tape }: Pick<PastScreen, "first" | "last" | "tape">): Axis {
  const [min, max] = [timeOf(first), timeOf(last)];
  if (min === undefined || max === undefined) return { by: "bytes", min: tape.start, max: tape.end };
  return { by: "time", min, max: Math.max(min, max) };
}

/** Where on the slider a screen is. A time that was asked for may be later than that of the last byte before it. */
export function sliderValue(axis: Axis, place: Place, { time, offset }: Pick<PastScreen, "time" | "offset">): number {
  if (place.kind === "end") return axis.max;
  if (axis.by === "bytes") return inside(axis, place.kind === "offset" ? place.offset : offset);
  return inside(axis, place.kind === "time" ? place.ms : (timeOf(time) ?? axis.min));
}

export function placeAt(axis: Axis, value: number): Place {
  const at = inside(axis, Math.round(value));
  return axis.by === "time" ? { kind: "time", ms: at } : { kind: "offset", offset: at };
}

function inside({ min, max }: Axis, value: number): number {
  return Math.max(min, Math.min(max, value));
}

function timeOf(iso: string | null): number | undefined {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? undefined : at;
}

/** A key moves a second, or a kilobyte; a large step is ten of them, and a page a minute. */
export const STEPS = { small: 1, large: 10, page: 60 } as const;

export function stepOf({ by }: Axis, steps: number): number {
  return steps * (by === "time" ? 1000 : 1024);
}

const KEYS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -STEPS.small, ArrowDown: -STEPS.small, ArrowRight: STEPS.small, ArrowUp: STEPS.small },
  ...{ PageDown: -STEPS.page, PageUp: STEPS.page },
};

/** Where a key leads; undefined for a key that does not move. */
export function keyed(axis: Axis, value: number, { key, shiftKey }: Pressed): Place | undefined {
  if (key === "Home") return placeAt(axis, axis.min);
  if (key === "End") return placeAt(axis, axis.max);
  const steps = KEYS[key];
  if (steps === undefined) return undefined;
  return placeAt(axis, value + stepOf(axis, shiftKey ? steps * STEPS.large : steps));
}

type Pressed = { readonly key: string; readonly shiftKey: boolean };

/** How long nothing may be printed before a replay goes on with what comes next. */
export const QUIET_MS = 2_000;

/** Whether a replay at this time shows a pause, after which something follows. */
export function isQuiet(axis: Axis, value: number, { time }: Pick<PastScreen, "time">): boolean {
  const printed = timeOf(time);
  return axis.by === "time" && printed !== undefined && value - printed > QUIET_MS && value < axis.max;
}

/** A time for an `<input type="datetime-local">`, to the second, and back; undefined if it is none. */
export function localInput(ms: number, minutesAhead: (at: number) => number): string {
  return new Date(ms + minutesAhead(ms) * 60_000).toISOString().slice(0, 19);
}

export function fromLocalInput(text: string, minutesAhead: (at: number) => number): number | undefined {
  const there = Date.parse(`${text}Z`);
  return Number.isNaN(there) ? undefined : there - minutesAhead(there) * 60_000;
}
