// Writes a backup's file: the header, the contents in compressed blocks, the index, the footer.
// BW1. Contents are one sequence of bytes; a file is one or more pieces of it. All blocks have the same length before
//      compression, except the last, so that a piece is found without reading what is before it.
// BW2. The digest in the footer is over the header and the index, which has the hash of each file: it vouches for all,
//      and names this backup for those that build on it.

import { writeAll } from "../../log/file/file.ts";
import {
  type BackupEntry,
  type BackupTop,
  BLOCK_BYTES,
  footerText,
  indexLines,
  type Piece,
} from "../../wire/backup.ts";
import type { OpenFile } from "../../world/disk.ts";
import { crc32, sha256InPieces } from "../../world/hash.ts";
import { compress } from "../../world/real/zstd.ts";
import { BodyWriter } from "./body.ts";
import type { Sealer } from "./seal.ts";

/** Before each block: how many bytes it takes, how many it has, and a checksum of the former. */
export const BLOCK_HEAD = 12;

export class BackupWriter {
  readonly #header: Uint8Array;
  readonly #body: BodyWriter;
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #filled = 0;
  readonly #blocks: number[] = [];
  /** The length of the contents so far. */
  length = 0;

  constructor(file: OpenFile, header: Uint8Array, sealer: Sealer | undefined) {
    this.#header = header;
    writeAll(file, header, 0);
    this.#body = new BodyWriter(file, header.length, sealer);
  }

  /** Adds to the contents; returns where that is. */
  async add(bytes: Uint8Array): Promise<Piece> {
    const piece = { source: 0, offset: this.length, length: bytes.length };
    for (let done = 0; done < bytes.length; ) {
      const part = bytes.subarray(done, done + BLOCK_BYTES - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      done += part.length;
      if (this.#filled === BLOCK_BYTES) await this.#flush();
    }
    this.length += bytes.length;
    return piece;
  }

  async #flush(): Promise<void> {
    if (this.#filled === 0) return;
    this.#blocks.push(await this.#write(this.#block.subarray(0, this.#filled)));
    this.#filled = 0;
  }

  async #write(bytes: Uint8Array): Promise<number> {
    const packed = compress(bytes);
    const head = new Uint8Array(BLOCK_HEAD);
    const view = new DataView(head.buffer);
    view.setUint32(0, packed.length);
    view.setUint32(4, bytes.length);
    view.setUint32(8, crc32(packed));
    await this.#body.write(head);
    await this.#body.write(packed);
    return packed.length;
  }

  /** Returns the digest (BW2). The file is not synced. */
  async finish(top: Omit<BackupTop, "length" | "blocks">, entries: Iterable<BackupEntry>): Promise<string> {
    await this.#flush();
    const tail = this.#body.length;
    const digest = sha256InPieces();
    digest.update(this.#header);
    let bytes = 0;
    for (const part of inBlocks(indexLines({ top: { ...top, length: this.length, blocks: this.#blocks }, entries }))) {
      digest.update(part);
      bytes += part.length;
      await this.#write(part);
    }
    await this.#body.write(Buffer.from(footerText({ tail, bytes, digest: digest.hex() })));
    await this.#body.finish();
    return digest.hex();
  }
}

/** The text as bytes, in pieces of a block's length at most. */
function* inBlocks(lines: Iterable<string>): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const line of lines) {
    waiting.push(Buffer.from(line));
    bytes += waiting.at(-1)?.length ?? 0;
    if (bytes < BLOCK_BYTES) continue;
    yield* cut(Buffer.concat(waiting));
    [waiting, bytes] = [[], 0];
  }
  yield* cut(Buffer.concat(waiting));
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) yield bytes.subarray(at, at + BLOCK_BYTES);
}
