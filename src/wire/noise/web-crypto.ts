// The cryptography of Noise by WebCrypto, which browsers (in secure contexts) and Bun have. It is given as an argument.
// WC1. A device's private key cannot be read, not even by the page; the home keeps its own as 32 bytes in a file.
// WC2. A failed decryption is a value, and no error has a text of ours that could contain a secret.
import type { Bytes, NoiseCipher, NoiseCrypto, NoiseKey } from "./crypto.ts";

const CURVE = "X25519";
const SHARED_BITS = 256;
const HMAC = { name: "HMAC", hash: "SHA-256" };
/** What stands before the 32 bytes of a private key in PKCS #8. */
const PKCS8 = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20);

export class WebNoise implements NoiseCrypto {
  readonly #subtle: SubtleCrypto;

  constructor(subtle: SubtleCrypto) {
    this.#subtle = subtle;
  }

  /** A pair that can be stored in a browser, and not be read (WC1). */
  async newPair(): Promise<CryptoKeyPair> {
    return (await this.#subtle.generateKey(CURVE, false, ["deriveBits"])) as CryptoKeyPair;
  }

  async newKey(): Promise<NoiseKey> {
    return await this.keyOf(await this.newPair());
  }

  async keyOf({ publicKey, privateKey }: CryptoKeyPair): Promise<NoiseKey> {
    const raw = new Uint8Array(await this.#subtle.exportKey("raw", publicKey));
    return { publicKey: raw, dh: (other) => this.#dh(privateKey, other) };
  }

  /** The home's key, from the 32 bytes of its private half. */
  async keyFrom(secret: Bytes): Promise<NoiseKey> {
    const pkcs8 = Uint8Array.of(...PKCS8, ...secret);
    const privateKey = await this.#subtle.importKey("pkcs8", pkcs8, CURVE, true, ["deriveBits"]);
    const { x = "" } = await this.#subtle.exportKey("jwk", privateKey);
    const publicKey = Uint8Array.fromBase64(x, { alphabet: "base64url" });
    return { publicKey, dh: (other) => this.#dh(privateKey, other) };
  }

  /** A public key of low order is refused by WebCrypto: the shared secret would be zero. */
  async #dh(privateKey: CryptoKey, other: Bytes): Promise<Bytes | undefined> {
    return await bytesOf(async () => {
      const theirs = await this.#subtle.importKey("raw", other, CURVE, false, []);
      return await this.#subtle.deriveBits({ name: CURVE, public: theirs }, privateKey, SHARED_BITS);
    });
  }

  async cipher(key: Bytes): Promise<NoiseCipher> {
    const subtle = this.#subtle;
    const aes = await subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
    const how = (iv: Bytes, additionalData: Bytes) => ({ name: "AES-GCM", iv, additionalData });
    return {
      seal: async (nonce, extra, plain) => new Uint8Array(await subtle.encrypt(how(nonce, extra), aes, plain)),
      unseal: (nonce, extra, sealed) => bytesOf(() => subtle.decrypt(how(nonce, extra), aes, sealed)),
    };
  }

  async sha256(bytes: Bytes): Promise<Bytes> {
    return new Uint8Array(await this.#subtle.digest("SHA-256", bytes));
  }

  async hmac(key: Bytes, bytes: Bytes): Promise<Bytes> {
    const made = await this.#subtle.importKey("raw", key, HMAC, false, ["sign"]);
    return new Uint8Array(await this.#subtle.sign("HMAC", made, bytes));
  }
}

/** WC2. WebCrypto throws a DOMException if a text is not authentic or a key is no key; anything else is a bug. */
async function bytesOf(made: () => Promise<ArrayBuffer>): Promise<Bytes | undefined> {
  try {
    return new Uint8Array(await made());
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
