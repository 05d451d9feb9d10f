// Ships a home's files, for its owner: round after round, what has changed becomes blobs, under the take in
// `fleet/owner.json` (docs/FLEET.md).
// SH1. Nothing is sent under a take that was fenced. The next one is tried.
// SH2. A snapshot is true: the position was noted before the first log was read, every session was looked at, wherever
//      it was moved meanwhile, and all of it is stored when the position is.
// SH3. What is new is stored before what is gone is dropped, and that before the position is stored. Of a session that
//      was archived or brought back, there is in between a copy of the old place, as true as the last snapshot.
// SH4. A round takes at most a twentieth of the time: then it waits for twenty times as long as it took.
// SH5. A round that failed changes nothing that the next one relies on.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { readOwner } from "../../home/fleet-files.ts";
import { archivedName, listArchived, listSessions } from "../../log/session/places.ts";
import { readWal } from "../../log/wal/wal-files.ts";
import { blobName } from "../blob-form.ts";
import { BACKLOG, LOOK, SNAPSHOT, type Take } from "../calls.ts";
import type { Database } from "../database.ts";
import { mergeBatches, noAnswer } from "../history.ts";
import type { FleetSeal } from "../seal.ts";
import { orStopped, Stopped } from "../stopped.ts";
import { StoredBlobs } from "./stored.ts";
import { type Round, type ShipPlace, type Stamps, Walk } from "./walk.ts";
import { howOf, isLive, SHIPPED_ROOTS } from "./which.ts";

export type ShipPorts = ShipPlace & { readonly database: Database; readonly seal: FleetSeal };

/** `count` blobs were stored, of so many bytes in all. */
export type Shipped = { readonly round: Round; readonly count: number; readonly bytes: number };

const LEAST_PAUSE_MS = 1_000;
/** SH4 */
export const PAUSE_FACTOR = 20;
/** When a snapshot is due: the more is behind it, the longer takes a takeover. */
const SNAPSHOT_MS = 600_000;
const SNAPSHOT_BYTES = 16 << 20;
/** Asking how much that is goes through all of it. */
const BACKLOG_MS = 15_000;
/** If sessions are moved faster than they can be looked at, there is no snapshot in this round. */
const MAX_LOOKS = 10;
const LOG = /\/events(?:-\d{16})?\.jsonl$/;

export class Shipper {
  readonly #ports: ShipPorts;
  #take: Take | undefined;
  #stored: StoredBlobs | undefined;
  #stamps: Stamps = new Map();
  #fenced: string | undefined;
  #snapshotAt: number | undefined;
  #backlogAt = Number.NEGATIVE_INFINITY;
  /** How long to wait before the next round. */
  pauseMs = LEAST_PAUSE_MS;

  constructor(ports: ShipPorts) {
    this.#ports = ports;
  }

  /** Can be repeated, whatever comes of it. `fleet-fenced`: another host has the home (SH1). */
  async round(): Promise<Result<Shipped>> {
    const begun = this.#ports.clock.elapsed();
    try {
      return ok(await this.#round(this.#owned()));
    } catch (error) {
      this.#stored = undefined; // SH5
      if (isFault(error)) return refused("fleet-ship", error.message, error.hint);
      if (!(error instanceof Stopped)) throw error;
      if (error.refusal.code === "fleet-fenced") this.#fenced = this.#take?.id;
      return { ok: false, error: error.refusal };
    } finally {
      const took = this.#ports.clock.elapsed() - begun;
      this.pauseMs = Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * took);
    }
  }

