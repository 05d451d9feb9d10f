// Processes of a Linux machine, read from /proc.
import { readFileSync } from "node:fs";
import { assert } from "../base/assert.ts";
import { attempt, unless } from "./attempt.ts";
import { isAlive, type Processes, type ProcessIdentity, type Signal } from "./process.ts";

const BOOT_ID = "/proc/sys/kernel/random/boot_id";
/** ESRCH: the process ended between opening and reading the file. */
const GONE = ["ENOENT", "ESRCH"];
// Positions after the name, which is field 2 of the line; the manual counts from 1.
const STATE = 3 - 3;
const START_TIME = 22 - 3;

export function realProcesses(): Processes {
  const found = { pid: process.pid, startTime, bootId };
  const alive = (who: ProcessIdentity): boolean => isAlive(found, who);
  return { ...found, alive, kill: (who, signal) => alive(who) && send(who.pid, signal) };
}

function startTime(pid: number): number | undefined {
  const path = `/proc/${pid}/stat`;
  const line = unless(GONE, undefined, () => attempt("startTime", path, () => readFileSync(path, "latin1")));
  return line === undefined ? undefined : startTimeIn(line);
}

/** From a line of /proc/PID/stat. The name in it is anything a program likes, with spaces and brackets: the last one ends it. */
export function startTimeIn(line: string): number | undefined {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[START_TIME]);
  assert(Number.isSafeInteger(ticks), "a stat line has a start time in field 22");
  // A zombie still has its pid, and kill(pid, 0) succeeds on it, but it does nothing any more. X and x are dead as well.
  return ["Z", "X", "x"].includes(fields[STATE] ?? "") ? undefined : ticks;
}

function bootId(): string {
  return attempt("bootId", BOOT_ID, () => readFileSync(BOOT_ID, "latin1")).trim();
}

function send(pid: number, signal: Signal): boolean {
  return unless(["ESRCH"], false, () => attempt("kill", `pid ${pid}`, () => process.kill(pid, signal)));
}
