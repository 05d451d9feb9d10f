// The symmetric half of Noise (revision 34, sections 5.1 and 5.2): one key with its counter, and the chain of hashes
// and keys of a handshake.
// SY1. A key encrypts each counter once, and at most `MAX_MESSAGES`: beyond that its session ends.
// SY2. What is not authentic changes no hash, and nothing that can be copied before it is tried.
import { type Bytes, joined, KEY_BYTES, type NoiseCipher, type NoiseCrypto } from "./crypto.ts";

/** SY1. With messages of 64 KiB, AES-GCM leaks nothing noticeable up to here (RFC 8446, section 5.5): 1 TB each way. */
export const MAX_MESSAGES = 2 ** 24;
const NONCE_BYTES = 12;
const NONE = new Uint8Array(0);

/** CipherState with a key. */
export class CipherState {
  readonly #cipher: NoiseCipher;
  readonly #most: number;
  #count: number;

  constructor(cipher: NoiseCipher, most: number = MAX_MESSAGES, count = 0) {
    this.#cipher = cipher;
    this.#most = most;
    this.#count = count;
  }

  /** With the same key and counter: to try something that may fail. */
  copy(): CipherState {
    return new CipherState(this.#cipher, this.#most, this.#count);
  }

  /** Undefined if the key is used up (SY1). Calls may overlap: the counter is taken at once. */
  seal(plain: Bytes, extra: Bytes = NONE): Promise<Bytes> | undefined {
    const nonce = this.#next();
    return nonce && this.#cipher.seal(nonce, extra, plain);
  }

  /** Undefined, now or later, if the key is used up, or this is not the next message of the other side. */
  unseal(sealed: Bytes, extra: Bytes = NONE): Promise<Bytes | undefined> | undefined {
    const nonce = this.#next();
    return nonce && this.#cipher.unseal(nonce, extra, sealed);
  }

  /** For AES-GCM: 32 bits of zeros, then the counter as 64 bits, big-endian. */
  #next(): Bytes | undefined {
    if (this.#count >= this.#most) return undefined;
    const nonce = new Uint8Array(NONCE_BYTES);
    new DataView(nonce.buffer).setUint32(NONCE_BYTES - 4, this.#count); // The count never needs more than 32 bits.
    this.#count += 1;
    return nonce;
  }
}

/** SymmetricState. */
export class SymmetricState {
  readonly #crypto: NoiseCrypto;
  #chain: Bytes;
  #hash: Bytes;
  #cipher: CipherState | undefined;

  private constructor(crypto: NoiseCrypto, chain: Bytes, hash: Bytes, cipher?: CipherState) {
    this.#crypto = crypto;
    this.#chain = chain;
    this.#hash = hash;
    this.#cipher = cipher;
  }

  /** `name`: of the protocol, at most as long as a hash. */
  static start(crypto: NoiseCrypto, name: string): SymmetricState {
    const hash = new Uint8Array(KEY_BYTES);
    hash.set(new TextEncoder().encode(name));
    return new SymmetricState(crypto, hash, hash);
  }

  /** SY2 */
  copy(): SymmetricState {
    return new SymmetricState(this.#crypto, this.#chain, this.#hash, this.#cipher?.copy());
  }

  /** Of everything that was said: the same on both sides, and different for each handshake. */
  get hash(): Bytes {
    return this.#hash;
  }

  async mixHash(bytes: Bytes): Promise<void> {
    this.#hash = await this.#crypto.sha256(joined(this.#hash, bytes));
  }

  async mixKey(secret: Bytes): Promise<void> {
    const [chain, key] = await this.#derive(secret);
    this.#chain = chain;
    this.#cipher = new CipherState(await this.#crypto.cipher(key));
  }

  async mixKeyAndHash(secret: Bytes): Promise<void> {
    const [chain, hash, key] = await this.#derive(secret);
    this.#chain = chain;
    await this.mixHash(hash);
    this.#cipher = new CipherState(await this.#crypto.cipher(key));
  }

  /** In our pattern there is a key before anything is encrypted. */
  async encryptAndHash(plain: Bytes): Promise<Bytes> {
    const sealed = (await this.#cipher?.seal(plain, this.#hash)) ?? NONE;
    await this.mixHash(sealed);
    return sealed;
  }

  async decryptAndHash(sealed: Bytes): Promise<Bytes | undefined> {
    const plain = await this.#cipher?.unseal(sealed, this.#hash);
    if (plain !== undefined) await this.mixHash(sealed);
    return plain;
  }

  /** The keys of both directions: first the initiator's. */
  async split(most?: number): Promise<readonly [CipherState, CipherState]> {
    const [first, second] = await this.#derive(NONE);
    const made = async (key: Bytes) => new CipherState(await this.#crypto.cipher(key), most);
    return [await made(first), await made(second)];
  }

  /** HKDF with three outputs, whose first two are those of HKDF with two. */
  async #derive(secret: Bytes): Promise<readonly [Bytes, Bytes, Bytes]> {
    const key = await this.#crypto.hmac(this.#chain, secret);
    const first = await this.#crypto.hmac(key, Uint8Array.of(1));
    const second = await this.#crypto.hmac(key, joined(first, Uint8Array.of(2)));
    return [first, second, await this.#crypto.hmac(key, joined(second, Uint8Array.of(3)))];
  }
}
