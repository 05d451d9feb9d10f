// Paths below the home. Other programs see these names; new ones
// may be added, existing ones never change (docs/FORMATS.md).

import { joinPath } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";

export const WAL_DIRECTORY = "wal";
export const WAL_ENDING = ".wal";
export const EVENTS_FILE = "events.jsonl";
/** Beside it: what in a session is poisoned (poisons.ts). */
export const POISON_FILE = "poison.json";

/** Where sessions are: `*` stands for any one name, and the session's own directory is one level below. */
const SESSION_PLACES: readonly (readonly string[])[] = [
  ["agents"],
  ["terminals"],
  ["tmux"],
  ["state", "*", "sessions"],
];

/** No separator, nothing hidden, nothing that a shell or a terminal would misinterpret. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether `session` names a session's directory, such as `agents/<id>`. */
export function isSession(session: string): boolean {
  const names = session.split("/");
  return SESSION_PLACES.some((place) => place.length + 1 === names.length && matches(names, place));
}

function matches(names: readonly string[], place: readonly string[]): boolean {
  return names.every((name, level) => {
    const wanted = place[level];
    return wanted === undefined || wanted === "*" ? SAFE_NAME.test(name) : name === wanted;
  });
}

/** The directories of all sessions below `home`, sorted. */
export function listSessions(disk: Disk, home: string): string[] {
  return SESSION_PLACES.flatMap((place) => expand(disk, home, place)).sort();
}

function expand(disk: Disk, home: string, place: readonly string[]): string[] {
  let found = [""];
  for (const level of [...place, "*"]) found = found.flatMap((at) => step(disk, home, at, level));
  return found;
}

function step(disk: Disk, home: string, at: string, level: string): string[] {
  const names = level === "*" ? disk.list(joinPath(home, at)).filter((name) => SAFE_NAME.test(name)) : [level];
  return names.map((name) => (at === "" ? name : `${at}/${name}`));
}

/** The directory of an attempt of a workflow's step. Its id is the id of its run, a dot, and a number. */
export function attemptPath(home: string, repo: string, attempt: string): string {
  const dot = attempt.lastIndexOf(".");
  return joinPath(home, `state/${repo}/sessions/${attempt.slice(0, dot)}/attempts/${attempt.slice(dot + 1)}`);
}

export function eventsPath(home: string, session: string): string {
  return joinPath(joinPath(home, session), EVENTS_FILE);
}
