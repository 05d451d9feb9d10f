// A backup with all that it builds on.
// CN1. Each base is the very one that it was made with: its id and its digest are right. Any other is refused by name.
// CN2. Contents are read in their order, whatever the order of the files: each block is opened once.
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { BackupEntry, BackupTop, Piece } from "../../wire/backup.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256InPieces } from "../../world/hash.ts";
import { BackupReader, type Passphrase } from "./reader.ts";
import { NotWhole } from "./stopped.ts";

export type ChainPlace = {
  readonly disk: Disk;
  readonly path: string;
  /** Where bases are, beside the names that they had next to this one. */
  readonly bases: readonly string[];
  readonly passphrase: Passphrase;
};

export class BackupChain {
  readonly #readers: readonly BackupReader[];

  /** The file must be there. Damage is `NotWhole`. */
  static async open(place: ChainPlace): Promise<Result<BackupChain>> {
    const first = await BackupReader.open(place.disk, place.path, place.passphrase);
    if (!first.ok) return first;
    const readers = [first.value];
    try {
      for (const base of first.value.index.top.bases) {
        const found = await openBase(place, base);
        if (!found.ok) return closed(readers, found);
        readers.push(found.value);
      }
      return ok(new BackupChain(readers));
    } catch (error) {
      return closed(readers, () => {
        throw error;
      });
    }
  }

  constructor(readers: readonly BackupReader[]) {
    this.#readers = readers;
  }

  get newest(): BackupReader {
    const [first] = this.#readers;
    if (first === undefined) throw new Error("a chain has a backup");
    return first;
  }

  /** What a backup that builds on it says of its bases. */
  get asBases(): BackupTop["bases"] {
    return this.#readers.map(({ header, digest, path, index }) => {
      return { id: header.id, digest, name: path.slice(path.lastIndexOf("/") + 1), length: index.top.length };
    });
  }

  get paths(): string[] {
    return this.#readers.map(({ path }) => path);
  }

  /** CN2 */
  get entries(): BackupEntry[] {
    const place = ({ at: [first] }: BackupEntry) => first ?? { source: 0, offset: 0 };
    return this.newest.index.entries.toSorted((one, other) => {
      const [a, b] = [place(one), place(other)];
      return a.source - b.source || a.offset - b.offset;
    });
  }

  /** The bytes of a file; throws `NotWhole` at their end if they are not those that were backed up. */
  async *contents({ path, at, sha256 }: BackupEntry): AsyncGenerator<Uint8Array> {
    const digest = sha256InPieces();
    for (const { source, offset, length } of at) {
      for await (const bytes of this.#readers[source]?.read(offset, length) ?? []) {
        digest.update(bytes);
        yield bytes;
      }
    }
    if (digest.hex() !== sha256) throw new NotWhole(`${path} in it is damaged`);
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }
}

/** A piece of this backup, as a backup that builds on it names it. */
export function asBase({ source, offset, length }: Piece): Piece {
  return { source: source + 1, offset, length };
}

type Base = BackupTop["bases"][number];

/** CN1 */
async function openBase({ disk, path, bases, passphrase }: ChainPlace, base: Base): Promise<Result<BackupReader>> {
  const beside = /^[^\0/]+$/.test(base.name) ? [joinPath(parentOf(path), base.name)] : [];
  for (const candidate of [...bases, ...beside]) {
    if (disk.stat(candidate)?.kind !== "file") continue;
    const found = await BackupReader.open(disk, candidate, passphrase);
    if (!found.ok && bases.includes(candidate)) return found;
    if (!found.ok) continue;
    const { header, digest, index } = found.value;
    if (header.id === base.id && digest === base.digest && index.top.length === base.length) return found;
    found.value.close();
  }
  const message = `${path} builds on another backup (${base.name}, ${base.id}), which is not there.`;
  return refused("backup.base", message, "Put it beside this one, or name it: --base FILE");
}

function closed<T>(readers: readonly BackupReader[], result: Result<T> | (() => never)): Result<T> {
  for (const reader of readers) reader.close();
  return typeof result === "function" ? result() : result;
}
