// The form of a sealed box (docs/FORMATS.md): a head in clear, then the encrypted bytes with their tag. A box says
// itself where it ends, so that boxes that were joined end to end can be told apart again.
// BX1. What a head says counts only once its box was opened: the whole head belongs to what the tag vouches for.
// BX2. No length is believed that is larger than what is there, or than the largest box.

const MAGIC = Buffer.from("HFX1");
const KEY_ID_BYTES = 8;
export const SALT_BYTES = 16;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + 1 + KEY_ID_BYTES + SALT_BYTES + NONCE_BYTES + 8 + 8 + 4;
/** Larger than a batch of the log, a blob, and what is submitted. */
export const MAX_PLAIN_BYTES = 48 << 20;

/** What is in a box: a batch of a log, a blob, what was submitted to the fleet, or what hosts tell each other. */
const KINDS = { batch: 1, blob: 2, queued: 3, note: 4 } as const;
export type BoxKind = keyof typeof KINDS;

type Bytes = Uint8Array<ArrayBuffer>;

/** `first`, `last`: of a batch its entries, of a blob twice its seq. */
export type BoxHead = {
  readonly kind: BoxKind;
  /** Which key it is, in hex digits: see `keyId`. */
  readonly keyId: string;
  readonly salt: Bytes;
  readonly nonce: Bytes;
  readonly first: number;
  readonly last: number;
};

export type Box = {
  readonly head: BoxHead;
  /** The head as it was written. */
  readonly headBytes: Bytes;
  readonly sealed: Bytes;
  /** Where the next box begins. */
  readonly end: number;
};

/** `hash`: the SHA-256 of a key, in hex digits. */
export function keyId(hash: string): string {
  return hash.slice(0, 2 * KEY_ID_BYTES);
}

export function headOf({ kind, keyId: id, salt, nonce, first, last }: BoxHead, length: number): Bytes {
  const head = Buffer.alloc(HEAD_BYTES);
  let at = MAGIC.copy(head);
  at = head.writeUInt8(KINDS[kind], at);
  for (const part of [Buffer.from(id, "hex"), salt, nonce]) {
    head.set(part, at);
    at += part.length;
  }
  at = head.writeBigUInt64BE(BigInt(first), at);
  at = head.writeBigUInt64BE(BigInt(last), at);
  head.writeUInt32BE(length, at);
  return new Uint8Array(head);
}

/** Of which key and salt a box is, from the bytes of its head that a list of blobs has (sql.ts). */
export function markOf({ keyId: id, salt }: Pick<BoxHead, "keyId" | "salt">): string {
  return id + salt.toHex();
}

/** The box that begins at `at`; undefined if there is none. */
export function boxAt(bytes: Uint8Array, at: number): Box | undefined {
  const headBytes = Uint8Array.from(bytes.subarray(at, at + HEAD_BYTES));
  const found = headBytes.length === HEAD_BYTES ? readHead(Buffer.from(headBytes.buffer)) : undefined;
  if (found === undefined) return undefined;
  const start = at + HEAD_BYTES;
  const end = start + found.length + TAG_BYTES;
  if (found.length > MAX_PLAIN_BYTES || end > bytes.length) return undefined; // BX2
  return { head: found.head, headBytes, sealed: Uint8Array.from(bytes.subarray(start, end)), end };
}

function readHead(bytes: Buffer): { readonly head: BoxHead; readonly length: number } | undefined {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const kind = kindOf(bytes[MAGIC.length]);
  if (kind === undefined) return undefined;
  let at = MAGIC.length + 1;
  const take = (length: number) => {
    at += length;
    return Uint8Array.from(bytes.subarray(at - length, at));
  };
  const [id, salt, nonce] = [take(KEY_ID_BYTES), take(SALT_BYTES), take(NONCE_BYTES)];
  const [first, last] = [Number(bytes.readBigUInt64BE(at)), Number(bytes.readBigUInt64BE(at + 8))];
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return undefined;
  return { head: { kind, keyId: id.toHex(), salt, nonce, first, last }, length: bytes.readUInt32BE(at + 16) };
}

function kindOf(code: number | undefined): BoxKind | undefined {
  if (code === KINDS.batch) return "batch";
  if (code === KINDS.blob) return "blob";
  if (code === KINDS.queued) return "queued";
  return code === KINDS.note ? "note" : undefined;
}
