// Puts the files of a home into a backup, each byte once.
// CO1. What this backup or one of its bases has already is named, not repeated: a file of the same bytes, whatever its
//      name, and the beginning of one that has grown. The hash decides, never the time of a file.
// CO2. A file that is gone when it is to be read is left out; one that grows meanwhile is read up to the length it had.

import { joinPath } from "../../base/path.ts";
import { openExisting, readAll } from "../../log/file/file.ts";
import { type BackupEntry, BLOCK_BYTES, type Piece } from "../../wire/backup.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { type Digester, sha256InPieces } from "../../world/hash.ts";
import type { BackupWriter } from "./writer.ts";

/** A file that is not longer is hashed before it is written: it may be there already (CO1). */
const SMALL_BYTES = BLOCK_BYTES;

type Place = { readonly disk: Disk; readonly home: string };

export class Contents {
  readonly #place: Place;
  readonly #writer: Pick<BackupWriter, "add">;
  /** What the bases have, by path. */
  readonly #before: ReadonlyMap<string, BackupEntry>;
  readonly #byHash = new Map<string, readonly Piece[]>();
  readonly entries = new Map<string, BackupEntry>();
  /** Called after each piece of work, with its bytes. */
  readonly #step: (bytes: number) => Promise<void>;

  constructor(
    place: Place,
    writer: Pick<BackupWriter, "add">,
    before: readonly BackupEntry[],
    step: (bytes: number) => Promise<void>,
  ) {
    this.#place = place;
    this.#writer = writer;
    this.#before = new Map(before.map((entry) => [entry.path, entry]));
    this.#step = step;
    for (const { sha256, at } of before) this.#byHash.set(sha256, at);
  }

  /** Takes a file, or its first `most` bytes, as it is now. */
  async take(path: string, most = Number.POSITIVE_INFINITY): Promise<void> {
    const file = openExisting(this.#place.disk, joinPath(this.#place.home, path));
    if (file === undefined) {
      this.entries.delete(path); // CO2
      return;
    }
    try {
      this.#set(path, await this.#takeFile(file, Math.min(file.size(), most), this.#known(path)));
    } finally {
      file.close();
    }
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    const digest = sha256InPieces();
    digest.update(bytes);
    this.#set(path, { size: bytes.length, sha256: digest.hex(), at: [await this.#writer.add(bytes)] });
  }

  #known(path: string): BackupEntry | undefined {
    return this.entries.get(path) ?? this.#before.get(path);
  }

  #set(path: string, taken: Omit<BackupEntry, "path">): void {
    this.entries.set(path, { path, ...taken });
    this.#byHash.set(taken.sha256, taken.at);
  }

  /** CO1 */
  async #takeFile(file: OpenFile, size: number, known: BackupEntry | undefined) {
    const digest = sha256InPieces();
    const hasGrown = known !== undefined && known.size > 0 && known.size <= size;
    if (hasGrown) await this.#pass(file, 0, known.size, digest);
    if (hasGrown && digest.hex() === known.sha256) return this.#rest(file, known, size, digest);
    const same = size <= SMALL_BYTES || this.#before.size > 0 ? await this.#same(file, size) : undefined;
    return same ?? this.#rest(file, NOTHING, size, sha256InPieces());
  }

  /** Where its bytes are already; undefined if they are not. */
  async #same(file: OpenFile, size: number): Promise<Omit<BackupEntry, "path"> | undefined> {
    const digest = sha256InPieces();
    const length = await this.#pass(file, 0, size, digest);
    const sha256 = digest.hex();
    const at = this.#byHash.get(sha256);
    return at === undefined ? undefined : { size: length, sha256, at };
  }

  /** Adds what follows what is known. */
  async #rest(file: OpenFile, known: Pick<BackupEntry, "size" | "at">, size: number, digest: Digester) {
    const at = [...known.at];
    const length = await this.#pass(file, known.size, size, digest, async (bytes) => {
      const piece = await this.#writer.add(bytes);
      const last = at.at(-1);
      if (last?.source === 0 && last.offset + last.length === piece.offset)
        at[at.length - 1] = { ...last, length: last.length + piece.length };
      else at.push(piece);
    });
    return { size: length, sha256: digest.hex(), at };
  }

  /** Reads from `from` to `to`, or to the end of the file, and returns where that is. */
  async #pass(file: OpenFile, from: number, to: number, digest: Digester, use?: (bytes: Uint8Array) => Promise<void>) {
    for (let at = from; at < to; ) {
      const bytes = readAll(file, at, Math.min(BLOCK_BYTES, to - at));
      if (bytes.length === 0) return at;
      digest.update(bytes);
      await use?.(bytes);
      await this.#step(use === undefined ? 0 : bytes.length);
      at += bytes.length;
    }
    return to;
  }
}

const NOTHING = { size: 0, at: [] };
