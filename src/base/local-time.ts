// Times for people, by a clock on their wall: "2026-11-17 15:44:11 +01:00". Files, logs and --json have them in UTC.

/** How many minutes it is ahead of UTC at a time, which is in milliseconds since 1970. */
export type Zone = { minutesAhead(at: number): number };

export function localTime(zone: Zone, iso: string): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso; // Whatever a file has in its place.
  const ahead = zone.minutesAhead(at);
  const local = new Date(at + ahead * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)} ${zoneText(ahead)}`;
}

const TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** A message with its times in UTC, such as one of the daemon, which does not know where it is read. */
export function localTimes(zone: Zone, text: string): string {
  return text.replaceAll(TIMES, (iso) => localTime(zone, iso));
}

function zoneText(ahead: number): string {
  if (ahead === 0) return "UTC";
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  return `${ahead < 0 ? "-" : "+"}${[hours, minutes].map((part) => String(part).padStart(2, "0")).join(":")}`;
}
