// Brings copies of agents' conversations into `carried/` of the home, from where they are shipped with the rest
// (home/outside-files.ts). What they have changed in worktrees and clones: carry-work.ts.
// CY1. Only plain files below the store that the daemon named, never what a link leads to: an agent may have put one
//      there. Nothing else of the store is read, least of all a login.
// CY2. A file that has only grown costs what it has grown by. Whole lines are copied: a conversation is cut between two
//      of them.
// CY3. What the home has no session for any more is removed. A session whose conversation is not known at the moment
//      keeps its copy: a daemon that has just started knows little.
// CY4. In a home that was taken over, nothing is touched before that is reported: the copies are put in their places.
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { readTaken } from "../home/fleet-files.ts";
import { CARRIED } from "../home/layout.ts";
import {
  type CarriedEntry,
  carriedPath,
  conversationKey,
  type OutsideConversation,
  readCarried,
  readOutside,
  writeCarried,
} from "../home/outside-files.ts";
import {
  makeDirectories,
  openExisting,
  openRetrying,
  readAll,
  removeTree,
  wholeLines,
  writeAll,
} from "../log/file/file.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk, OpenFile, Stat } from "../world/disk.ts";
import type { WorkCarrier } from "./carry-work.ts";

export type CarryPorts = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  /** Of each conversation; what is longer stays here, and that is said. */
  readonly maxBytes: number;
  readonly work?: Pick<WorkCarrier, "round" | "entries">;
};

const COPY_BYTES = 1 << 20;
/** So much of the end must be the same in what is continued. */
const OVERLAP = 4_096;
const MIB = 1 << 20;

export class Carrier {
  readonly #ports: CarryPorts;
  readonly #stamps = new Map<string, string>();
  #written = "";

  constructor(ports: CarryPorts) {
    this.#ports = ports;
  }

  /** `isLast`: the home is handed over after it. Throws a Fault if the home's own disk refuses. */
  async round(isLast = false): Promise<void> {
    const outside = readOutside(this.#ports);
    if (outside === undefined || readTaken(this.#ports) !== undefined) return; // CY4
    const { work } = this.#ports;
    const known = readCarried(this.#ports);
    await work?.round(outside, known, isLast);
    const entries = { ...known, ...work?.entries };
    this.#forget(entries);
    for (const conversation of outside.conversations) this.#carry(conversation, entries);
    const text = JSON.stringify(entries);
    if (text === this.#written) return;
    writeCarried(this.#ports, entries);
    this.#written = text;
  }

  /** CY3 */
  #forget(entries: Record<string, CarriedEntry>): void {
    const { disk, home } = this.#ports;
    for (const kind of ["agents", "terminals"])
      for (const id of disk.list(joinPath(home, `${CARRIED}/${kind}`))) {
        const session = `${kind}/${id}`;
        if (disk.lstat(joinPath(home, session)) !== undefined) continue;
        removeTree(disk, carriedPath(home, session));
        for (const key of Object.keys(entries)) if (key.startsWith(`${session}/`)) delete entries[key];
      }
  }

  #carry(conversation: OutsideConversation, entries: Record<string, CarriedEntry>): void {
    const key = conversationKey(conversation);
    const [source, stat] = this.#source(conversation) ?? [];
    if (source === undefined || stat === undefined) return; // It may be written anew at this moment.
    const stamp = `${stat.id} ${stat.size} ${stat.modifiedMs}`;
    if (this.#stamps.get(key) === stamp) return;
    const { clock, maxBytes } = this.#ports;
    const at = new Date(clock.now()).toISOString();
    this.#dropOthers(conversation.session, key, entries);
    const large = `it has ${Math.ceil(stat.size / MIB)} MiB, and [fleet] carry_bytes allows less`;
    const copied = stat.size > maxBytes ? large : this.#copied(source, key);
    const before = { at: entries[key]?.at ?? at, bytes: entries[key]?.bytes ?? 0 };
    entries[key] = typeof copied === "number" ? { at, bytes: copied } : { ...before, left: copied };
    this.#stamps.set(key, stamp);
  }

  /** Returns how long the copy is, or why there is no newer one. */
  #copied(source: string, key: string): number | string {
    try {
      return this.#copy(source, key);
    } catch (error) {
      if (isFault(error)) return `it could not be copied: ${error.message}`;
      throw error;
    }
  }

  /** CY1 */
  #source({ root, path }: OutsideConversation): [path: string, stat: Stat] | undefined {
    const { disk } = this.#ports;
    try {
      const at = joinPath(root, path);
      const stat = disk.lstat(at);
      const real = disk.realPath(root);
      const isPlain = stat?.kind === "file" && real !== undefined && disk.realPath(at) === joinPath(real, path);
      return isPlain ? [at, stat] : undefined;
    } catch (error) {
      if (isFault(error)) return undefined; // It cannot be looked at.
      throw error;
    }
  }

  /** A session is in one conversation: what it was in before is left to its CLI. */
  #dropOthers(session: string, key: string, entries: Record<string, CarriedEntry>): void {
    const others = Object.keys(entries).filter(
      (other) => other !== key && other.startsWith(`${session}/conversation/`),
    );
    for (const other of others) {
      removeTree(this.#ports.disk, carriedPath(this.#ports.home, other));
      delete entries[other];
    }
  }

  /** CY2. Returns how long the copy is. */
  #copy(source: string, key: string): number {
    const { disk, home } = this.#ports;
    const path = carriedPath(home, key);
    const from = openExisting(disk, source);
    if (from === undefined) return disk.stat(path)?.size ?? 0;
    makeDirectories(disk, parentOf(path));
    const to = openRetrying(disk, path, "create");
    try {
      const isLines = path.endsWith(".jsonl");
      const end = isLines ? wholeLines(from) : from.size();
      let at = isLines && continues(from, to) ? to.size() : 0;
      if (at === 0) to.truncate(0);
      for (; at < end; at += COPY_BYTES) writeAll(to, readAll(from, at, Math.min(COPY_BYTES, end - at)), at);
      return end;
    } finally {
      from.close();
      to.close();
    }
  }
}

/** CY2. Whether the copy is a beginning of the file, as far as its end tells. */
function continues(from: OpenFile, to: OpenFile): boolean {
  const have = to.size();
  if (have === 0 || have > from.size()) return false;
  const at = Math.max(0, have - OVERLAP);
  return Buffer.compare(readAll(from, at, have - at), readAll(to, at, have - at)) === 0;
}
