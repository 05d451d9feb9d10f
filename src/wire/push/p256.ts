// Keys on the curve P-256, by WebCrypto, for Web Push: a home signs with one (vapid.ts), and each message is encrypted
// with another that is used once (encryption.ts).
// P1. A private key that is stored is a JWK; nothing else contains it.
import { type Bytes, joined } from "../noise/crypto.ts";
import { type Infer, object, textOf } from "../shape.ts";

const CURVE = "P-256";
const ECDH = { name: "ECDH", namedCurve: CURVE };
const ECDSA = { name: "ECDSA", namedCurve: CURVE };
const SIGNED = { name: "ECDSA", hash: "SHA-256" };
const SHARED_BITS = 256;
/** What begins a point that is not compressed. */
const POINT = 4;
export const PUBLIC_BYTES = 65;

const coordinate = textOf({ pattern: /^[\w-]{43}$/, expected: "32 bytes in base64url" });
/** P1 */
export const PRIVATE_KEY = object({ x: coordinate, y: coordinate, d: coordinate });
export type PrivateKey = Infer<typeof PRIVATE_KEY>;

export type Agreeing = {
  readonly publicKey: Bytes;
  /** The secret that is shared with the owner of this public key; undefined if that is no point of the curve. */
  dh(publicKey: Bytes): Promise<Bytes | undefined>;
};

export type Signing = { readonly publicKey: Bytes; sign(bytes: Bytes): Promise<Bytes> };

/** A key for one message; with `from`, the key that was given. */
export async function agreeing(subtle: SubtleCrypto, from?: PrivateKey): Promise<Agreeing> {
  const pair = from === undefined ? await newPair(subtle) : { publicKey: pointOf(from), key: await own(subtle, from) };
  return { publicKey: pair.publicKey, dh: (other) => shared(subtle, pair.key, other) };
}

async function newPair(subtle: SubtleCrypto): Promise<{ readonly publicKey: Bytes; readonly key: CryptoKey }> {
  const { publicKey, privateKey } = await subtle.generateKey(ECDH, false, ["deriveBits"]);
  return { publicKey: new Uint8Array(await subtle.exportKey("raw", publicKey)), key: privateKey };
}

function own(subtle: SubtleCrypto, key: PrivateKey): Promise<CryptoKey> {
  return subtle.importKey("jwk", { kty: "EC", crv: CURVE, ...key }, ECDH, false, ["deriveBits"]);
}

async function shared(subtle: SubtleCrypto, key: CryptoKey, other: Bytes): Promise<Bytes | undefined> {
  const theirs = await imported(subtle, other);
  if (theirs === undefined) return undefined;
  return new Uint8Array(await subtle.deriveBits({ name: "ECDH", public: theirs }, key, SHARED_BITS));
}

/** Whether this is the public key of someone. */
export async function isPoint(subtle: SubtleCrypto, bytes: Bytes): Promise<boolean> {
  return (await imported(subtle, bytes)) !== undefined;
}

/** WebCrypto throws a DOMException if it is no point of the curve. */
async function imported(subtle: SubtleCrypto, bytes: Bytes): Promise<CryptoKey | undefined> {
  if (bytes.length !== PUBLIC_BYTES) return undefined;
  try {
    return await subtle.importKey("raw", bytes, ECDH, false, []);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

/** A new key that signs, to be stored. */
export async function newSigningKey(subtle: SubtleCrypto): Promise<PrivateKey> {
  const { privateKey } = await subtle.generateKey(ECDSA, true, ["sign"]);
  const { x = "", y = "", d = "" } = await subtle.exportKey("jwk", privateKey);
  return { x, y, d };
}

export async function signing(subtle: SubtleCrypto, from: PrivateKey): Promise<Signing> {
  const key = await subtle.importKey("jwk", { kty: "EC", crv: CURVE, ...from }, ECDSA, false, ["sign"]);
  const sign = async (bytes: Bytes) => new Uint8Array(await subtle.sign(SIGNED, key, bytes));
  return { publicKey: pointOf(from), sign };
}

function pointOf({ x, y }: PrivateKey): Bytes {
  return joined(Uint8Array.of(POINT), fromBase64(x), fromBase64(y));
}

const URL_SAFE = { alphabet: "base64url" } as const;

export function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64({ ...URL_SAFE, omitPadding: true });
}

/** Throws if it is none: for texts whose form was checked. */
export function fromBase64(text: string): Bytes {
  return Uint8Array.fromBase64(text, URL_SAFE);
}

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}
