// A copy of what the database has of a home, as it is there: sealed. It is brought up to date by what has changed, so
// that taking the home over needs little more than what was written since.
//   blobs/<SHA-256 of the bytes>   batches/<first>-<last>
// MI1. It is a cache: nothing in it is synced, and what is damaged or stale is fetched again. A blob is what its name
//      says; batches are only kept if the last one is, byte for byte, the one that the database has.
// MI2. It has batches from the snapshot on, without a hole. If there is one in the database, it is refused.
// MI3. While the home has an owner, what it says is of several moments, and only saves work. Once it is taken, nothing
//      changes any more, and what `refresh` returns is the home.
// MI4. Whoever reads it needs the fleet's key.
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { makeDirectories, readWhole, removeIfThere } from "../log/file/file.ts";
import { writeUnsynced } from "../log/file/unsynced-file.ts";
import type { Disk } from "../world/disk.ts";
import { sha256 } from "../world/hash.ts";
import { getBlob, listBlobs } from "./blobs.ts";
import { type Batch, type BlobRow, LOOK, type WholeBlob } from "./calls.ts";
import type { Database } from "./database.ts";
import { noAnswer, readBatches } from "./history.ts";

export type MirrorPorts = {
  readonly disk: Disk;
  readonly database: Database;
  readonly homeId: string;
  /** Its directory; made if it is missing. Nobody else may use it. */
  readonly path: string;
  /** Called after each piece of work. Throws to end it. */
  readonly step: (progress: MirrorProgress) => void;
};
/** `blobs` and `bytes`: fetched so far; `of`: blobs that the home has. */
export type MirrorProgress = { readonly blobs: number; readonly of: number; readonly bytes: number };

export type MirroredBlob = { readonly path: string } & WholeBlob;
/** The home as the database had it: `seq` is where its log ends, `snapshot` up to where the blobs have it. */
export type Mirrored = {
  readonly blobs: readonly MirroredBlob[];
  readonly snapshot: number;
  readonly seq: number;
};

const BATCH = /^(\d{16})-(\d{16})$/;
const FILE_NAME = /^[0-9a-f]{64}$/;

export class Mirror {
  readonly #ports: MirrorPorts;
  #progress: MirrorProgress = { blobs: 0, of: 0, bytes: 0 };

  constructor(ports: MirrorPorts) {
    this.#ports = ports;
  }

