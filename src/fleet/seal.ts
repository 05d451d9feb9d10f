// Sealing with the fleet's key, which the database never sees: AES-256-GCM, in boxes (box.ts).
// SE1. A box opens only as what it was sealed for: the home, and of a batch its entries, of a blob its path and seq.
// SE2. No two boxes have the same key and nonce: a box's key is derived from the fleet's with a salt that is made anew
//      for each process and after 2^20 boxes, and its nonce is random. So no number of hosts and batches uses a key up.
//      The salt of a blob is made of the fleet's key and of what is in it: who has the key sees without opening it
//      whether a file has changed.
// SE3. Sealing the same bytes again gives other bytes: a batch is sealed once, before it is first sent.
import { assert } from "../base/assert.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { Disk } from "../world/disk.ts";
import { keyedBytes, sha256 } from "../world/hash.ts";
import type { Random } from "../world/random.ts";
import { type AesGcm, aesGcm } from "../world/real/aes-gcm.ts";
import type { Blob } from "./blobs.ts";
import {
  type Box,
  type BoxHead,
  boxAt,
  headOf,
  keyId,
  MAX_PLAIN_BYTES,
  markOf,
  NONCE_BYTES,
  SALT_BYTES,
} from "./box.ts";
import type { Batch } from "./calls.ts";
import { FLEET_KEY_BYTES, readKeys } from "./key-file.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type SealWorld = { readonly disk: Disk; readonly random: Random };
/** `of`: whose it is, and which. */
type About = Pick<BoxHead, "kind" | "first" | "last"> & { readonly of: readonly string[] };

const BOXES_OF_A_SALT = 2 ** 20;
/** Ciphers of so many salts are kept; a log has as many salts as its home had starts. */
const KEPT_CIPHERS = 256;

export class FleetSeal {
  readonly #random: Random;
  readonly #keys: ReadonlyMap<string, Bytes>;
  readonly #sealing: string;
  readonly #ciphers = new Map<string, AesGcm>();
  #salt: { readonly bytes: Bytes; boxes: number } | undefined;

  /** The first key seals. */
  constructor(random: Random, keys: readonly Bytes[]) {
    this.#random = random;
    const known = keys.map((key) => [keyId(sha256(key)), key] as const);
    assert(known[0] !== undefined, "there is a key to seal with");
    this.#sealing = known[0][0];
    this.#keys = new Map(known);
  }

  /** `path`: of the file with the keys (key-file.ts). */
  static read({ disk, random }: SealWorld, path: string): Result<FleetSeal> {
    const keys = readKeys(disk, path);
    return keys.ok ? ok(new FleetSeal(random, keys.value)) : keys;
  }

  /** What a new file of keys contains. */
  static newFile(random: Random): string {
    return `${random.bytes(FLEET_KEY_BYTES).toHex()}\n`;
  }

  /** SE3 */
  batch(home: string, first: number, last: number, bytes: Uint8Array): Uint8Array {
    return this.#seal({ kind: "batch", first, last, of: [home] }, bytes);
  }

  /** The batches that were merged into this one, in order and without a hole. */
  openBatches(home: string, row: Batch): Result<readonly Batch[]> {
    const batches: Batch[] = [];
    let seq = row.first;
    for (let at = 0; at < row.bytes.length; ) {
      const box = boxAt(row.bytes, at);
      if (box === undefined) return damaged(nameOf(home, row));
      const { first, last } = box.head;
      const bytes = this.#open(box, { kind: "batch", first, last, of: [home] }, nameOf(home, row));
      if (!bytes.ok) return bytes;
      if (first !== seq || last < first) return damaged(nameOf(home, row));
      batches.push({ first, last, bytes: bytes.value });
      seq = last + 1;
      at = box.end;
    }
    return seq === row.last + 1 && batches.length > 0 ? ok(batches) : damaged(nameOf(home, row));
  }

  /** `content`: what the bytes are a form of, for its mark. */
  blob(home: string, { path, seq, bytes }: Blob, content = bytes): Uint8Array {
    const salt = this.#saltOf([home, path], content);
    return this.#sealWith(salt, { kind: "blob", first: seq, last: seq, of: [home, path] }, bytes);
  }

