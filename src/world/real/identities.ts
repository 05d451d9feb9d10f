// The identity of processes on Linux, including their boot, read from /proc. This is all that a holder needs.
import { readFileSync } from "node:fs";
import { assert } from "../../base/assert.ts";
import type { Identities } from "../process.ts";
import { attempt, unless } from "./attempt.ts";

const BOOT_ID = "/proc/sys/kernel/random/boot_id";
const BOOT_ID_VARIABLE = "HOLDFAST_BOOT_ID";
/** ESRCH: the process ended between opening and reading the file. */
export const GONE = ["ENOENT", "ESRCH"];
// Positions after the name, which is field 2 of the line; the manual counts from 1.
const STATE = 3 - 3;
const THREADS = 20 - 3;
export const START_TIME = 22 - 3;

export function realIdentities(): Identities {
  return { pid: process.pid, startTime: startTimeOf, bootId };
}

/** Undefined if it does not exist or is a zombie. */
export function startTimeOf(pid: number): number | undefined {
  if (pid !== process.pid) return readStartTime(pid);
  ourStart ??= readStartTime(pid);
  return ourStart;
}

/** Cached: it cannot change, and a holder of steps needs it for each claim. */
let ourStart: number | undefined;

function readStartTime(pid: number): number | undefined {
  const line = statLine("startTime", `/proc/${pid}/stat`);
  return line === undefined ? undefined : startTimeIn(line);
}

export function statLine(operation: string, path: string): string | undefined {
  return unless(GONE, undefined, () => attempt(operation, path, () => readFileSync(path, "latin1")));
}

/** Whether a line of /proc/PID/stat shows uninterruptible sleep. */
export function waitsInLine(line: string): boolean {
  return fieldsIn(line)[STATE] === "D";
}

/** Whether it shows a process that was stopped, by a signal or by a debugger. */
export function stoppedInLine(line: string): boolean {
  return ["T", "t"].includes(fieldsIn(line)[STATE] ?? "");
}

/** The fields after the name. A name may contain anything, even spaces and brackets, so the last bracket ends it. */
export function fieldsIn(line: string): string[] {
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** Reads a line of /proc/PID/stat. */
export function startTimeIn(line: string): number | undefined {
  const fields = fieldsIn(line);
  const ticks = Number(fields[START_TIME]);
  assert(Number.isSafeInteger(ticks), "a stat line has a start time in field 22");
  return isOver(fields) ? undefined : ticks;
}

/**
 * A zombie still has its pid, and kill(pid, 0) succeeds on it, but it no longer does anything, unless another of its
 * threads is still running. A thread that waits for the disk keeps all files open and locked until it is done, even
 * after SIGKILL.
 */
export function isOver(fields: readonly string[]): boolean {
  const state = fields[STATE] ?? "";
  return state === "X" || state === "x" || (state === "Z" && Number(fields[THREADS]) <= 1);
}

/** Drills and tests set their own boot id: everything recorded before then belongs to another boot. */
function bootId(): string {
  const given = process.env[BOOT_ID_VARIABLE];
  if (given) return given;
  thisBoot ??= attempt("bootId", BOOT_ID, () => readFileSync(BOOT_ID, "latin1")).trim();
  return thisBoot;
}

/** Cached: it cannot change while we run, and every check of another process needs it. */
let thisBoot: string | undefined;
