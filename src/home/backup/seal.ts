// Encryption of a backup's body, in chunks of one size (STREAM: each has its number, and the last one says that it is
// the last).
// SL1. A chunk that was changed, moved, doubled, left out, or taken from another backup does not open; nor does the end
//      of a body that was cut off, even between two chunks. The header belongs to what each chunk vouches for.
// SL2. The key is made of the passphrase and of a salt that no other backup has, so no key encrypts two different
//      bytes under one number.
// SL3. A wrong passphrase is told from damage by a few bytes that are derived with the key, and say nothing about it.
import type { Seal } from "../../wire/backup.ts";
import { sameSecret } from "../../world/hash.ts";
import type { Random } from "../../world/random.ts";
import { aesGcm } from "../../world/real/aes-gcm.ts";
import { keyOf } from "../../world/real/passphrase.ts";

/** What a sealed chunk is longer by. */
export const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CHECK_BYTES = 8;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
/** Half a second and 128 MiB for each guess. */
const COST = { cost: 1 << 17, block_size: 8, parallel: 1 } as const;

type Bytes = Uint8Array<ArrayBuffer>;
/** `last`: the last chunk of the body. */
export type ChunkPlace = { readonly number: number; readonly last: boolean };
export type Sealer = {
  seal(place: ChunkPlace, plain: Uint8Array): Promise<Uint8Array>;
  /** Undefined if it is not authentic (SL1). */
  unseal(place: ChunkPlace, sealed: Uint8Array): Promise<Uint8Array | undefined>;
};

/** What a header says of a new seal, and the key. */
export async function newSeal(passphrase: string, random: Random): Promise<{ seal: Seal; key: Bytes }> {
  const salt = random.bytes(SALT_BYTES);
  const derived = await derive(passphrase, { ...COST, salt: salt.toHex() });
  const seal = { cipher: "aes-256-gcm", kdf: "scrypt", ...COST, salt: salt.toHex(), check: derived.check } as const;
  return { seal, key: derived.key };
}

/** Undefined if the passphrase is wrong (SL3). */
export async function keyFor(passphrase: string, seal: Seal): Promise<Bytes | undefined> {
  const { key, check } = await derive(passphrase, seal);
  return sameSecret(check, seal.check) ? key : undefined;
}

type Derived = Pick<Seal, "cost" | "block_size" | "parallel" | "salt">;

async function derive(passphrase: string, { cost, block_size: blockSize, parallel, salt }: Derived) {
  const scrypt = { cost, blockSize, parallel, salt: Uint8Array.fromHex(salt) };
  const all = await keyOf(passphrase, scrypt, KEY_BYTES + CHECK_BYTES);
  return { key: all.slice(0, KEY_BYTES), check: all.slice(KEY_BYTES).toHex() };
}

export function sealerOf(key: Bytes, header: Uint8Array): Sealer {
  const cipher = aesGcm(key);
  const about = Uint8Array.from(header);
  return {
    seal: async (place, plain) => cipher.seal(nonceOf(place), about, Uint8Array.from(plain)),
    unseal: async (place, sealed) => cipher.unseal(nonceOf(place), about, Uint8Array.from(sealed)),
  };
}

/** SL1 */
function nonceOf({ number, last }: ChunkPlace): Bytes {
  const nonce = new Uint8Array(NONCE_BYTES);
  new DataView(nonce.buffer).setBigUint64(NONCE_BYTES - 9, BigInt(number));
  nonce[NONCE_BYTES - 1] = last ? 1 : 0;
  return nonce;
}
