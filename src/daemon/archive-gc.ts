// Which archived sessions garbage collection may delete, by the lines of their index alone.
// AG1. An archived session goes as a whole, with its log: first everything else, the log last. As long as the log is
//      there, the session is found, and the next round finishes what a crash interrupted. Its line no longer counts
//      when its directory is gone (AI1 of log/session/archive-index.ts).
// AG2. No start reads it, and no write-ahead log has anything of it: nothing has to forget it first.
import { joinPath } from "../base/path.ts";
import { beyond, daysMs, type Thing } from "../core/retention.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import type { ArchivedLine } from "../log/session/archive-index.ts";
import { archivedName, EVENTS_FILE } from "../log/session/places.ts";
import type { Disk } from "../world/disk.ts";
import { type Garbage, timeOf } from "./gc.ts";
import type { Part, Retention } from "./part.ts";

type Archives = readonly Pick<Part, "archived" | "collected">[];

/** What garbage collection needs of the archives of these parts. */
export function archivesOf(place: HomeWorld, parts: Archives) {
  const lines = () => parts.flatMap((part) => [...(part.archived?.() ?? [])]);
  return {
    garbage: (rules: Retention) => archiveGarbage(place, lines(), rules),
    collected: () => {
      for (const part of parts) part.collected?.();
    },
  };
}

export function archiveGarbage(place: HomeWorld, lines: Iterable<ArchivedLine>, rules: Retention): Garbage[] {
  const { disk, home, clock } = place;
  const things = [...lines].map(({ session, bytes, at }): Thing => {
    const paths = [joinPath(home, archivedName(session))];
    return { what: "an archived session", paths, bytes, at: timeOf(at ?? "") };
  });
  const limits = { ageMs: daysMs(rules.archiveDays), bytes: rules.archiveBytes };
  return beyond(things, limits, clock.now()).map((thing) => {
    const paths = thing.paths.flatMap((path) => wholeOf(disk, path));
    return { ...thing, paths };
  });
}

/** AG1 */
function wholeOf(disk: Disk, directory: string): string[] {
  const names = disk.list(directory).filter((name) => name !== EVENTS_FILE);
  const others = names.flatMap((name) => treeBelow(disk, joinPath(directory, name)));
  return [...others, joinPath(directory, EVENTS_FILE), directory];
}

/** Its contents first, then the directory itself. */
export function treeBelow(disk: Disk, path: string): string[] {
  if (disk.lstat(path)?.kind !== "directory") return [path];
  return [...disk.list(path).flatMap((name) => treeBelow(disk, joinPath(path, name))), path];
}
