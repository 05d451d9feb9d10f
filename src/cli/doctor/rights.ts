// Rights: the home is its owner's alone (directories 0700, files 0600), its directories are there, and no temporary file is left over.
// DP1. A file that others may read is a problem where they can get to it, and a warning where the home keeps them out.
// DP2. What belongs to somebody else is told and never touched. Links are neither followed nor changed, and what is not ours by its
//      name (somebody's own file in our home) is not looked at.
// DP3. A temporary file that a writer holds is locked (log/file/file.ts, F3): only the others go.

import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { RUN, WAL_LOCK } from "../../home/layout.ts";
import { makeDirectories, removeStaleTemps, TEMP_ENDING } from "../../log/file/file.ts";
import { count } from "../print.ts";
import { type Finding, fine, type Listed, problem, type Site, some, warning } from "./check.ts";

const OTHERS = 0o077;
export const DIRECTORY = 0o700;
const FILE = 0o600;
/** Writers of ours take milliseconds. */
const OLD_TEMP_MS = 60_000;
/** More than this takes too long without --deep. */
const MAX_FILES = 20_000;

/** What is ours in a home; whatever else somebody keeps there is theirs. */
export const OURS: readonly string[] = [
  "run",
  "wal",
  WAL_LOCK,
  "tmux",
  "recovery",
  "terminals",
  "agents",
  "state",
  "quarantine",
  "ballast",
];

/** The home and what is ours below it, the upper levels first, links not followed; not all of it where it is a great many. */
export function listFiles(site: Pick<Site, "world" | "machine" | "home" | "deep">): Listed[] {
  const found: Listed[] = [];
  const waiting = [site.home, ...OURS.map((name) => joinPath(site.home, name))];
  // A list that grows while it is walked also yields what was added: this is the whole search.
  for (const path of waiting) {
    const looked = site.machine.look(path);
    if (looked === undefined) continue;
    found.push({ path, ...looked });
    if (!site.deep && found.length >= MAX_FILES) break;
    if (looked.kind !== "directory" || path === site.home) continue;
    for (const name of namesIn(site, path)) waiting.push(joinPath(path, name));
  }
  return found;
}

/** One that we may not look into is judged by its rights. */
function namesIn({ world }: Pick<Site, "world">, path: string): string[] {
  try {
    return world.disk.list(path);
  } catch (error) {
    if (isFault(error, "EACCES", "EPERM")) return [];
    throw error;
  }
}

function rightMode({ kind, mode }: Listed): number | undefined {
  if (kind === "directory") return (mode & 0o777) === DIRECTORY ? undefined : DIRECTORY;
  if (kind !== "file" && kind !== "socket") return undefined; // DP2
  return (mode & OTHERS) !== 0 || (mode & FILE) !== FILE ? FILE : undefined;
}

export async function checkRights(site: Site): Promise<Finding[]> {
  const { files, machine } = site;
  const strangers = files.filter(({ uid, kind }) => uid !== machine.uid && kind !== "link");
  const open = files.filter((listed) => listed.uid === machine.uid && rightMode(listed) !== undefined);
  const found = [...ofOthers(site, strangers), ...tooOpen(site, open)];
  if (found.length > 0) return found;
  const more = !site.deep && files.length >= MAX_FILES ? " (the first ones; --deep looks at all)" : "";
  return [fine("permissions", `${count(files.length, "file")} of the home are its owner's alone${more}`)];
}

function ofOthers({ home, machine }: Site, strangers: readonly Listed[]): Finding[] {
  if (strangers.length === 0) return [];
  return [
    problem("permissions", {
      what: `${count(strangers.length, "file")} of the home belong to somebody else: ${some(strangers.map(({ path }) => path))}`,
      why: "Holdfast was run as another user (sudo?)",
      next: `sudo chown -R ${machine.user} ${home}`,
    }),
  ];
}

/** DP1 */
function tooOpen(site: Site, open: readonly Listed[]): Finding[] {
  if (open.length === 0) return [];
  const closed = !open.some(({ path }) => path === site.home);
  const trouble = {
    what: `${count(open.length, "file")} of the home ${open.length === 1 ? "has" : "have"} other rights than its owner's alone: ${some(open.map(({ path }) => path))}`,
    why: closed ? "the home itself keeps others out" : "others may get at terminals and the daemon's token",
    next: "holdfast doctor --fix",
  };
  const mend = async () => open.flatMap((listed) => protect(site, listed));
  return [closed ? warning("permissions", trouble, mend) : problem("permissions", trouble, mend)];
}

function protect({ machine }: Site, { path }: Listed): string[] {
  const now = machine.look(path);
  const mode = now && rightMode({ path, ...now });
  if (now === undefined || mode === undefined || now.uid !== machine.uid || now.kind === "socket") return [];
  machine.protect(path, mode);
  return [`made ${path} ${mode.toString(8)}; it was ${(now.mode & 0o777).toString(8)}`];
}

export async function checkLeftovers({ world, home, files }: Site): Promise<Finding[]> {
  const before = world.clock.now() - OLD_TEMP_MS;
  const old = files.filter(
    ({ path, kind, changedAt }) => kind === "file" && path.endsWith(TEMP_ENDING) && changedAt < before,
  );
  const run = joinPath(home, RUN);
  const missing = world.disk.stat(run) === undefined && world.disk.stat(joinPath(home, "wal")) !== undefined;
  if (missing) return [noDirectory(world.disk, run)];
  if (old.length === 0) return [fine("leftovers", "none")];
  const trouble = {
    what: `${count(old.length, "temporary file")} of somebody who was killed: ${some(old.map(({ path }) => path))}`,
    why: "a crash while a file was written; the file itself was not touched",
    next: "holdfast doctor --fix",
  };
  const directories = [...new Set(old.map(({ path }) => parentOf(path)))];
  const mend = async () =>
    directories.flatMap((directory) => {
      const removed = removeStaleTemps(world.disk, directory); // DP3
      return removed === 0 ? [] : [`removed ${count(removed, "temporary file")} from ${directory}`];
    });
  return [warning("leftovers", trouble, mend)];
}

function noDirectory(disk: Site["world"]["disk"], run: string): Finding {
  const trouble = {
    what: `${run} is not there`,
    why: "somebody removed it",
    next: "holdfast doctor --fix, or: holdfast up",
  };
  return warning("leftovers", trouble, async () => {
    for (const parent of makeDirectories(disk, run)) await disk.syncDirectory(parent);
    return [`made ${run}`];
  });
}
