// Checksums: CRC-32 (zlib's polynomial, so that any tool can check a line) and SHA-256. They are pure, but use Bun:
// node:zlib has the same CRC, and adds 12 ms to the start of every program.

/** CRC-32 of the bytes, starting from `seed`: for the same text, different seeds always give different sums. */
export function crc32(bytes: Uint8Array | string, seed = 0): number {
  return Bun.hash.crc32(bytes, seed);
}

/** Eight lower-case hex digits. */
export function hex8(sum: number): string {
  return (sum >>> 0).toString(16).padStart(8, "0");
}

const HEX = Buffer.from("0123456789abcdef");

/** Writes the same eight digits into `into` at `at`, without making a string. */
export function putHex8(sum: number, into: Uint8Array, at: number): void {
  for (let i = 0; i < 8; i++) into[at + i] = HEX[(sum >>> (28 - 4 * i)) & 15] ?? 0;
}

/** What is below it can be divided as a whole number of 32 bits, in a third of the time. */
const SMALL = 2 ** 31;

/** Writes the decimal digits of a whole number that is not negative; returns where they end. */
export function putDecimal(value: number, into: Uint8Array, at: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  let rest = value;
  let place = at + digits;
  for (; rest >= SMALL; rest = Math.floor(rest / 10)) into[--place] = 48 + (rest % 10);
  for (let small = rest | 0; place > at; small = (small / 10) | 0) into[--place] = 48 + (small % 10);
  return at + digits;
}

/** For a few bytes: a loop, because calling `set` costs more than copying them. Returns where they end. */
export function putBytes(bytes: Uint8Array, into: Uint8Array, at: number): number {
  for (let i = 0; i < bytes.length; i++) into[at + i] = bytes[i] ?? 0;
  return at + bytes.length;
}

export function sha256(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** A hash of bytes that come in pieces. */
export type Digester = {
  update(bytes: Uint8Array): void;
  /** Of everything so far; more may follow. */
  hex(): string;
};

export function sha256InPieces(): Digester {
  const hasher = new Bun.CryptoHasher("sha256");
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.copy().digest("hex") };
}

/** Without the key, nobody can foresee it for any text (HMAC-SHA-256). */
export function keyedHash(key: string, text: string): string {
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex");
}

/** HMAC-SHA-256 of bytes, as bytes. */
export function keyedBytes(key: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new Bun.CryptoHasher("sha256", key).update(bytes).digest());
}

/** Compares in constant time: the duration depends on the length of the second text, not on where the two differ. */
export function sameSecret(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let at = 0; at < secret.length; at++) difference |= given.charCodeAt(at) ^ secret.charCodeAt(at);
  return difference === 0;
}
