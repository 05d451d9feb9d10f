// Which files of a home a backup contains, and in which order they are looked at.
// BF1. Sockets, locks, temporary files and caches are left out, and so is everything that is not Holdfast's own. No
//      link is followed.
// BF2. What others name is looked at after them: a tape after the exit that says where it ends, pages (`.jsonl`) after
//      the checkpoints that name them. Both only grow, so what was named is there.
import { joinPath } from "../../base/path.ts";
import { CONTAINED, CONTAINED_FILE } from "../../wire/backup.ts";
import type { Disk, Stat } from "../../world/disk.ts";

/** `path`: below the home. */
export type HomeFile = { readonly kind: "file"; readonly path: string; readonly stat: Stat };
/** What programs write without asking the daemon: it may be of any later moment (BF2). */
export type Printed = { readonly kind: "printed"; readonly path: string };

const LEFT_OUT = /(?:\.tmp|\.lock|\.sock)$/;
/** Of a program: what it printed and was sent, and when. */
const PRINTED =
  /^(?:terminals|agents\/[^/]+\/processes|state\/[^/]+\/sessions\/[^/]+\/attempts)\/[^/]+\/(?:(?:stderr-|input-)?tape|times|keyframes)$/;
/** What a writer only adds to. */
const GROWS = /\.(?:jsonl|seg|times)$/;
const LOG = /\/events\.jsonl$/;

export function isLog(path: string): boolean {
  return LOG.test(path);
}

/** All files, and the directories of BF2, which are not entered. */
export function* filesOf(disk: Disk, home: string): Generator<HomeFile | Printed> {
  for (const name of CONTAINED.filter((name) => name !== "wal")) yield* below(disk, home, name);
  const config = disk.lstat(joinPath(home, CONTAINED_FILE));
  if (config?.kind === "file") yield { kind: "file", path: CONTAINED_FILE, stat: config };
}

/** Of one of these directories. */
export function* filesIn(disk: Disk, home: string, directory: string): Generator<HomeFile> {
  for (const name of disk.list(joinPath(home, directory)).sort()) {
    const path = `${directory}/${name}`;
    const stat = disk.lstat(joinPath(home, path));
    if (stat?.kind === "file" && !LEFT_OUT.test(name)) yield { kind: "file", path, stat };
  }
}

function* below(disk: Disk, home: string, directory: string): Generator<HomeFile | Printed> {
  if (disk.lstat(joinPath(home, directory))?.kind !== "directory") return; // BF1
  const files: HomeFile[] = [];
  for (const name of inOrder(disk.list(joinPath(home, directory)))) {
    const path = `${directory}/${name}`;
    const stat = disk.lstat(joinPath(home, path));
    if (stat?.kind === "file" && !LEFT_OUT.test(name)) files.push({ kind: "file", path, stat });
    if (stat?.kind !== "directory") continue;
    if (PRINTED.test(path)) yield { kind: "printed", path };
    else yield* below(disk, home, path);
  }
  yield* files;
}

/** BF2 */
function inOrder(names: readonly string[]): string[] {
  const late = (name: string) => Number(GROWS.test(name));
  return names.toSorted((a, b) => late(a) - late(b) || (a < b ? -1 : 1));
}
