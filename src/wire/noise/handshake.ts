// The handshake Noise_XXpsk3_25519_AESGCM_SHA256 (revision 34 of the specification):
//     → e    ← e, ee, s, es    → s, se, psk
// HS1. After the second message the initiator knows the responder's static key, and that it owns it. Nobody but the
//      owner of that key learns the initiator's.
// HS2. The responder learns the initiator's static key before it needs the pre-shared key, and looks it up by that. If
//      there are several, each is tried; the message is authentic for one of them, or refused.
// HS3. What is not authentic ends the handshake, and says no more than that.
import { type Bytes, joined, KEY_BYTES, type NoiseCrypto, type NoiseKey, TAG_BYTES } from "./crypto.ts";
import { type CipherState, SymmetricState } from "./symmetric.ts";

const NAME = "Noise_XXpsk3_25519_AESGCM_SHA256";
const PATTERN = [["e"], ["e", "ee", "s", "es"], ["s", "se", "psk"]] as const;
type Token = (typeof PATTERN)[number][number];

export type HandshakeStart = {
  readonly crypto: NoiseCrypto;
  readonly isInitiator: boolean;
  readonly key: NoiseKey;
  /** What both sides know; if they differ, the handshake fails. */
  readonly prologue: Bytes;
};

/** HS2 */
export type PskOf = (peer: Bytes) => Promise<readonly Bytes[]> | readonly Bytes[];
/** `psk`: which of the candidates was right. */
export type ReadMessage = { readonly payload: Bytes; readonly psk: number };

export class Handshake {
  readonly #crypto: NoiseCrypto;
  readonly #isInitiator: boolean;
  readonly #static: NoiseKey;
  #symmetric: SymmetricState;
  #ephemeral: NoiseKey | undefined;
  #theirEphemeral: Bytes | undefined;
  #theirStatic: Bytes | undefined;
  #at = 0;

  private constructor({ crypto, isInitiator, key }: HandshakeStart, symmetric: SymmetricState) {
    this.#crypto = crypto;
    this.#isInitiator = isInitiator;
    this.#static = key;
    this.#symmetric = symmetric;
  }

  static async start(start: HandshakeStart): Promise<Handshake> {
    const symmetric = SymmetricState.start(start.crypto, NAME);
    await symmetric.mixHash(start.prologue);
    return new Handshake(start, symmetric);
  }

  /** The other side's static key, once it is known. */
  get peer(): Bytes | undefined {
    return this.#theirStatic;
  }

  get hash(): Bytes {
    return this.#symmetric.hash;
  }

  /** Nothing was said yet. */
  get isFresh(): boolean {
    return this.#at === 0;
  }

  /** Our next message; undefined if the other side's keys were no proper ones. */
  async write(payload: Bytes, psk?: Bytes): Promise<Bytes | undefined> {
    const parts: Bytes[] = [];
    for (const token of this.#tokens()) {
      const part = await this.#writeToken(token, psk);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return joined(...parts, await this.#symmetric.encryptAndHash(payload));
  }

  async #writeToken(token: Token, psk?: Bytes): Promise<Bytes | undefined> {
    if (token === "s") return await this.#symmetric.encryptAndHash(this.#static.publicKey);
    if (token === "e") {
      this.#ephemeral = await this.#crypto.newKey();
      return await this.#mixEphemeral(this.#ephemeral.publicKey);
    }
    const secret = token === "psk" ? psk : await this.#dh(token);
    if (secret === undefined) return undefined;
    if (token === "psk") await this.#symmetric.mixKeyAndHash(secret);
    else await this.#symmetric.mixKey(secret);
    return new Uint8Array(0);
  }

  /** The other side's next message; undefined if it is not authentic (HS3). */
  async read(message: Bytes, pskOf: PskOf = () => []): Promise<ReadMessage | undefined> {
    let rest = message;
    for (const token of this.#tokens()) {
      if (token === "psk") return await this.#tryEach(await pskOf(this.#theirStatic ?? new Uint8Array(0)), rest);
      const used = await this.#readToken(token, rest);
      if (used === undefined) return undefined;
      rest = rest.slice(used);
    }
    const payload = await this.#symmetric.decryptAndHash(rest);
    return payload && { payload, psk: 0 };
  }

  /** Returns how many bytes it took. */
  async #readToken(token: Exclude<Token, "psk">, rest: Bytes): Promise<number | undefined> {
    if (token === "e") {
      if (rest.length < KEY_BYTES) return undefined;
      this.#theirEphemeral = await this.#mixEphemeral(rest.slice(0, KEY_BYTES));
      return KEY_BYTES;
    }
    if (token === "s") {
      this.#theirStatic = await this.#symmetric.decryptAndHash(rest.slice(0, KEY_BYTES + TAG_BYTES));
      return this.#theirStatic?.length === KEY_BYTES ? KEY_BYTES + TAG_BYTES : undefined;
    }
    const secret = await this.#dh(token);
    if (secret === undefined) return undefined;
    await this.#symmetric.mixKey(secret);
    return 0;
  }

  /** HS2 */
  async #tryEach(psks: readonly Bytes[], sealed: Bytes): Promise<ReadMessage | undefined> {
    for (const [psk, candidate] of psks.entries()) {
      const symmetric = this.#symmetric.copy();
      await symmetric.mixKeyAndHash(candidate);
      const payload = await symmetric.decryptAndHash(sealed);
      if (payload === undefined) continue;
      this.#symmetric = symmetric;
      return { payload, psk };
    }
    return undefined;
  }

  /** With pre-shared keys, an ephemeral key is mixed into the key as well (section 9.2). */
  async #mixEphemeral(publicKey: Bytes): Promise<Bytes> {
    await this.#symmetric.mixHash(publicKey);
    await this.#symmetric.mixKey(publicKey);
    return publicKey;
  }

  /** The first letter of a token is the initiator's key, the second the responder's. */
  async #dh(token: "ee" | "es" | "se"): Promise<Bytes | undefined> {
    const ours = token[this.#isInitiator ? 0 : 1] === "e" ? this.#ephemeral : this.#static;
    const theirs = token[this.#isInitiator ? 1 : 0] === "e" ? this.#theirEphemeral : this.#theirStatic;
    return theirs && (await ours?.dh(theirs));
  }

  /** Of the next message. */
  #tokens(): readonly Token[] {
    const tokens = PATTERN[this.#at] ?? [];
    this.#at += 1;
    return tokens;
  }

  /** The keys of the session. */
  async split(most?: number): Promise<{ readonly out: CipherState; readonly in: CipherState }> {
    const [first, second] = await this.#symmetric.split(most);
    return this.#isInitiator ? { out: first, in: second } : { out: second, in: first };
  }
}
