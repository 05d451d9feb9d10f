// Pages beside the checkpoints of a session: what does not change from one checkpoint to the next is written once, to a
// file that only grows, and each checkpoint names the pages that it consists of.
// PF1. A page is durable, and was read back, before `append` resolves: so before a checkpoint can name it.
// PF2. A page is named by its place and its SHA-256. Reading it checks both: a damaged page, or one of another file, is
//      never mistaken for it. The hash of the checkpoint covers the names, and so what they stand for.
// PF3. Nothing is ever overwritten: new pages follow the end of the file, whatever a crash left there.
// PF4. A failed sync is not repeated: nothing more is appended for the life of the process.
import { Fault, isFault } from "../../base/fault.ts";
import { parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";
import { isFailedSync, openRetrying, readAll, writeAll } from "../file/file.ts";

/** `offset length hash`: enough of the hash that no damage goes unnoticed. */
const REF = /^(\d{1,15}) (\d{1,9}) ([0-9a-f]{32})$/;
const HASH_LENGTH = 32;

export class PageFile {
  readonly #disk: Disk;
  readonly #path: string;
  #isNamed = false;
  /** Those that `firstBad` has found good: the checkpoints of a history share most of theirs. */
  readonly #good = new Set<string>();
  #broken: Fault | undefined;

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** Returns the names of these pages, in order. Its directory exists. */
  async append(pages: Iterable<string>): Promise<{ readonly refs: readonly string[]; readonly bytes: number }> {
    if (this.#broken !== undefined) throw this.#broken; // PF4
    const file = openRetrying(this.#disk, this.#path, "create");
    try {
      const from = file.size(); // PF3
      const refs: string[] = [];
      let end = from;
      for (const text of pages) {
        const bytes = Buffer.from(text);
        writeAll(file, bytes, end);
        refs.push(`${end} ${bytes.length} ${hashOf(bytes)}`);
        end += bytes.length;
      }
      await this.#sync(file);
      for (const ref of refs) if (textIn(file, ref) === undefined) throw this.#damaged("verify"); // PF1
      return { refs, bytes: end - from };
    } finally {
      file.close();
    }
  }

  async #sync(file: OpenFile): Promise<void> {
    try {
      await file.datasync(); // PF1
      if (!this.#isNamed) await this.#disk.syncDirectory(parentOf(this.#path));
      this.#isNamed = true;
    } catch (error) {
      if (isFailedSync(error)) this.#broken = error; // PF4
      throw error;
    }
  }

  /** Throws a Fault if it is not there as it was written (PF2). */
  read(ref: string): string {
    const file = openRetrying(this.#disk, this.#path, "read");
    try {
      const text = textIn(file, ref);
      if (text === undefined) throw this.#damaged("read");
      return text;
    } finally {
      file.close();
    }
  }

  /** The first of these pages that cannot be read; undefined if all can. */
  firstBad(refs: readonly string[]): string | undefined {
    const unread = refs.filter((ref) => !this.#good.has(ref));
    if (unread.length === 0) return undefined;
    let file: OpenFile | undefined;
    try {
      file = openRetrying(this.#disk, this.#path, "read");
      for (const ref of unread) {
        if (textIn(file, ref) === undefined) return ref;
        this.#good.add(ref);
      }
      return undefined;
    } catch (error) {
      if (isFault(error, "ENOENT", "EIO", "EISDIR")) return unread[0];
      throw error;
    } finally {
      file?.close();
    }
  }

  #damaged(operation: string): Fault {
    return new Fault({ code: "EIO", operation, path: this.#path });
  }
}

/** PF2 */
function textIn(file: OpenFile, ref: string): string | undefined {
  const [, offset, length, hash] = REF.exec(ref) ?? [];
  if (hash === undefined) return undefined;
  const bytes = readAll(file, Number(offset), Math.min(Number(length), file.size()));
  return bytes.length === Number(length) && hashOf(bytes) === hash ? new TextDecoder().decode(bytes) : undefined;
}

function hashOf(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, HASH_LENGTH);
}
