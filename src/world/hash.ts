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

/** Compares in constant time: the duration depends on the length of the second text, not on where the two differ. */
export function sameSecret(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let at = 0; at < secret.length; at++) difference |= given.charCodeAt(at) ^ secret.charCodeAt(at);
  return difference === 0;
}
