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
  /** In the home of a relay, which has nothing else of these. */
  ["relay"],
];

/**
 * An archived session has this before its name, in the same directory as before: to archive it is one rename, durable
 * with one sync. The name is no session's, so recovery does not see it (docs/decisions/0029-archive.md).
 */
const ARCHIVED = "_";

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

/** The directories of all sessions below `home`, sorted; of those that are archived, none. */
export function listSessions(disk: Disk, home: string): string[] {
  return parentsOfSessions(disk, home)
    .flatMap((parent) => step(disk, home, parent, "*"))
    .sort();
}

/** The sessions that are archived, by the names that they have otherwise. */
export function listArchived(disk: Disk, home: string, place = ""): string[] {
  return parentsOfSessions(disk, home, place).flatMap((parent) =>
    disk
      .list(joinPath(home, parent))
      .filter(isArchivedName)
      .map((name) => `${parent}/${name.slice(ARCHIVED.length)}`),
  );
}

/** Whether a directory beside those of sessions is that of an archived one. */
export function isArchivedName(name: string): boolean {
  return name.startsWith(ARCHIVED) && SAFE_NAME.test(name.slice(ARCHIVED.length));
}

/** The directory of a session while it is archived, below the home. */
export function archivedName(session: string): string {
  const name = session.lastIndexOf("/") + 1;
  return `${session.slice(0, name)}${ARCHIVED}${session.slice(name)}`;
}

/** The archived session of this place with this id; undefined if there is none. */
export function findArchived(disk: Disk, home: string, place: string, id: string): string | undefined {
  if (!SAFE_NAME.test(id)) return undefined;
  const names = parentsOfSessions(disk, home, place).map((parent) => `${parent}/${id}`);
  return names.find((session) => isArchived(disk, home, session));
}

export function isArchived(disk: Disk, home: string, session: string): boolean {
  return disk.stat(joinPath(home, archivedName(session))) !== undefined;
}

/** The directory of a session: where it is if it is archived, and otherwise where it is or would be. */
export function sessionPath(disk: Disk, home: string, session: string): string {
  const living = joinPath(home, session);
  if (disk.stat(living) !== undefined || !isArchived(disk, home, session)) return living;
  return joinPath(home, archivedName(session));
}

/** `place`: the beginning of their paths. */
function parentsOfSessions(disk: Disk, home: string, place = ""): string[] {
  const places = SESSION_PLACES.filter(([first]) => `${first}/`.startsWith(place));
  return places.flatMap((levels) => {
    let found = [""];
    for (const level of levels) found = found.flatMap((at) => step(disk, home, at, level));
    return found;
  });
}

function step(disk: Disk, home: string, at: string, level: string): string[] {
  const names = level === "*" ? disk.list(joinPath(home, at)).filter((name) => SAFE_NAME.test(name)) : [level];
  return names.map((name) => (at === "" ? name : `${at}/${name}`));
}

/** The directory of an attempt of a workflow's step. Its id is the id of its run, a dot, and a number. */
export function attemptPath(home: string, repo: string, attempt: string): string {
  const { session, number } = partsOf(repo, attempt);
  return joinPath(home, `${session}/attempts/${number}`);
}

/** The same for readers of a run that may be archived. */
export function attemptPathNow(disk: Disk, home: string, repo: string, attempt: string): string {
  const { session, number } = partsOf(repo, attempt);
  return joinPath(sessionPath(disk, home, session), `attempts/${number}`);
}

function partsOf(repo: string, attempt: string): { readonly session: string; readonly number: string } {
  const dot = attempt.lastIndexOf(".");
  return { session: `state/${repo}/sessions/${attempt.slice(0, dot)}`, number: attempt.slice(dot + 1) };
}

export function eventsPath(home: string, session: string): string {
  return joinPath(joinPath(home, session), EVENTS_FILE);
}

/** The same for readers of a session that may be archived. */
export function eventsPathNow(disk: Disk, home: string, session: string): string {
  return joinPath(sessionPath(disk, home, session), EVENTS_FILE);
}
