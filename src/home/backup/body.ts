// The body of a backup's file: a sequence of bytes behind the header, as it is or in sealed chunks (seal.ts).
// BO1. What is written goes to the end. The last chunk is sealed when the body is finished, so it is known to be last.
// BO2. Any part can be read without the rest: only its chunks are opened.

import { readAll, writeAll } from "../../log/file/file.ts";
import { CHUNK_BYTES } from "../../wire/backup.ts";
import type { OpenFile } from "../../world/disk.ts";
import { type Sealer, TAG_BYTES } from "./seal.ts";
import { NotWhole } from "./stopped.ts";

const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;

export class BodyWriter {
  readonly #file: OpenFile;
  readonly #sealer: Sealer | undefined;
  #at: number;
  #chunks = 0;
  #buffer = new Uint8Array(CHUNK_BYTES);
  #filled = 0;
  /** The length of the body so far. */
  length = 0;

  /** `start`: the length of the header. */
  constructor(file: OpenFile, start: number, sealer: Sealer | undefined) {
    this.#file = file;
    this.#at = start;
    this.#sealer = sealer;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.length += bytes.length;
    if (this.#sealer === undefined) return this.#put(bytes);
    for (let done = 0; done < bytes.length; ) {
      if (this.#filled === CHUNK_BYTES) await this.#seal(this.#sealer, false);
      const part = bytes.subarray(done, done + CHUNK_BYTES - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      done += part.length;
    }
  }

  /** BO1 */
  async finish(): Promise<void> {
    if (this.#sealer !== undefined) await this.#seal(this.#sealer, true);
  }

  async #seal(sealer: Sealer, last: boolean): Promise<void> {
    this.#put(await sealer.seal({ number: this.#chunks, last }, this.#buffer.subarray(0, this.#filled)));
    this.#chunks += 1;
    this.#filled = 0;
  }

  #put(bytes: Uint8Array): void {
    writeAll(this.#file, bytes, this.#at);
    this.#at += bytes.length;
  }
}

export class BodyReader {
  readonly #file: OpenFile;
  readonly #start: number;
  readonly #sealer: Sealer | undefined;
  readonly #chunks: number;
  /** The chunk that was opened last. */
  #open: { readonly number: number; readonly plain: Uint8Array } | undefined;
  readonly length: number;

  constructor(file: OpenFile, start: number, sealer: Sealer | undefined) {
    this.#file = file;
    this.#start = start;
    this.#sealer = sealer;
    const stored = file.size() - start;
    this.#chunks = Math.ceil(stored / SEALED_BYTES);
    this.length = sealer === undefined ? stored : stored - this.#chunks * TAG_BYTES;
  }

  /** BO2 */
  async read(offset: number, length: number): Promise<Uint8Array> {
    if (offset < 0 || length < 0 || offset + length > this.length) throw new NotWhole("it ends too early");
    if (this.#sealer === undefined) return this.#stored(this.#start + offset, length);
    const out = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const number = Math.floor((offset + done) / CHUNK_BYTES);
      const plain = await this.#chunk(this.#sealer, number);
      const part = plain.subarray((offset + done) % CHUNK_BYTES).subarray(0, length - done);
      out.set(part, done);
      done += part.length;
    }
    return out;
  }

  async #chunk(sealer: Sealer, number: number): Promise<Uint8Array> {
    if (this.#open?.number === number) return this.#open.plain;
    const at = this.#start + number * SEALED_BYTES;
    const sealed = this.#stored(at, Math.min(SEALED_BYTES, this.#file.size() - at));
    const plain = await sealer.unseal({ number, last: number === this.#chunks - 1 }, sealed);
    if (plain === undefined || plain.length === 0)
      throw new NotWhole("a part of it was changed, or its end is missing");
    this.#open = { number, plain };
    return plain;
  }

  #stored(at: number, length: number): Uint8Array {
    const bytes = readAll(this.#file, at, length);
    if (bytes.length < length) throw new NotWhole("it ends too early");
    return bytes;
  }
}
