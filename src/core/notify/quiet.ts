// Quiet hours, "22:00-07:00": nobody is called in them. They are by the wall clock of the home.
import type { Zone } from "../../base/local-time.ts";

/** In minutes of the day; from the first on, up to the second. */
export type QuietHours = { readonly from: number; readonly to: number };

const DAY = 24 * 60;
const FORM = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

/** Undefined if the text says none. */
export function quietHoursOf(text: string): QuietHours | undefined {
  const [, ...parts] = FORM.exec(text) ?? [];
  const [h1, m1, h2, m2] = parts.map(Number);
  if (h1 === undefined || m1 === undefined || h2 === undefined || m2 === undefined) return undefined;
  return { from: h1 * 60 + m1, to: h2 * 60 + m2 };
}

export function isQuiet({ from, to }: QuietHours, now: number, zone: Zone): boolean {
  const minute = (((Math.floor(now / 60_000) + zone.minutesAhead(now)) % DAY) + DAY) % DAY;
  return from <= to ? from <= minute && minute < to : minute >= from || minute < to;
}
