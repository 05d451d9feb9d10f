// The watchdog's record of the last crash, which the next launch reads (WD-6).
import { joinPath } from "../base/path.ts";
import { readJson } from "../log/file/json-file.ts";
import type { Disk } from "../world/disk.ts";

export const CrashReason = Object.freeze({
  /** It is gone, and nobody saw how: its heartbeat stopped, or the connection of one that is not our child closed. */
  HEARTBEAT_TIMEOUT: "HEARTBEAT_TIMEOUT",
  /** It is there, but silent. */
  UNRESPONSIVE: "UNRESPONSIVE",
  EXIT_CODE: "EXIT_CODE",
  SIGNAL: "SIGNAL",
} as const);

export type CrashReason = (typeof CrashReason)[keyof typeof CrashReason];

/** `recovery/last-crash.json`, and what the bus is told. */
export type CrashRecord = {
  readonly name: string;
  readonly pid: number;
  /** null where a signal ended it, or where nobody saw the end. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason: CrashReason;
  readonly time: string;
};

export function lastCrashPath(home: string): string {
  return joinPath(home, "recovery/last-crash.json");
}

/** The last crash that is on record; undefined where there is none that can be read. */
export function readLastCrash(disk: Disk, home: string): CrashRecord | undefined {
  const found = readJson(disk, lastCrashPath(home));
  if (found === undefined) return undefined;
  const { name, pid, exitCode, signal, time } = found;
  const reason = Object.values(CrashReason).find((known) => known === found["reason"]);
  if (typeof name !== "string" || typeof pid !== "number" || typeof time !== "string" || reason === undefined) {
    return undefined;
  }
  const code = typeof exitCode === "number" ? exitCode : null;
  return { name, pid, exitCode: code, signal: typeof signal === "string" ? signal : null, reason, time };
}
