// The foreground process of a terminal on Linux, read from /proc.
// FG1. This is not a snapshot: a process may end, or execute another program, between two reads. Then the terminal's
//      own program is returned, which is correct if possibly less recent.
import { readFileSync, readlinkSync, statSync } from "node:fs";
import type { ForegroundProcess } from "../process.ts";
import { attempt, unless } from "./attempt.ts";
import { TICKS_A_SECOND, ticks } from "./process-list.ts";

const GONE = ["ENOENT", "ESRCH"];
/** A process of another user (sudo, su), or one that changed its privileges. */
const NOT_OURS = ["EACCES", "EPERM"];
// Positions after the name, which is field 2 of the line; the manual counts from 1.
const STATE = 3 - 3;
const FRONT_GROUP = 8 - 3;
const START_TIME = 22 - 3;
const DELETED = " (deleted)";

export function foreground(pid: number): ForegroundProcess | undefined {
  const own = fieldsOf(pid);
  if (own === undefined) return undefined;
  const front = Number(own[FRONT_GROUP]);
  const leader = front > 1 && front !== pid ? look(front, fieldsOf(front)) : undefined;
  return leader ?? look(pid, own); // FG1
}

function look(pid: number, fields: readonly string[] | undefined): ForegroundProcess | undefined {
  const cwd = fields === undefined ? undefined : directoryOf(pid);
  const argv = wordsOf(pid);
  if (fields === undefined || cwd === undefined || argv.length === 0) return undefined;
  const ageMs = Math.max(0, ticks() - Number(fields[START_TIME])) * (1000 / TICKS_A_SECOND);
  return { pid, argv, cwd, ageMs };
}

/** The fields after the name. A name may contain anything, so the last bracket ends it. Undefined for a zombie too. */
function fieldsOf(pid: number): readonly string[] | undefined {
  const path = `/proc/${pid}/stat`;
  const line = unless(GONE, "", () => attempt("foreground", path, () => readFileSync(path, "latin1")));
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return line === "" || ["Z", "X", "x"].includes(fields[STATE] ?? "") ? undefined : fields;
}

function wordsOf(pid: number): readonly string[] {
  const path = `/proc/${pid}/cmdline`;
  const text = unless(GONE, "", () => attempt("foreground", path, () => readFileSync(path, "utf8")));
  return text === "" ? [] : text.replace(/\0$/, "").split("\0");
}

function directoryOf(pid: number): string | undefined {
  const path = `/proc/${pid}/cwd`;
  const cwd = unless([...GONE, ...NOT_OURS], "", () => attempt("foreground", path, () => readlinkSync(path)));
  if (!cwd.startsWith("/")) return undefined;
  return cwd.endsWith(DELETED) && !isThere(cwd) ? cwd.slice(0, -DELETED.length) : cwd;
}

/** A directory's real name may end like this. */
function isThere(path: string): boolean {
  const look = () => statSync(path, { throwIfNoEntry: false }) !== undefined;
  return unless([...GONE, ...NOT_OURS], false, () => attempt("foreground", path, look));
}
