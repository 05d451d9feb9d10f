// One store for all checkpoints. A checkpoint is a cached fold at a `seq`:
// recovery loads the newest valid one and replays the log after it.
// P1. Once there is a checkpoint, the primary is a whole, valid one at every moment (TC-4): new bytes are synced and
//     read back before they take its name.
// P2. When `save` resolves, the new one and its predecessor (as backup or history) are durable under their names.
// P3. Only a valid primary becomes the backup; a damaged one goes to quarantine first (TC-8). It is read once per
//     process to know this; what we wrote ourselves is already verified.
// P4. A newer version is never overwritten, neither as primary nor as backup.
// P5. Saves run one after another, in the order of the calls; the body is as it was at the call (UC-5).
// P6. A failed sync of a directory is not repeated: the store stays broken for the life of the process.
import { assert } from "../../base/assert.ts";
import { Fault } from "../../base/fault.ts";
import { baseName, parentOf } from "../../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { writeAtomic } from "../file/atomic-file.ts";
import { DurableDirectories } from "../file/durable-directories.ts";
import { isFailedSync, readAll } from "../file/file.ts";
import { quarantine, quarantineUnread } from "../file/quarantine.ts";
import { type EnvelopeHead, encodeEnvelope } from "./envelope.ts";
import { type Keep, keepDirectory, keepPresent, olderOnes, trimHistory } from "./keep.ts";
import { firstUsable, type Generation, generationOf, type Loaded, refuseNewer } from "./load.ts";
import { type Expected, type FileReading, headOf, readCheckpoint } from "./read.ts";

export type CheckpointOptions = Expected & {
  /** Contains the quarantine. `save` makes missing directories below it, and makes them durable. */
  readonly home: string;
  /** Shared by stores with common directories. */
  readonly directories?: DurableDirectories;
  readonly path: string;
  readonly keep: Keep;
};

export type Saved = { readonly path: string; readonly seq: number; readonly time: string; readonly bytes: number };

/** Each waiting save holds its body as text; a caller this far ahead of the disk is refused. */
const MAX_WAITING = 64;

export class CheckpointStore {
  private readonly disk: Disk;
  private readonly clock: Clock;
  private readonly options: CheckpointOptions;
  private turn: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private ready = false;
  private broken: Fault | undefined;
  /** The primary, if it is valid, and the hash of the last one that was kept: a crash may come after keeping it. */
  private primary: EnvelopeHead | undefined;
  private kept: string | undefined;
  /**
   * Whether the names of existing older ones may not be durable:
   * an earlier process may have been killed before the sync.
   */
  private doubtful = false;
  private readonly directories: DurableDirectories;

  constructor(disk: Disk, clock: Clock, options: CheckpointOptions) {
    assert(/^[a-z0-9.-]{1,64}$/.test(options.kind), "the kind of a checkpoint is a short plain word");
    assert("backup" in options.keep || options.keep.limit >= 1, "a history keeps at least one");
    this.disk = disk;
    this.clock = clock;
    this.options = options;
    this.directories = options.directories ?? new DurableDirectories(disk, options.home);
  }

  /** Refused if a newer version is in the way, or if too many saves wait; a broken disk is a Fault. */
  async save(body: unknown, seq: number): Promise<Result<Saved>> {
    const text = textOf(body); // P5
    return this.saveMade(async () => text, seq);
  }

  /** The same for a body that is made of what cannot change (P5) when its directory is there; as text. */
  async saveMade(make: () => Promise<string>, seq: number): Promise<Result<Saved>> {
    if (this.waiting >= MAX_WAITING)
      return refused("BUSY", "too many checkpoints are waiting for the disk", "Save less often.");
    const time = new Date(this.clock.now()).toISOString();
    return this.inTurn(async () => {
      const refusal = await this.prepare();
      return refusal ?? ok(await this.write(await make(), seq, time));
    });
  }

  /** Loads the newest valid one: the primary, else the older ones, newest first. */
  load(): Loaded {
    return firstUsable(this.disk, [this.options.path, ...this.older()], this.options);
  }

  /** Loads the `index`th of `listHistory`; 0 is the newest. */
  loadFromHistory(index: number): Loaded {
    return firstUsable(this.disk, this.older().slice(index, index + 1), this.options);
  }

  /** The older ones, newest first. */
  listHistory(): Generation[] {
    return this.older().map((path) => generationOf(path, this.read(path)));
  }

