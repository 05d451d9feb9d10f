// SCRAM-SHA-256 (RFC 5802, RFC 7677): both sides prove that they know the password, and neither sends it.
// SC1. The server's signature is verified: one that does not know the password is no server of ours.
// SC2. With channel binding, the proof holds only for the TLS connection whose certificate we see. Without it, we say
//      whether we could: a man in the middle cannot take the offer away unnoticed.
// SC3. Iterations are limited both ways: few make a password cheap to guess, many keep us busy.
import type * as nodeCrypto from "node:crypto";
import { sameSecret } from "../../hash.ts";
import { ProtocolError } from "./frames.ts";

const crypto = (): typeof nodeCrypto => require("node:crypto");

export const SCRAM = "SCRAM-SHA-256";
export const SCRAM_PLUS = "SCRAM-SHA-256-PLUS";
/** SC3. What RFC 7677 asks for; half a second of a processor. */
const ITERATIONS = { least: 4_096, most: 1_000_000 };
const KEY_BYTES = 32;
const MAX_SALT = 1_024;
const MAX_NONCE = 256;

/** SC2. `bound`: the hash of the server's certificate. */
export type Binding =
  | { readonly kind: "none" }
  | { readonly kind: "not offered" }
  | { readonly kind: "bound"; readonly hash: Uint8Array };

export type ScramLogin = {
  /** PostgreSQL takes the name from the start of the connection, and ignores it here. */
  readonly user: string;
  readonly password: string;
  /** Printable, without a comma. */
  readonly nonce: string;
  readonly binding: Binding;
};

export class Scram {
  readonly #login: ScramLogin;
  readonly #bare: string;
  #signature = "";

  constructor(login: ScramLogin) {
    this.#login = login;
    this.#bare = `n=${login.user.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${login.nonce}`;
  }

  get first(): string {
    return `${this.#header}${this.#bare}`;
  }

  /** The answer to the server's first message. */
  async proof(serverFirst: string): Promise<string> {
    const { nonce, salt, iterations } = challengeIn(serverFirst, this.#login.nonce);
    const salted = await hardened(this.#login.password, salt, iterations);
    const clientKey = hmac(salted, "Client Key");
    const bare = `c=${this.#bindingText},r=${nonce}`;
    const signed = `${this.#bare},${serverFirst},${bare}`;
    const signature = hmac(crypto().createHash("sha256").update(clientKey).digest(), signed);
    this.#signature = hmac(hmac(salted, "Server Key"), signed).toString("base64");
    const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
    return `${bare},p=${proof.toString("base64")}`;
  }

  /** SC1 */
  verify(serverFinal: string): void {
    const [, given = ""] = /^v=([^,]*)/.exec(serverFinal) ?? [];
    if (this.#signature === "" || !sameSecret(given, this.#signature)) {
      throw new ProtocolError("a signature that is wrong: this server does not know the password");
    }
  }

  get #header(): string {
    const { kind } = this.#login.binding;
    if (kind === "bound") return "p=tls-server-end-point,,";
    return kind === "not offered" ? "y,," : "n,,"; // SC2
  }

  get #bindingText(): string {
    const { binding } = this.#login;
    const hash = binding.kind === "bound" ? binding.hash : new Uint8Array();
    return Buffer.concat([Buffer.from(this.#header), hash]).toString("base64");
  }
}

function challengeIn(serverFirst: string, ours: string) {
  const match = /^r=([!-+\--~]+),s=([A-Za-z0-9+/]+={0,2}),i=(\d{1,9})(?:,|$)/.exec(serverFirst);
  const [, nonce = "", salt = "", count = ""] = match ?? [];
  const iterations = Number(count);
  if (!nonce.startsWith(ours) || nonce.length === ours.length || nonce.length > ours.length + MAX_NONCE) {
    throw new ProtocolError("a challenge that does not belong to our question");
  }
  if (salt.length > MAX_SALT) throw new ProtocolError("a salt that is too long");
  if (iterations < ITERATIONS.least || iterations > ITERATIONS.most) {
    const range = `${ITERATIONS.least} to ${ITERATIONS.most}`;
    throw new ProtocolError(`${iterations} iterations of SCRAM, and only ${range} are taken`); // SC3
  }
  return { nonce, salt: Buffer.from(salt, "base64"), iterations };
}

/** Beside the event loop. RFC 4013 has more rules; of those, only the normal form matters for what people type. */
function hardened(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    crypto().pbkdf2(password.normalize("NFKC"), salt, iterations, KEY_BYTES, "sha256", (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );
}

function hmac(key: Uint8Array, text: string): Buffer {
  return crypto().createHmac("sha256", key).update(text).digest();
}
