// What a browser and its push service do with a message, on node's cryptography and not on ours: decrypt it (RFC 8291),
// and check who sent it (RFC 8292).
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";

const HEAD = 16 + 4 + 1 + 65;

/** A browser's end of a subscription. */
export class Receiver {
  readonly #ecdh = createECDH("prime256v1");
  readonly #auth: Buffer;

  constructor(privateKey?: string, auth?: string) {
    if (privateKey === undefined) this.#ecdh.generateKeys();
    else this.#ecdh.setPrivateKey(Buffer.from(privateKey, "base64url"));
    this.#auth = auth === undefined ? randomBytes(16) : Buffer.from(auth, "base64url");
  }

  get keys(): { readonly p256dh: string; readonly auth: string } {
    return { p256dh: this.#ecdh.getPublicKey().toString("base64url"), auth: this.#auth.toString("base64url") };
  }

  /** Throws if it was not sealed for this receiver. */
  open(body: Buffer): Buffer {
    const [salt, theirs] = [body.subarray(0, 16), body.subarray(21, HEAD)];
    if (body.readUInt32BE(16) !== 4096 || body[20] !== 65 || body.length > 4096) throw new Error("not one record");
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#ecdh.getPublicKey(), theirs]);
    const ikm = Buffer.from(hkdfSync("sha256", this.#ecdh.computeSecret(theirs), this.#auth, info, 32));
    const cek = Buffer.from(hkdfSync("sha256", ikm, salt, "Content-Encoding: aes128gcm\0", 16));
    const nonce = Buffer.from(hkdfSync("sha256", ikm, salt, "Content-Encoding: nonce\0", 12));
    const gcm = createDecipheriv("aes-128-gcm", cek, nonce).setAuthTag(body.subarray(-16));
    const record = Buffer.concat([gcm.update(body.subarray(HEAD, -16)), gcm.final()]);
    const end = record.findLastIndex((byte) => byte !== 0);
    if (record[end] !== 2) throw new Error("the last record is not marked");
    return record.subarray(0, end);
  }
}

/** The claims and the key of `Authorization: vapid`; throws if the signature is not of that key. */
export function sender(header: string): { readonly claims: Record<string, unknown>; readonly key: string } {
  const [, token = "", key = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const [x = "", y = ""] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const signer = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const how = { key: signer, dsaEncoding: "ieee-p1363" } as const;
  const isRight = verify("sha256", Buffer.from(`${head}.${claims}`), how, Buffer.from(signature, "base64url"));
  if (!isRight) throw new Error("the signature is not of this key");
  return { claims: JSON.parse(Buffer.from(claims, "base64url").toString()), key };
}