  /** The seq up to which the newest one and the one before it have everything; 0 unless both are good. */
  covers(): number {
    const two = [this.options.path, ...this.older().slice(0, 1)].map((path) => this.read(path));
    const seqs = two.flatMap((one) => (one.kind === "usable" ? one.head.seq : []));
    return seqs.length < 2 ? 0 : Math.min(...seqs);
  }

  private async write(text: string, seq: number, time: string): Promise<Saved> {
    const { disk, options } = this;
    const { bytes, head } = encodeEnvelope({ ...options, seq, time }, text);
    let pastCommit = false;
    const beforeCommit = async (synced: OpenFile) => {
      verify(synced, bytes); // P1
      await this.keepPrimary();
      pastCommit = true;
    };
    try {
      const older = this.doubtful || this.toKeep() !== undefined ? { alsoSync: keepDirectory(options.keep) } : {}; // P2
      await writeAtomic(disk, options.path, bytes, { tag: head.sha256.slice(0, 12), beforeCommit, ...older });
      this.doubtful = false;
    } catch (error) {
      if (pastCommit && isFailedSync(error)) this.broken = error; // P6
      this.ready = false; // What is there now must be checked again before it is kept.
      throw error;
    }
    this.primary = head;
    trimHistory(disk, options.keep);
    return { path: options.path, seq, time, bytes: bytes.length };
  }

  private async keepPrimary(): Promise<void> {
    const present = this.toKeep();
    if (present === undefined) return;
    await this.made(keepDirectory(this.options.keep));
    await keepPresent(this.disk, this.options.path, this.options.keep, present.time); // P3
    this.kept = present.sha256;
  }

  /** The current one, if it is not kept yet. */
  private toKeep(): EnvelopeHead | undefined {
    return this.kept === this.primary?.sha256 ? undefined : this.primary;
  }

  /** Once per process: makes the directories, and deals with what an earlier process or another program left there. */
  private async prepare(): Promise<{ readonly ok: false; readonly error: Refusal } | undefined> {
    if (this.ready) return undefined;
    const { options } = this;
    await this.made(parentOf(options.path));
    const primary = this.read(options.path);
    const older = this.older()[0];
    const kept = older === undefined ? undefined : this.read(older);
    if (primary.kind === "newer") return refuseNewer(options.path, primary.version, options.version); // P4
    if (kept?.kind === "newer" && "backup" in options.keep)
      return refuseNewer(options.keep.backup, kept.version, options.version); // P4
    if (primary.kind === "bad") await this.setAside(primary); // P3
    if (kept?.kind === "bad" && "backup" in options.keep) await this.setAside(kept);
    this.primary = headOf(primary);
    this.kept = kept === undefined ? undefined : headOf(kept)?.sha256;
    this.doubtful = kept !== undefined;
    this.ready = true;
    return undefined;
  }

  private async setAside({ problem, bytes }: FileReading & { kind: "bad" }): Promise<void> {
    const { path: from, reason } = problem;
    const damage = { name: baseName(from), from, offset: 0, reason, at: this.clock.now() };
    if (bytes === undefined) await quarantineUnread(this.disk, this.options.home, damage);
    else await quarantine(this.disk, this.options.home, damage, bytes);
  }

  private older(): string[] {
    return olderOnes(this.disk, this.options.keep);
  }

  private read(path: string): FileReading {
    return readCheckpoint(this.disk, path, this.options);
  }

  private made(directory: string): Promise<void> {
    return this.orBroken(() => this.directories.make(directory));
  }

  private async orBroken(sync: () => Promise<void>): Promise<void> {
    try {
      await sync();
    } catch (error) {
      if (isFailedSync(error)) this.broken = error; // P6
      throw error;
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.waiting += 1;
    const result = this.turn.then(() => {
      this.waiting -= 1;
      if (this.broken !== undefined) throw this.broken; // P6
      return work();
    });
    // The caller gets the failure; the next one runs all the same.
    this.turn = result.catch((error: unknown) => error);
    return result;
  }
}

export function textOf(body: unknown): string {
  const text: unknown = JSON.stringify(body);
  assert(typeof text === "string", "the body of a checkpoint is JSON");
  return text;
}

/** Compares the bytes with those that were hashed: cheaper than a second hash, and no weaker. */
function verify(synced: OpenFile, bytes: Uint8Array): void {
  const back = readAll(synced, 0, bytes.length + 1);
  if (Buffer.compare(back, bytes) !== 0) throw new Fault({ code: "EIO", operation: "verify", path: synced.path });
}
