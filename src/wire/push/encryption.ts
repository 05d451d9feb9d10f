// What a push service carries and cannot read: a message for one browser (RFC 8291, as one record of RFC 8188).
// PE1. Nothing here is chosen by chance: the key of the message and its salt are given, and each is used once.
// PE2. Messages are filled up to a multiple of PAD_BYTES, so that their length says little of what they contain.
import { type Bytes, joined } from "../noise/crypto.ts";
import { type Agreeing, PUBLIC_BYTES, utf8 } from "./p256.ts";

export type Receiver = {
  /** `p256dh` and `auth` of the browser's subscription. */
  readonly publicKey: Bytes;
  readonly auth: Bytes;
};

/** PE1 */
export type Once = { readonly key: Agreeing; readonly salt: Bytes };

const SALT_BYTES = 16;
/** Every push service takes this much (RFC 8030, 7.2), and a message is one record. */
const RECORD = 4096;
const TAG = 16;
const HEAD = SALT_BYTES + 4 + 1 + PUBLIC_BYTES;
/** Ends the last record, and begins its padding. */
const LAST = 2;
const PAD_BYTES = 512;
export const MAX_PLAIN = RECORD - HEAD - TAG - 1;

/** Undefined if the receiver's key is none. `plain` has at most MAX_PLAIN bytes. */
export async function sealed(
  subtle: SubtleCrypto,
  { key, salt }: Once,
  to: Receiver,
  plain: Bytes,
): Promise<Bytes | undefined> {
  const secret = await key.dh(to.publicKey);
  if (secret === undefined) return undefined;
  const sides = joined(to.publicKey, key.publicKey);
  const { aes, iv } = await keysOf(subtle, { secret, sides, auth: to.auth, salt });
  const record = joined(plain, Uint8Array.of(LAST), new Uint8Array(paddingOf(plain.length))); // PE2
  const text = new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, aes, record));
  return joined(salt, bigEndian(RECORD), Uint8Array.of(PUBLIC_BYTES), key.publicKey, text);
}

type Secrets = { readonly secret: Bytes; readonly sides: Bytes; readonly auth: Bytes; readonly salt: Bytes };

async function keysOf(subtle: SubtleCrypto, { secret, sides, auth, salt }: Secrets) {
  const ikm = await derived(subtle, secret, auth, joined(utf8("WebPush: info\0"), sides), 32);
  const cek = await derived(subtle, ikm, salt, utf8("Content-Encoding: aes128gcm\0"), 16);
  const iv = await derived(subtle, ikm, salt, utf8("Content-Encoding: nonce\0"), 12);
  return { aes: await subtle.importKey("raw", cek, "AES-GCM", false, ["encrypt"]), iv };
}

async function derived(subtle: SubtleCrypto, ikm: Bytes, salt: Bytes, info: Bytes, length: number): Promise<Bytes> {
  const key = await subtle.importKey("raw", ikm, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, 8 * length));
}

function paddingOf(length: number): number {
  return Math.min(MAX_PLAIN, Math.ceil(length / PAD_BYTES) * PAD_BYTES) - length;
}

function bigEndian(value: number): Bytes {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}
