// Permissions: only the owner may access the home (directories 0700, files 0600), its directories exist, and no
// temporary
// file is left over.
// DP1. A file that others may read is a problem if they can reach it, and a warning if the home itself keeps them out.
// DP2. Files of another owner are reported and never touched. Links are neither followed nor changed, and files that
//      are not ours by name are ignored.
// DP3. A temporary file that a writer is using is locked (log/file/file.ts, F3): only the others are removed.

import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { JOURNALS, RUN, WAL_LOCK } from "../../home/layout.ts";
import { makeDirectories, removeStaleTemps, TEMP_ENDING } from "../../log/file/file.ts";
import { count } from "../print.ts";
import { type Finding, fine, type Listed, problem, type Site, some, warning } from "./check.ts";

const OTHERS = 0o077;
export const DIRECTORY = 0o700;
const FILE = 0o600;
/** Our writers take milliseconds. */
const OLD_TEMP_MS = 60_000;
/** More files than this take too long without --deep. */
const MAX_FILES = 20_000;

/** The names in a home that are ours; everything else belongs to the user. */
export const OURS: readonly string[] = [
  "run",
  "wal",
  WAL_LOCK,
  "tmux",
  "recovery",
  "terminals",
  "agents",
  "state",
  JOURNALS,
  "quarantine",
  "ballast",
];

/** The home and our files below it, upper levels first, without following links; cut off if there are very many. */
export function listFiles(site: Pick<Site, "world" | "machine" | "home" | "deep">): Listed[] {
  const found: Listed[] = [];
  const waiting = [site.home, ...OURS.map((name) => joinPath(site.home, name))];
  // Iterating also yields the entries added meanwhile, so this loop is the whole search.
  for (const path of waiting) {
    const looked = lookAt(site, path);
    if (looked === undefined) continue;
    found.push({ path, ...looked });
    if (!site.deep && found.length >= MAX_FILES) break;
    if (looked.kind !== "directory" || path === site.home) continue;
    for (const name of namesIn(site, path)) waiting.push(joinPath(path, name));
  }
  return found;
}

/** What cannot be seen is judged by the directory that hides it. */
function lookAt({ machine }: Pick<Site, "machine">, path: string) {
  try {
    return machine.look(path);
  } catch (error) {
    if (isFault(error, "EACCES", "EPERM")) return undefined;
    throw error;
  }
}

/** A directory that we may not read is judged by its own permissions. */
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
  const more = !site.deep && files.length >= MAX_FILES ? " (only the first ones; --deep checks all)" : "";
  return [fine("permissions", `${count(files.length, "file")} in the home, accessible only by the owner${more}`)];
}

function ofOthers({ home, machine }: Site, strangers: readonly Listed[]): Finding[] {
  if (strangers.length === 0) return [];
  return [
    problem("permissions", {
      what: `${count(strangers.length, "file")} with another owner: ${some(strangers.map(({ path }) => path))}`,
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
    what: `${count(open.length, "file")} in the home with too open permissions: ${some(open.map(({ path }) => path))}`,
    why: closed ? "the home itself keeps others out" : "other users may reach terminals and the daemon's token",
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
  return [`set ${path} to ${mode.toString(8)}; it was ${(now.mode & 0o777).toString(8)}`];
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
    what: `${count(old.length, "temporary file")} left by a killed process: ${some(old.map(({ path }) => path))}`,
    why: "a crash while a file was being written; the file itself is intact",
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
    what: `${run} does not exist`,
    why: "it was removed",
    next: "holdfast doctor --fix, or: holdfast up",
  };
  return warning("leftovers", trouble, async () => {
    for (const parent of makeDirectories(disk, run)) await disk.syncDirectory(parent);
    return [`created ${run}`];
  });
}