  /** Throws `Stopped` if the home is not ours. */
  #owned(): Take {
    const record = readOwner(this.#ports);
    if (record === undefined || record.take === null) throw new Stopped(NOT_TAKEN);
    if (record.take.id === this.#fenced) throw new Stopped(FENCED); // SH1
    if (record.take.id !== this.#take?.id) this.#stored = undefined;
    this.#take = { home: record.home, ...record.take };
    return this.#take;
  }

  async #round(take: Take): Promise<Shipped> {
    const { database, seal } = this.#ports;
    if (this.#stored === undefined) {
      this.#stamps = new Map();
      this.#stored = await StoredBlobs.read(database, seal, take);
    }
    const stored = this.#stored;
    const [count, bytes] = [stored.count, stored.bytes];
    const isDue = await this.#isSnapshotDue(take);
    const round = isDue && (await this.#snapshot(take, stored)) ? "snapshot" : await this.#tick(stored);
    return { round, count: stored.count - count, bytes: stored.bytes - bytes };
  }

  async #tick(stored: StoredBlobs): Promise<Round> {
    const walk = new Walk(this.#ports, stored, this.#stamps, "tick");
    for (const root of SHIPPED_ROOTS) if (isLive(root)) await walk.directory(root);
    for (const blob of stored.paths) if (!walk.seen.has(blob) && this.#isRemoved(blob)) await stored.drop(blob);
    return "tick";
  }

  /** Whether a file is gone, and not moved with its session: then its directory would be gone as well. */
  #isRemoved(blob: string): boolean {
    const name = blobName(blob);
    if (name === undefined) return false;
    const how = howOf(name.path);
    const directory = name.path.slice(0, name.path.lastIndexOf("/"));
    if (!isLive(directory) || (how !== "now" && how !== "tape")) return false;
    return this.#ports.disk.lstat(joinPath(this.#ports.home, directory))?.kind === "directory";
  }

  async #isSnapshotDue({ home }: Take): Promise<boolean> {
    const { database, clock } = this.#ports;
    const now = clock.elapsed();
    this.#snapshotAt ??= now;
    if (now - this.#backlogAt < BACKLOG_MS) return false;
    const row = await database.call(LOOK, home);
    if (row.kind !== "done") throw new Stopped(noAnswer(row).error);
    if (row.value === undefined || row.value.lastSeq <= row.value.snapshot) return false;
    if (row.value.snapshot === 0 || now - this.#snapshotAt >= SNAPSHOT_MS) return true;
    this.#backlogAt = now;
    const backlog = await database.call(BACKLOG, home);
    if (backlog.kind !== "done") throw new Stopped(noAnswer(backlog).error);
    return backlog.value > SNAPSHOT_BYTES;
  }

  /** Returns whether there is one now. */
  async #snapshot(take: Take, stored: StoredBlobs): Promise<boolean> {
    const { disk, home, clock, database } = this.#ports;
    this.#backlogAt = clock.elapsed();
    const { gen, drained } = readWal(disk, home).view; // SH2
    const walk = new Walk(this.#ports, stored, this.#stamps, "snapshot");
    for (const root of SHIPPED_ROOTS) await walk.directory(root);
    if (gen === 0 || !(await this.#lookAgain(walk))) return false;
    const gone = stored.paths.filter((blob) => !walk.seen.has(blob));
    for (const blob of logsFirst(gone)) await stored.drop(blob); // SH3
    const before = await database.call(LOOK, take.home);
    if (before.kind !== "done") throw new Stopped(noAnswer(before).error);
    const position = before.value?.snapshot ?? 0;
    if (drained <= position) return false; // A quiet log says only with its next batch what is in the sessions.
    const made = await database.call(SNAPSHOT, { take, seq: drained });
    if (made.kind !== "done") throw new Stopped(noAnswer(made).error);
    if (!made.value || made.isDoubtful) return false;
    this.#snapshotAt = clock.elapsed();
    orStopped(await mergeBatches(database, take, position));
    return true;
  }

  /** SH2. Returns whether every session was looked at where it is. */
  async #lookAgain(walk: Walk): Promise<boolean> {
    const { disk, home } = this.#ports;
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const sessions = [...listSessions(disk, home), ...listArchived(disk, home).map(archivedName)];
      const missed = sessions.filter((session) => !walk.visited.has(session) && isShipped(session));
      if (missed.length === 0) return true;
      for (const session of missed) await walk.directory(session);
    }
    return false;
  }
}

function isShipped(session: string): boolean {
  return SHIPPED_ROOTS.some((root) => session.startsWith(`${root}/`));
}

/** Without its log, what is left of a session counts for nothing. */
function logsFirst(blobs: readonly string[]): string[] {
  return blobs.toSorted((a, b) => Number(LOG.test(b)) - Number(LOG.test(a)));
}

const NOT_TAKEN = refused("fleet-not-taken", "The home is not taken by this host.", "Its daemon takes it.").error;
const FENCED = refused("fleet-fenced", "The home has another owner.", "This host follows it now.").error;
