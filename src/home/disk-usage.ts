// What takes room below the home, by kind.
// DU1. Every file counts once: under the first kind whose pattern matches, also if it has several names.
// DU2. Nothing behind a symbolic link is counted. What may not be read, or is removed meanwhile, is left out.
// DU3. For a page that is looked at all day, the work is bounded however long the history is.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { KindUsage, WebUsage } from "../wire/page/messages.ts";
import type { Disk } from "../world/disk.ts";

/** By the path below the home. The order matters (DU1). */
const KINDS = [
  ["write-ahead log", /^wal\//],
  [
    "archive: ended runs, removed terminals, terminated agents",
    /^(?:archive|(?:agents|terminals)\/_[^/]+|state\/.*\/sessions\/_[^/]+)\//,
  ],
  [
    "logs of terminals, agents and runs",
    /^(?:agents|terminals|tmux|state)\/.*\/(?:events(?:-\d+)?\.jsonl|(?:poison|trimmed)\.json)$/,
  ],
  ["output of terminals", /^terminals\/[^/]+\/(?:tape\/|times\/|keyframes\/|sizes\.jsonl)/],
  ["records of terminals", /^terminals\//],
  ["output of steps", /^state\/[^/]+\/sessions\/[^/]+\/attempts\//],
  ["checkpoints of runs and their history", /^state\//],
  ["journals of steps", /^journals\//],
  ["output of agents", /^agents\/[^/]+\/processes\//],
  ["conversations of Claude Code in a sandbox", /^agents\/[^/]+\/claude\//],
  ["records and checkpoints of agents", /^agents\//],
  ["saved tmux sessions", /^tmux\//],
  ["index of searches: made again if it is removed", /^search\//],
  ["quarantine", /^quarantine\//],
  ["reports of recoveries", /^recovery\/reports\//],
  ["checkpoints of terminals, and recovery", /^recovery\//],
  ["worktrees of runs", /^worktrees\//],
  ["clones for sandboxed agents", /^clones\//],
  ["copies of agents' conversations and work, for other hosts", /^(?:carried|fleet\/works)\//],
  ["ballast: given up if the disk is full", /^ballast$/],
  ["sockets, programs of holders, daemon's log", /^(?:run\/|wal\.lock$)/],
  ["other files", /^/],
] as const satisfies readonly (readonly [string, RegExp])[];

/** The largest first; kinds of which there is nothing are left out. */
export function diskUsage(disk: Disk, home: string): KindUsage[] {
  const count = new Count();
  for (const found of filesBelow(disk, home)) count.add(found);
  return count.kinds();
}

export type UsageLimits = {
  /** More files are not counted. */
  readonly most: number;
  /** Called after every few files: other work of this process gets its turn. */
  rest(): Promise<void>;
};

/** A millisecond of work. */
const AT_ONCE = 100;

/** DU3 */
export async function diskUsageWithin(disk: Disk, home: string, { most, rest }: UsageLimits): Promise<WebUsage> {
  const count = new Count();
  let seen = 0;
  for (const found of filesBelow(disk, home)) {
    if (seen === most) return { kinds: count.kinds(), isWhole: false };
    seen += 1;
    count.add(found);
    if (seen % AT_ONCE === 0) await rest();
  }
  return { kinds: count.kinds(), isWhole: true };
}

class Count {
  readonly #usage = new Map<string, { files: number; bytes: number }>();
  readonly #seen = new Set<string>();

  add({ path, size, id }: Found): void {
    if (this.#seen.has(id)) return; // DU1
    this.#seen.add(id);
    const [kind] = KINDS.find(([, pattern]) => pattern.test(path)) ?? KINDS[0];
    const { files, bytes } = this.#usage.get(kind) ?? { files: 0, bytes: 0 };
    this.#usage.set(kind, { files: files + 1, bytes: bytes + size });
  }

  kinds(): KindUsage[] {
    return [...this.#usage].map(([kind, found]) => ({ kind, ...found })).sort((a, b) => b.bytes - a.bytes);
  }
}

type Found = { readonly path: string; readonly size: number; readonly id: string };

/** Paths are below the home. */
function* filesBelow(disk: Disk, home: string): Generator<Found> {
  const directories = [""];
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    for (const name of namesIn(disk, joinPath(home, at))) {
      const path = at === "" ? name : `${at}/${name}`;
      const stat = statOf(disk, joinPath(home, path));
      if (stat?.kind === "directory") directories.push(path);
      else if (stat?.kind === "file") yield { path, size: stat.size, id: stat.id };
    }
  }
}

/** DU2 */
function namesIn(disk: Disk, path: string): string[] {
  try {
    return disk.list(path);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

/** DU2 */
function statOf(disk: Disk, path: string) {
  try {
    return disk.lstat(path);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
