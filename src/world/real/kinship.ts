// Where processes come from on Linux, read from /proc.
import { readFileSync, readlinkSync } from "node:fs";
import type { Kin, Kinship } from "../process.ts";
import { attempt, unless } from "./attempt.ts";
import { fieldsIn, GONE, isOver, realIdentities, START_TIME, statLine } from "./identities.ts";
import { NOT_OURS, variable } from "./process-list.ts";

// Positions after the name, which is field 2 of the line; the manual counts from 1.
const PPID = 4 - 3;
const TTY = 7 - 3;
/** Pseudo terminals have eight major numbers, with 256 terminals each. */
const [FIRST_PTS, LAST_PTS] = [136, 143];
const CONSOLES = 4;

export function realKinship(): Kinship {
  return { ...realIdentities(), kin, executable, parent: () => process.ppid, variable };
}

export function kin(pid: number): Kin | undefined {
  if (pid === 0) return undefined; // The parent of the first process, and of those of another namespace.
  const fields = fieldsIn(statLine("kin", `/proc/${pid}/stat`) ?? ") X");
  if (isOver(fields)) return undefined;
  const [ppid = 0, tty = 0, startTime = 0] = [PPID, TTY, START_TIME].map((at) => Number(fields[at]));
  return { pid, ppid, startTime, tty: deviceOf(tty), argv: argvOf(pid) };
}

/** The kernel splits the number of a device: minor 0–7, major 8–19, minor 20–31. */
export function deviceOf(number: number): string | null {
  const [major, minor] = [(number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00)];
  if (major >= FIRST_PTS && major <= LAST_PTS) return `/dev/pts/${(major - FIRST_PTS) * 256 + minor}`;
  if (major === CONSOLES) return `/dev/tty${minor}`;
  return number === 0 ? null : `${major}:${minor}`;
}

function argvOf(pid: number): string[] {
  const path = `/proc/${pid}/cmdline`;
  const text = unless([...GONE, ...NOT_OURS], "", () => attempt("kin", path, () => readFileSync(path, "utf8")));
  return text.split("\0").slice(0, -1);
}

export function executable(pid: number): string | null {
  const path = `/proc/${pid}/exe`;
  return unless([...GONE, ...NOT_OURS], null, () => attempt("executable", path, () => readlinkSync(path)));
}
