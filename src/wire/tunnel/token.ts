// An enrolment token: one word that a person copies from the relay to the home. It holds a secret that works once, and
// the hash of the relay's authority, so that the home's first connection is verified as well.
// ET1. Its first byte is the version of its form. One of another version is not read.
const VERSION = 1;
export const SECRET_BYTES = 16;
const HASH_BYTES = 32;
const ALPHABET = { alphabet: "base64url", omitPadding: true } as const;
const FORM = /^[A-Za-z0-9_-]{60,80}$/;

/** Both in hex. `authority`: SHA-256 of its certificate. */
export type EnrolmentToken = { readonly secret: string; readonly authority: string };

export function encodeToken({ secret, authority }: EnrolmentToken): string {
  const bytes = new Uint8Array([VERSION, ...Uint8Array.fromHex(secret), ...Uint8Array.fromHex(authority)]);
  return bytes.toBase64(ALPHABET);
}

/** Returns undefined if the text is not a token. */
export function decodeToken(text: string): EnrolmentToken | undefined {
  if (!FORM.test(text)) return undefined;
  const bytes = Uint8Array.from(Buffer.from(text, "base64url"));
  if (bytes.length !== 1 + SECRET_BYTES + HASH_BYTES || bytes[0] !== VERSION) return undefined; // ET1
  return { secret: bytes.slice(1, 1 + SECRET_BYTES).toHex(), authority: bytes.slice(1 + SECRET_BYTES).toHex() };
}
