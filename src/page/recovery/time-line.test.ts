import { expect, test } from "bun:test";
import type { CrashSeen, ReportSummary } from "../../wire/page/messages.ts";
import { clockTime, daysOf, momentsOf, whatHappened } from "./time-line.ts";

const UTC = { minutesAhead: () => 0 };
const at = (text: string) => `2026-11-${text}.000Z`;
const killed: CrashSeen = { name: "daemon", pid: 1, time: "", reason: "SIGNAL", exitCode: null, signal: "SIGKILL" };
const crash = (text: string, more: Partial<CrashSeen> = {}): CrashSeen => ({ ...killed, time: at(text), ...more });
const report = (text: string): ReportSummary => ({
  ...{ name: text, at: at(text), cause: "daemon crash", tookMs: 5, fates: {} },
});

test("crashes and recoveries are in one order, newest first, by the reader's days", () => {
  const reports = [report("17T10:00:01"), report("15T08:00:00")];
  const crashes = [crash("17T10:00:00"), crash("16T23:59:59", { name: "web", signal: null, exitCode: 3 })];
  const moments = momentsOf({ reports, crashes });
  expect(moments.map((one) => `${one.kind} ${clockTime(UTC, one.at)}`)).toEqual([
    ...["recovery 10:00:01", "crash 10:00:00", "crash 23:59:59", "recovery 08:00:00"],
  ]);
  const days = daysOf(UTC, moments, Date.parse(at("17T12:00:00")));
  expect(days.map(({ day, moments: found }) => [day, found.length])).toEqual([
    ...[
      ["Today", 2],
      ["Yesterday", 1],
      ["2026-11-15", 1],
    ],
  ] as [string, number][]);
  const east = daysOf({ minutesAhead: () => 60 }, moments, Date.parse(at("17T12:00:00")));
  expect(east.map(({ day, moments: found }) => [day, found.length])).toEqual([
    ["Today", 3],
    ["2026-11-15", 1],
  ]);
});

test("TL1 the same crash again is one moment with a number, until something else happens", () => {
  const again = ["17T10:00:05", "17T10:00:04", "17T10:00:01", "17T10:00:00"].map((time) =>
    crash(time, { name: "api" }),
  );
  const moments = momentsOf({ reports: [report("17T10:00:02")], crashes: again });
  const seen = moments.map((one) => (one.kind === "crash" ? [one.at, one.times] : one.kind));
  expect(seen).toEqual([[at("17T10:00:05"), 2], "recovery", [at("17T10:00:01"), 2]]);
});

test("a crash says how the program ended", () => {
  expect(whatHappened(killed)).toBe("crashed: SIGKILL");
  expect(whatHappened({ ...killed, signal: null, exitCode: 3, reason: "EXIT_CODE" })).toBe("crashed: exit code 3");
  expect(whatHappened({ ...killed, reason: "UNRESPONSIVE" })).toBe("crashed: it did not respond, then SIGKILL");
  expect(whatHappened({ ...killed, reason: "UNRESPONSIVE", signal: null })).toBe("did not respond");
  expect(whatHappened({ ...killed, reason: "BORED", signal: null })).toBe("crashed: BORED");
});
