// The watchdog's record of the last crash, which the next launch reads (WD-6), and of those before it, for people.
import { joinPath } from "../base/path.ts";
import { readJson } from "../log/file/json-file.ts";
import { isObject } from "../wire/lines.ts";
import type { Ending } from "../world/children.ts";
import type { Disk } from "../world/disk.ts";

export const CRASH_DETECTED = "recovery.crash.detected";

export const CrashReason = Object.freeze({
  /** It is gone, and nobody saw how: its heartbeat stopped, or the connection of one that is not our child closed. */
  HEARTBEAT_TIMEOUT: "HEARTBEAT_TIMEOUT",
  /** It is there, but silent. */
  UNRESPONSIVE: "UNRESPONSIVE",
  EXIT_CODE: "EXIT_CODE",
  SIGNAL: "SIGNAL",
} as const);

export type CrashReason = (typeof CrashReason)[keyof typeof CrashReason];

/** What is published on the bus. */
export type CrashRecord = {
  readonly name: string;
  readonly pid: number;
  /** Null if a signal ended it, or if nobody saw the end. */
  readonly exitCode: number | null;
  /** Null if it exited by itself, or if nobody saw which signal it was. */
  readonly signal: string | null;
  readonly reason: CrashReason;
  readonly time: string;
};

/** Nobody saw how it ended. */
type Unseen = { readonly kind: "vanished" | "killed" };

export type CrashFacts = { readonly name: string; readonly pid: number; readonly reason: CrashReason };

export function crashRecord(facts: CrashFacts, ending: Ending | Unseen | undefined, now: number): CrashRecord {
  const exitCode = ending?.kind === "exited" ? ending.code : null;
  const signal = ending?.kind === "signalled" ? ending.signal : null;
  return { ...facts, exitCode, signal, time: new Date(now).toISOString() };
}

export function lastCrashPath(home: string): string {
  return joinPath(home, "recovery/last-crash.json");
}

/** Months of an ordinary machine. A reader takes a file of this size. */
export const MAX_HISTORY = 200;

/** `recovery/last-crash.json`: the last crash of all, with the last one of each program. */
export type LastCrash = CrashRecord & {
  readonly programs: Readonly<Record<string, CrashRecord>>;
  /** The last ones of all programs together, newest last. */
  readonly history: readonly CrashRecord[];
};

/** Undefined if there is no record that can be read. */
export function readLastCrash(disk: Disk, home: string): LastCrash | undefined {
  const found = readJson(disk, lastCrashPath(home));
  const last = recordIn(found);
  if (last === undefined) return undefined;
  const each = isObject(found?.["programs"])
    ? Object.values(found["programs"]).flatMap((one) => recordIn(one) ?? [])
    : [];
  // Holdfast 0.1 kept only the last one.
  const programs = Object.fromEntries([...each, last].map((record) => [record.name, record]));
  return { ...last, programs, history: historyIn(found?.["history"]) ?? byTime(Object.values(programs)) };
}

function historyIn(found: unknown): CrashRecord[] | undefined {
  return Array.isArray(found) ? found.slice(-MAX_HISTORY).flatMap((one) => recordIn(one) ?? []) : undefined;
}

function byTime(records: readonly CrashRecord[]): CrashRecord[] {
  return records.toSorted((a, b) => (a.time < b.time ? -1 : 1));
}

function recordIn(found: unknown): CrashRecord | undefined {
  if (!isObject(found)) return undefined;
  const { name, pid, exitCode, signal, time } = found;
  const reason = Object.values(CrashReason).find((known) => known === found["reason"]);
  if (typeof name !== "string" || typeof pid !== "number" || typeof time !== "string" || reason === undefined) {
    return undefined;
  }
  const code = typeof exitCode === "number" ? exitCode : null;
  return { name, pid, exitCode: code, signal: typeof signal === "string" ? signal : null, reason, time };
}
