// Crashes and the recoveries after them as one line of time, newest first, by the days of the reader's clock.
// TL1. The same crash of the same program again, with nothing between, is one moment with a number: a program that
//      crashes all day does not hide what else happened.
import { localTime, type Zone } from "../../base/local-time.ts";
import { howItEnded } from "../../core/recovery.ts";
import type { CrashSeen, ReportSummary, WebReports } from "../../wire/page/messages.ts";

export type Moment =
  | { readonly kind: "crash"; readonly at: string; readonly crash: CrashSeen; readonly times: number }
  | { readonly kind: "recovery"; readonly at: string; readonly report: ReportSummary };

export type Day = { readonly day: string; readonly moments: readonly Moment[] };

export function momentsOf({ crashes, reports }: WebReports): Moment[] {
  const all: Moment[] = [
    ...crashes.map((crash) => ({ kind: "crash", at: crash.time, crash, times: 1 }) as const),
    ...reports.map((report) => ({ kind: "recovery", at: report.at, report }) as const),
  ];
  const merged: Moment[] = [];
  for (const moment of all.toSorted((a, b) => (a.at < b.at ? 1 : -1))) {
    const last = merged.at(-1);
    if (last?.kind === "crash" && moment.kind === "crash" && crashText(last.crash) === crashText(moment.crash))
      merged.splice(-1, 1, { ...last, times: last.times + 1 }); // TL1
    else merged.push(moment);
  }
  return merged;
}

/** TL1 */
export function crashText(crash: CrashSeen): string {
  return `${crash.name} ${whatHappened(crash)}`;
}

/** A silence is on record before its end, and sometimes it has none. */
export function whatHappened(crash: CrashSeen): string {
  const { reason, exitCode, signal } = crash;
  if (reason === "UNRESPONSIVE" && exitCode === null && signal === null) return "did not respond";
  return `crashed: ${howItEnded(crash) ?? reason}`;
}

export function daysOf(zone: Zone, moments: readonly Moment[], now: number): Day[] {
  const [today, yesterday] = [0, 1].map((days) => dayIn(zone, new Date(now - days * 86_400_000).toISOString()));
  const word = (day: string) => (day === today ? "Today" : day === yesterday ? "Yesterday" : day);
  const days = Map.groupBy(moments, ({ at }) => dayIn(zone, at));
  return [...days].map(([day, found]) => ({ day: word(day), moments: found }));
}

function dayIn(zone: Zone, at: string): string {
  return localTime(zone, at).slice(0, 10);
}

/** "15:44:11" */
export function clockTime(zone: Zone, at: string): string {
  return localTime(zone, at).slice(11, 19);
}
