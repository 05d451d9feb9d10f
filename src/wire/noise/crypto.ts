// What Noise needs of cryptography, as an interface: wire/ makes no keys by itself. web-crypto.ts is the real one.

export type Bytes = Uint8Array<ArrayBuffer>;

/** Of keys, hashes and pre-shared keys. */
export const KEY_BYTES = 32;
/** What an encrypted text is longer than the plain one. */
export const TAG_BYTES = 16;

/** An X25519 key pair. The private half may be one that cannot be read. */
export type NoiseKey = {
  readonly publicKey: Bytes;
  /** The secret that is shared with the owner of this public key; undefined if that is no proper key. */
  dh(publicKey: Bytes): Promise<Bytes | undefined>;
};

/** AES-256-GCM with one key. */
export type NoiseCipher = {
  seal(nonce: Bytes, extra: Bytes, plain: Bytes): Promise<Bytes>;
  /** Undefined if it is not what was sealed. */
  unseal(nonce: Bytes, extra: Bytes, sealed: Bytes): Promise<Bytes | undefined>;
};

export interface NoiseCrypto {
  /** A new key pair, for one handshake. */
  newKey(): Promise<NoiseKey>;
  cipher(key: Bytes): Promise<NoiseCipher>;
  sha256(bytes: Bytes): Promise<Bytes>;
  /** HMAC-SHA-256. */
  hmac(key: Bytes, bytes: Bytes): Promise<Bytes>;
}

export function joined(...parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