  /** What a list of blobs says of one that was sealed with the key that seals now and has this content. */
  markOf(home: string, path: string, content: Uint8Array): string {
    return markOf({ keyId: this.#sealing, salt: this.#saltOf([home, path], content) });
  }

  openBlob(home: string, { path, seq, bytes }: Blob): Result<Uint8Array> {
    return this.#only({ kind: "blob", first: seq, last: seq, of: [home, path] }, bytes, `${path} of ${home}`);
  }

  /** `id`: of what was submitted to the fleet. */
  queued(id: string, bytes: Uint8Array): Uint8Array {
    return this.#seal({ kind: "queued", first: 0, last: 0, of: [id] }, bytes);
  }

  openQueued(id: string, sealed: Uint8Array): Result<Uint8Array> {
    return this.#only({ kind: "queued", first: 0, last: 0, of: [id] }, sealed, id);
  }

  /** What hosts tell each other. `of`: what it is, and of which home. */
  note(of: readonly string[], bytes: Uint8Array): Uint8Array {
    return this.#seal({ kind: "note", first: 0, last: 0, of }, bytes);
  }

  openNote(of: readonly string[], sealed: Uint8Array): Result<Uint8Array> {
    return this.#only({ kind: "note", first: 0, last: 0, of }, sealed, of.join(" of "));
  }

  #seal(about: About, plain: Uint8Array): Uint8Array {
    return this.#sealWith(this.#freshSalt(), about, plain);
  }

  #sealWith(salt: Bytes, about: About, plain: Uint8Array): Uint8Array {
    assert(plain.length <= MAX_PLAIN_BYTES, "a box is not larger than the one that is opened");
    const nonce = Uint8Array.from(this.#random.bytes(NONCE_BYTES)); // SE2
    const head = headOf({ ...about, keyId: this.#sealing, salt, nonce }, plain.length);
    const cipher = this.#cipherOf(this.#sealing, salt);
    assert(cipher !== undefined, "the key that seals is known");
    const sealed = cipher.seal(nonce, vouchedFor(head, about.of), Uint8Array.from(plain));
    return Buffer.concat([head, sealed]);
  }

  /** SE2 */
  #freshSalt(): Bytes {
    if (this.#salt === undefined || this.#salt.boxes >= BOXES_OF_A_SALT)
      this.#salt = { bytes: Uint8Array.from(this.#random.bytes(SALT_BYTES)), boxes: 0 };
    this.#salt.boxes += 1;
    return this.#salt.bytes;
  }

  /** SE2 */
  #saltOf(of: readonly string[], bytes: Uint8Array): Bytes {
    const key = this.#keys.get(this.#sealing);
    assert(key !== undefined, "the key that seals is known");
    return keyedBytes(key, Buffer.from(JSON.stringify([...of, sha256(bytes)]))).slice(0, SALT_BYTES);
  }

  #only(about: About, sealed: Uint8Array, name: string): Result<Uint8Array> {
    const box = boxAt(sealed, 0);
    return box?.end === sealed.length ? this.#open(box, about, name) : damaged(name);
  }

  #open({ head, headBytes, sealed }: Box, about: About, name: string): Result<Uint8Array> {
    const cipher = this.#cipherOf(head.keyId, head.salt);
    if (cipher === undefined) return refused("fleet-key", `${name} is sealed with another key.`, OTHER_KEY);
    const isThis = head.kind === about.kind && head.first === about.first && head.last === about.last;
    const plain = isThis ? cipher.unseal(head.nonce, vouchedFor(headBytes, about.of), sealed) : undefined;
    return plain === undefined ? damaged(name) : ok(plain);
  }

  /** Undefined: there is no such key here. */
  #cipherOf(id: string, salt: Bytes): AesGcm | undefined {
    const name = `${id} ${salt.toHex()}`;
    const known = this.#ciphers.get(name);
    if (known !== undefined) return known;
    const key = this.#keys.get(id);
    if (key === undefined) return undefined;
    const made = aesGcm(keyedBytes(key, salt));
    if (this.#ciphers.size >= KEPT_CIPHERS) this.#ciphers.clear();
    this.#ciphers.set(name, made);
    return made;
  }
}

/** SE1. JSON: no two lists of names are the same text. */
function vouchedFor(head: Bytes, of: readonly string[]): Bytes {
  return Uint8Array.from(Buffer.concat([head, Buffer.from(JSON.stringify(of))]));
}

function nameOf(home: string, { first, last }: Batch): string {
  return `The log of ${home} from ${first} to ${last}`;
}

const OTHER_KEY = "Give this host the file with the fleet's keys that the other hosts have.";
const DAMAGED = "It was changed in the database, or belongs elsewhere. Nothing of it is used.";

function damaged(name: string): ReturnType<typeof refused> {
  return refused("fleet-damaged", `${name} does not open.`, DAMAGED);
}
