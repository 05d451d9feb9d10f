// Times as people write them, in workflow files and on the command line.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Longer than any step, and a timer can still count it. */
const MAX_MS = 30 * 86_400_000;

/** "90s", "5m", "1.5h", or a number of seconds; undefined for anything else. */
export function durationMs(value: string | number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(typeof value === "number" ? `${value}s` : value) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit ?? ""] ?? Number.NaN));
  return ms >= 1 && ms <= MAX_MS ? ms : undefined;
}
