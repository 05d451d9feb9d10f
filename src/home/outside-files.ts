// What belongs to agents of this home and is outside of it, or is not shipped as it is: their conversations, and what
// they have changed in worktrees and clones. The daemon says where it is (`fleet/outside.json`); the standby program
// brings it into `carried/`, which is shipped like the rest of the home (docs/FLEET.md).
//   carried/index.json                            what is there, as of when, and what is not, and why
//   carried/<session>/conversation/<cli>/<path>   the path is that below the directory of the CLI's store
//   carried/<session>/work.bundle                 commits and files of a worktree or clone
// OF1. A session is `agents/ID` or `terminals/ID`. What comes back from the database is checked: no path leads out of
//      its directory.
// OF2. Nothing here is relied on after a power cut: the next round makes it anew.
// OF3. The index is shipped for itself, and after the files: a host may die in between.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { makeDirectories } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { writeUnsynced } from "../log/file/unsynced-file.ts";
import { fitting } from "../wire/check.ts";
import { count, flag, fullPath, type Infer, list, object, optional, table, text, textOf } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { CARRIED, CARRIED_INDEX, FLEET_OUTSIDE } from "./layout.ts";

/** OF1 */
const session = textOf({ pattern: /^(?:agents|terminals)\/[\w-]{1,64}$/ });
const below = textOf({ is: (path) => path.length < 1_024 && path.split("/").every(isName) });

/** `root`: the directory of the CLI's store on this host; `path`: below it. */
const CONVERSATION = object({ session, cli: textOf({ pattern: /^[\w-]{1,32}$/ }), root: fullPath, path: below });
export type OutsideConversation = Infer<typeof CONVERSATION>;

/** `stamp`: another one, if it may have changed. `isClone`: only looked into in a sandbox. */
const WORK = object({ session, path: fullPath, repository: fullPath, isClone: flag, stamp: text });
export type OutsideWork = Infer<typeof WORK>;

const OUTSIDE = object({ conversations: list(CONVERSATION), works: list(WORK) });
export type Outside = Infer<typeof OUTSIDE>;

/** `left`: why it, or a part of it, is not there. `at`: as of when it is. */
const ENTRY = object({ at: text, bytes: count, left: optional(text) });
export type CarriedEntry = Infer<typeof ENTRY>;
const INDEX = object({ entries: table(ENTRY) });
/** By path below `carried/`. */
export type CarriedIndex = Readonly<Record<string, CarriedEntry>>;

type Place = { readonly disk: Disk; readonly home: string };

function isName(name: string): boolean {
  return /^[^\0/]{1,255}$/.test(name) && name !== "." && name !== "..";
}

/** Below `carried/`. */
export function conversationKey({ session, cli, path }: Omit<OutsideConversation, "root">): string {
  return `${session}/conversation/${cli}/${path}`;
}

/** Below `carried/`. */
export function workKey(session: string): string {
  return `${session}/work.bundle`;
}

/** The session whose work it is; undefined if it is something else (OF1). */
export function sessionOfWork(key: string): string | undefined {
  return /^(agents\/[\w-]{1,64})\/work\.bundle$/.exec(key)?.[1];
}

const KEY = /^((?:agents|terminals)\/[\w-]{1,64})\/conversation\/([\w-]{1,32})\/(.+)$/s;

/** OF1. Undefined if it is not the key of a conversation. */
export function conversationOfKey(key: string): Omit<OutsideConversation, "root"> | undefined {
  const [, session, cli, path] = KEY.exec(key) ?? [];
  const found = session === undefined || cli === undefined || path === undefined ? undefined : { session, cli, path };
  return found?.path.split("/").every(isName) ? found : undefined;
}

export function carriedPath(home: string, key: string): string {
  return joinPath(home, `${CARRIED}/${key}`);
}

/** Undefined if the daemon has not said anything yet. */
export function readOutside({ disk, home }: Place): Outside | undefined {
  return fitting(OUTSIDE, readJson(disk, joinPath(home, FLEET_OUTSIDE)));
}

export function writeOutside(place: Place, outside: Outside): void {
  write(place, FLEET_OUTSIDE, outside);
}

export function readCarried({ disk, home }: Place): CarriedIndex {
  return fitting(INDEX, readJson(disk, joinPath(home, CARRIED_INDEX)))?.entries ?? {};
}

/**
 * What came along, also work whose host died before its entry was shipped (OF3): nobody knows as of when that is (`at`
 * is empty). It is whole, because it took its place with one rename; a conversation without an entry may not be.
 */
export function carriedHere(place: Place): CarriedIndex {
  const { disk, home } = place;
  const works = disk.list(joinPath(home, `${CARRIED}/agents`)).flatMap((id) => {
    const key = workKey(`agents/${id}`);
    const stat = disk.lstat(carriedPath(home, key));
    return stat?.kind === "file" ? [[key, { at: "", bytes: stat.size }] as const] : [];
  });
  return { ...Object.fromEntries(works), ...readCarried(place) };
}

export function writeCarried(place: Place, entries: CarriedIndex): void {
  write(place, CARRIED_INDEX, { entries });
}

/** OF2. A disk that does not take it now takes it in a later round. */
function write({ disk, home }: Place, path: string, value: object): void {
  try {
    const whole = joinPath(home, path);
    makeDirectories(disk, whole.slice(0, whole.lastIndexOf("/")));
    writeUnsynced(disk, whole, Buffer.from(`${JSON.stringify({ v: 1, ...value })}\n`));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}
