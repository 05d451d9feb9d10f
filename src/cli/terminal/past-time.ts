// A moment of the past as people write it: `10m` or `-10m` (before now), `15:04`, `2026-11-18 15:04:05`, or ISO 8601.
import type { Zone } from "../../base/local-time.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { durationMs } from "../../wire/files/duration.ts";

const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const LOCAL = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** In milliseconds since 1970; without a zone it is by the person's own clock. */
export function pastTime(text: string, now: number, zone: Zone): Result<number> {
  const found = agoOf(text, now) ?? clockTime(text, now, zone) ?? localTimeOf(text, zone) ?? Date.parse(text);
  if (!Number.isNaN(found)) return ok(found);
  return refused("usage", `${text} is not a time.`, "Write 10m for ten minutes ago, 15:04, or 2026-11-18 15:04:05.");
}

function agoOf(text: string, now: number): number | undefined {
  const ago = text === "now" ? 0 : durationMs(text.replace(/^-/, ""));
  return ago === undefined ? undefined : now - ago;
}

/** The last time it was so late. */
function clockTime(text: string, now: number, zone: Zone): number | undefined {
  const [, hours, minutes, seconds = "0"] = CLOCK.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const ahead = zone.minutesAhead(now) * MINUTE_MS;
  const midnight = Math.floor((now + ahead) / DAY_MS) * DAY_MS - ahead;
  const today = midnight + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return today <= now ? today : today - DAY_MS;
}

function localTimeOf(text: string, zone: Zone): number | undefined {
  const [, day, time] = LOCAL.exec(text) ?? [];
  if (day === undefined) return undefined;
  const utc = Date.parse(`${day}T${time}Z`);
  return utc - zone.minutesAhead(utc) * MINUTE_MS;
}
