// The process table on Linux, read from /proc.
// PL1. The table is not a snapshot: processes start and end while it is read. Callers that act on a line name pid and
//      start time, which are checked again.
import { readdirSync, readFileSync } from "node:fs";
import { assert } from "../../base/assert.ts";
import type { ListedProcess } from "../process.ts";
import { attempt, unless } from "./attempt.ts";
import { isOver } from "./identities.ts";

/** ESRCH: the process ended between opening and reading the file. */
const GONE = ["ENOENT", "ESRCH"];
/** A process of another user, or one that changed its privileges. */
export const NOT_OURS = ["EACCES", "EPERM"];
// Positions after the name, which is field 2 of the line; the manual counts from 1.
const PPID = 4 - 3;
const SESSION = 6 - 3;
const START_TIME = 22 - 3;
/** The unit that the kernel shows to programs, on every architecture. */
export const TICKS_A_SECOND = 100;

export function list(): readonly ListedProcess[] {
  const names = attempt("list", "/proc", () => readdirSync("/proc"));
  return names.filter((name) => /^\d+$/.test(name)).flatMap((pid) => read(`/proc/${pid}/stat`, Number(pid)) ?? []);
}

function read(path: string, pid: number): ListedProcess | undefined {
  const line = unless(GONE, undefined, () => attempt("list", path, () => readFileSync(path, "latin1")));
  return line === undefined ? undefined : listedIn(line, pid);
}

/** Reads a line of /proc/PID/stat; undefined for a zombie. A name may contain anything, so the last bracket ends it. */
export function listedIn(line: string, pid: number): ListedProcess | undefined {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  if (isOver(fields)) return undefined;
  const [ppid = -1, session = -1, startTime = -1] = [PPID, SESSION, START_TIME].map((at) => Number(fields[at]));
  assert(Number.isSafeInteger(ppid + session + startTime), "a stat line has a parent, a session and a start time");
  return { pid, ppid, session, startTime };
}

export function variable(pid: number, name: string): string | undefined {
  const path = `/proc/${pid}/environ`;
  const text = unless([...GONE, ...NOT_OURS], "", () => attempt("variable", path, () => readFileSync(path, "utf8")));
  const start = `${name}=`;
  const found = text.split("\0").find((pair) => pair.startsWith(start));
  return found?.slice(start.length);
}

export function ticks(): number {
  const seconds = attempt("ticks", "/proc/uptime", () => readFileSync("/proc/uptime", "latin1"));
  return Math.floor(Number.parseFloat(seconds) * TICKS_A_SECOND);
}