  /** Fetches what it lacks (MI3). Can be repeated, also after a crash. */
  async refresh(): Promise<Result<Mirrored>> {
    const { disk, database, homeId } = this.#ports;
    for (const name of ["blobs", "batches"]) makeDirectories(disk, this.#at(name));
    this.#progress = { blobs: 0, of: 0, bytes: 0 };
    const row = await database.call(LOOK, homeId);
    if (row.kind !== "done") return noAnswer(row);
    if (row.value === undefined) return refused("fleet-no-home", `The database has no home ${homeId}.`, NO_HOME);
    const blobs = await this.#blobs();
    if (!blobs.ok) return blobs;
    const { snapshot, lastSeq } = row.value;
    const seq = await this.#batches(snapshot);
    if (!seq.ok) return seq;
    return ok({ blobs: blobs.value, snapshot, seq: Math.max(lastSeq, seq.value) });
  }

  /** Undefined if it is not what it was (MI1). */
  read({ hash }: MirroredBlob): Uint8Array | undefined {
    const bytes = readWhole(this.#ports.disk, this.#at(`blobs/${hash}`));
    return bytes !== undefined && sha256(bytes) === hash ? bytes : undefined;
  }

  /** From the snapshot on. */
  *batches(): Generator<Batch> {
    for (const { first, last, path } of this.#stored()) {
      const bytes = readWhole(this.#ports.disk, path);
      if (bytes !== undefined) yield { first, last, bytes };
    }
  }

  /** MI1. Afterwards `refresh` fetches all batches, and each blob that is not what it was. */
  distrust(): void {
    const { disk } = this.#ports;
    this.#forgetBatches();
    for (const hash of disk.list(this.#at("blobs"))) {
      const path = this.#at(`blobs/${hash}`);
      const bytes = readWhole(disk, path);
      if (bytes === undefined || sha256(bytes) !== hash) removeIfThere(disk, path);
    }
  }

  #forgetBatches(): void {
    for (const { path } of this.#stored()) removeIfThere(this.#ports.disk, path);
  }

  async #blobs(): Promise<Result<readonly MirroredBlob[]>> {
    const { disk, database, homeId } = this.#ports;
    const rows = await listBlobs(database, homeId);
    if (!rows.ok) return rows;
    const wholes = rows.value.flatMap(wholeOf);
    const wanted = new Set(wholes.map(({ hash }) => hash));
    const names = new Set(disk.list(this.#at("blobs")));
    for (const name of names) if (!wanted.has(name)) removeIfThere(disk, this.#at(`blobs/${name}`));
    const found: MirroredBlob[] = [];
    for (const whole of wholes) {
      const fetched = names.has(whole.hash) ? ok(whole) : await this.#fetched(whole);
      if (!fetched.ok) return fetched;
      if (fetched.value !== undefined) found.push(fetched.value);
      this.#told({ of: wholes.length });
    }
    return ok(found);
  }

  /** As it is by now: it may be newer than in the list. Undefined: it was dropped meanwhile. */
  async #fetched(whole: MirroredBlob): Promise<Result<MirroredBlob | undefined>> {
    const { disk, database, homeId } = this.#ports;
    const blob = await getBlob(database, homeId, whole.path);
    if (!blob.ok) return blob;
    if (blob.value === undefined) return ok(undefined);
    const { seq, bytes } = blob.value;
    const hash = sha256(bytes);
    writeUnsynced(disk, this.#at(`blobs/${hash}`), bytes);
    this.#told({ blobs: this.#progress.blobs + 1, bytes: this.#progress.bytes + bytes.length });
    return ok({ ...whole, seq, hash });
  }

  /** Returns where the log ends. */
  async #batches(snapshot: number): Promise<Result<number>> {
    const { disk, database, homeId } = this.#ports;
    for (const { last, path } of this.#stored()) if (last <= snapshot) removeIfThere(disk, path);
    const stored = this.#stored();
    let end = stored.at(-1)?.last ?? snapshot;
    if (stored.length > 0 && !(await this.#isTheirs(stored, snapshot))) {
      this.#forgetBatches();
      end = snapshot;
    }
    for (;;) {
      const read = await readBatches(database, homeId, end);
      if (!read.ok) return read; // MI2
      if (read.value.length === 0) return ok(end);
      for (const batch of read.value) this.#keep(batch);
      end = read.value.at(-1)?.last ?? end;
    }
  }

  /** MI1, MI2 */
  async #isTheirs(stored: readonly Named[], snapshot: number): Promise<boolean> {
    const { disk, database, homeId } = this.#ports;
    let end = snapshot;
    for (const { first, last } of stored) {
      if (first > end + 1) return false;
      end = last;
    }
    const newest = stored.at(-1);
    const read = await readBatches(database, homeId, (newest?.first ?? 1) - 1);
    const theirs = read.ok ? read.value[0] : undefined;
    const ours = newest && readWhole(disk, newest.path);
    return theirs !== undefined && ours !== undefined && Buffer.compare(ours, theirs.bytes) === 0;
  }

  #keep({ first, last, bytes }: Batch): void {
    const name = [first, last].map((seq) => String(seq).padStart(16, "0")).join("-");
    writeUnsynced(this.#ports.disk, this.#at(`batches/${name}`), bytes);
    this.#told({ bytes: this.#progress.bytes + bytes.length });
  }

  #stored(): readonly Named[] {
    const names = this.#ports.disk.list(this.#at("batches")).sort();
    return names.flatMap((name) => {
      const [, first, last] = BATCH.exec(name) ?? [];
      const path = this.#at(`batches/${name}`);
      return first === undefined ? [] : [{ first: Number(first), last: Number(last), path }];
    });
  }

  #told(change: Partial<MirrorProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#ports.step(this.#progress);
  }

  #at(name: string): string {
    return joinPath(this.#ports.path, name);
  }
}

type Named = { readonly first: number; readonly last: number; readonly path: string };

function wholeOf({ path, whole }: BlobRow): MirroredBlob[] {
  return whole !== undefined && FILE_NAME.test(whole.hash) ? [{ path, ...whole }] : [];
}

const NO_HOME = "`holdfast fleet` lists those that it has.";
