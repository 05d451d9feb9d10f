// Reads a backup's file, of whoever wrote it (BK1–BK4 of wire/backup.ts).
// BR1. The index is used only if its digest is right. A block is expanded only up to the length that it says, which has
//      a limit: a small file cannot become a large one in memory.
// BR2. Whatever does not fit is `NotWhole`; nothing is guessed.
import { ok, type Result, refused } from "../../base/result.ts";
import { openRetrying, readAll } from "../../log/file/file.ts";
import {
  type BackupFooter,
  type BackupHeader,
  type BackupIndex,
  BLOCK_BYTES,
  FOOTER_BYTES,
  footerOf,
  headerOf,
  indexOf,
  MAX_HEADER_BYTES,
} from "../../wire/backup.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { crc32, sha256InPieces } from "../../world/hash.ts";
import { expand } from "../../world/real/zstd.ts";
import { BodyReader } from "./body.ts";
import { keyFor, sealerOf } from "./seal.ts";
import { NotWhole } from "./stopped.ts";
import { BLOCK_HEAD } from "./writer.ts";

const NEWLINE = 10;
/** zstd makes what cannot be compressed a little longer. */
const MOST_STORED = BLOCK_BYTES + (BLOCK_BYTES >> 4);

/** `passphrase` is asked for only if it is needed. */
export type Passphrase = () => Promise<Result<string>>;

export class BackupReader {
  readonly path: string;
  readonly header: BackupHeader;
  readonly #file: OpenFile;
  readonly #body: BodyReader;
  readonly #starts: readonly number[];
  #block: { readonly number: number; readonly bytes: Uint8Array } | undefined;
  readonly index: BackupIndex;
  /** BW2 of writer.ts */
  readonly digest: string;

  static async open(disk: Disk, path: string, passphrase: Passphrase): Promise<Result<BackupReader>> {
    const file = openRetrying(disk, path, "read");
    try {
      const opened = await openIn(file, path, passphrase);
      if (!opened.ok) file.close();
      return opened;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  constructor(file: OpenFile, header: BackupHeader, body: BodyReader, found: Found) {
    this.path = file.path;
    this.header = header;
    this.#file = file;
    this.#body = body;
    this.index = found.index;
    this.digest = found.digest;
    this.#starts = startsOf(found.index.top.blocks);
    const { length, blocks } = this.index.top;
    if (blocks.length !== Math.ceil(length / BLOCK_BYTES)) throw new NotWhole("its index does not fit its contents");
  }

  /** Of the file. */
  get size(): number {
    return this.#file.size();
  }

  close(): void {
    this.#file.close();
  }

  /** A part of the contents, a block at a time. */
  async *read(offset: number, length: number): AsyncGenerator<Uint8Array> {
    for (let done = 0; done < length; ) {
      const block = await this.#blockAt(Math.floor((offset + done) / BLOCK_BYTES));
      const part = block.subarray((offset + done) % BLOCK_BYTES).subarray(0, length - done);
      if (part.length === 0) throw new NotWhole("a part of its contents is missing");
      yield part;
      done += part.length;
    }
  }

  async #blockAt(number: number): Promise<Uint8Array> {
    if (this.#block?.number === number) return this.#block.bytes;
    const { bytes } = await blockIn(this.#body, this.#starts[number] ?? -1);
    this.#block = { number, bytes };
    return bytes;
  }
}

type Found = { readonly index: BackupIndex; readonly digest: string };

async function openIn(file: OpenFile, path: string, passphrase: Passphrase): Promise<Result<BackupReader>> {
  const first = readAll(file, 0, MAX_HEADER_BYTES);
  const line = first.subarray(0, first.indexOf(NEWLINE) + 1);
  const header = headerOf(new TextDecoder().decode(line.subarray(0, -1)));
  if (!header.ok) return header;
  const key = await keyOf(path, header.value, passphrase);
  if (!key.ok) return key;
  const body = new BodyReader(file, line.length, key.value && sealerOf(key.value, line));
  return ok(new BackupReader(file, header.value, body, await readIndex(body, line)));
}

async function keyOf(path: string, { seal }: BackupHeader, passphrase: Passphrase) {
  if (seal === null) return ok(undefined);
  const given = await passphrase();
  if (!given.ok) return given;
  const key = await keyFor(given.value, seal);
  return key === undefined ? refused("backup.passphrase", `This passphrase does not open ${path}.`, AGAIN) : ok(key);
}

const AGAIN = "Try again. Without its passphrase nobody can read this backup.";

/** BR1 */
async function readIndex(body: BodyReader, header: Uint8Array): Promise<Found> {
  const foot = await footerIn(body);
  const digest = sha256InPieces();
  digest.update(header);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let at = foot.tail; bytes < foot.bytes; ) {
    const block = await blockIn(body, at);
    digest.update(block.bytes);
    parts.push(block.bytes);
    bytes += block.bytes.length;
    at = block.end;
  }
  if (bytes !== foot.bytes || digest.hex() !== foot.digest) throw new NotWhole("its index is damaged");
  const index = indexOf(new TextDecoder().decode(Buffer.concat(parts)));
  if (!index.ok) throw new NotWhole(index.error);
  return { index: index.value, digest: foot.digest };
}

async function footerIn(body: BodyReader): Promise<BackupFooter> {
  const text = new TextDecoder().decode(await body.read(body.length - FOOTER_BYTES, FOOTER_BYTES));
  const found = footerOf(text);
  if (found === undefined) throw new NotWhole("its end is missing");
  return found;
}

/** BR1, BR2 */
async function blockIn(body: BodyReader, start: number): Promise<{ bytes: Uint8Array; end: number }> {
  const head = await body.read(start, BLOCK_HEAD);
  const view = new DataView(head.buffer, head.byteOffset);
  const [stored, length] = [view.getUint32(0), view.getUint32(4)];
  if (length === 0 || length > BLOCK_BYTES || stored > MOST_STORED)
    throw new NotWhole("a block of it has no right length");
  const packed = await body.read(start + BLOCK_HEAD, stored);
  if (crc32(packed) !== view.getUint32(8)) throw new NotWhole("a block of it is damaged");
  const bytes = expand(packed, length);
  if (bytes?.length !== length) throw new NotWhole("a block of it is damaged");
  return { bytes, end: start + BLOCK_HEAD + stored };
}

function startsOf(blocks: readonly number[]): number[] {
  let at = 0;
  return blocks.map((stored) => {
    const start = at;
    at += BLOCK_HEAD + stored;
    return start;
  });
}
