// Journal: a file of fixed length, full of zeros, that takes small records one after the other. A record costs one
// write and one flush, of its own bytes alone: the file never grows.
//   use ⇥ sum ⇥ JSON ⏎
// J1. `append` resolves with true only after the flush has covered the record.
// J2. `sum` is the CRC-32 of the JSON, started from `use`. A torn record was never confirmed, and is passed over.
// J3. A journal is written from its beginning again under a higher use. Only records of the highest use count: what an
//     earlier use has left is none of this one.
// J4. One process writes it, and has its lock. It begins only if the last use is the one that it was told: else another
//     process was here after it was chosen, whose records may still be needed.
// J5. After a failed write or flush nothing more is appended: what is on the disk is not known (F2 of file.ts).
import { isFault } from "../../base/fault.ts";
import { isRecord, type Json, parseJson } from "../../base/json.ts";
import { parentOf } from "../../base/path.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { crc32, hex8 } from "../../world/hash.ts";
import { SyncPace } from "../wal/sync-pace.ts";
import { openRetrying, readAll, readWhole, removeIfThere, writeAll } from "./file.ts";

/** Several hundred records: more than any holder makes. */
export const JOURNAL_BYTES = 128 << 10;
const LINE = /^([1-9]\d{0,14})\t([0-9a-f]{8})\t(.*)$/s;
const NEWLINE = 10;

export type JournalRecord = { readonly [name: string]: Json };
/** `use`: the highest one in it, 0 if there is none. */
export type JournalContents = { readonly use: number; readonly records: readonly JournalRecord[] };
/** Which journal is used, and the number of that use. */
export type JournalUse = { readonly path: string; readonly use: number };

/** An empty one, durable. */
export async function makeJournal(disk: Disk, path: string): Promise<void> {
  removeIfThere(disk, path);
  const file = openRetrying(disk, path, "exclusive");
  try {
    writeAll(file, new Uint8Array(JOURNAL_BYTES), 0);
    await file.sync();
    await disk.syncDirectory(parentOf(path));
  } catch (error) {
    if (isFault(error)) removeIfThere(disk, path);
    throw error;
  } finally {
    file.close();
  }
}

/** Undefined if it is missing. */
export function readJournal(disk: Disk, path: string): JournalContents | undefined {
  const bytes = readWhole(disk, path);
  return bytes && contentsOf(bytes);
}

/** Whether a living process has its lock; so it is for as long as it may still write. */
export function isJournalInUse(disk: Disk, path: string): boolean {
  const file = openRetrying(disk, path, "write");
  try {
    return !file.tryLock();
  } finally {
    file.close();
  }
}

/** J2, J3 */
function contentsOf(bytes: Uint8Array): JournalContents {
  let found: { use: number; records: JournalRecord[] } = { use: 0, records: [] };
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline < 0) break;
    const line = lineIn(bytes.subarray(at, newline));
    if (line !== undefined && line.use > found.use) found = { use: line.use, records: [] };
    if (line?.use === found.use && line !== undefined) found.records.push(line.record);
    at = newline + 1;
  }
  return found;
}

function lineIn(bytes: Uint8Array): { readonly use: number; readonly record: JournalRecord } | undefined {
  const [, use = "", sum = "", text = ""] = LINE.exec(new TextDecoder().decode(bytes)) ?? [];
  if (use === "" || hex8(crc32(text, Number(use))) !== sum) return undefined; // J2
  const read = parseJson(text);
  return read.ok && isRecord(read.value) ? { use: Number(use), record: read.value } : undefined;
}

type World = { readonly disk: Disk; readonly clock: Clock };

export class Journal {
  readonly use: JournalUse;
  readonly #file: OpenFile;
  readonly #pace: SyncPace;
  #end = 0;
  #broken = false;

  /** J4. Undefined if it cannot be used. */
  static open({ disk, clock }: World, use: JournalUse): Journal | undefined {
    const file = openIfThere(disk, use.path);
    if (file === undefined) return undefined;
    const isOurs = file.tryLock() && file.size() === JOURNAL_BYTES;
    if (isOurs && contentsOf(readAll(file, 0, JOURNAL_BYTES)).use === use.use - 1) return new Journal(file, use, clock);
    file.close();
    return undefined;
  }

  private constructor(file: OpenFile, use: JournalUse, clock: Clock) {
    this.#file = file;
    this.use = use;
    this.#pace = new SyncPace(clock);
  }

  /** For this many bytes more. */
  hasRoom(bytes: number): boolean {
    return !this.#broken && this.#end + bytes <= JOURNAL_BYTES;
  }

  /** J1. False if there is no room for it, or something failed before (J5). One at a time. */
  async append(record: object): Promise<boolean> {
    const text = JSON.stringify(record);
    const line = Buffer.from(`${this.use.use}\t${hex8(crc32(text, this.use.use))}\t${text}\n`);
    if (!this.hasRoom(line.length)) return false;
    this.#broken = true; // J5, until it is on the disk.
    writeAll(this.#file, line, this.#end);
    await this.#pace.sync(this.#file); // J1
    this.#end += line.length;
    this.#broken = false;
    return true;
  }

  close(): void {
    this.#file.close();
  }
}

function openIfThere(disk: Disk, path: string): OpenFile | undefined {
  try {
    return openRetrying(disk, path, "write");
  } catch (error) {
    if (isFault(error, "ENOENT")) return undefined;
    throw error;
  }
}
