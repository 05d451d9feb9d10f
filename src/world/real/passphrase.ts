// A key made of a passphrase, by scrypt: each guess takes an attacker as long, and as much memory, as it takes us. It
// runs on another thread. The library is loaded with the first use.

export type Scrypt = {
  /** N, a power of two; memory is 128 × N × r bytes. */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
  readonly salt: Uint8Array;
};

/** What node:crypto needs beside the memory of the algorithm. */
const SPARE_BYTES = 32 << 20;

export function keyOf(passphrase: string, { cost, blockSize, parallel, salt }: Scrypt, length: number) {
  const { scrypt }: typeof import("node:crypto") = require("node:crypto");
  const options = { N: cost, r: blockSize, p: parallel, maxmem: 128 * cost * blockSize + SPARE_BYTES };
  return new Promise<Uint8Array<ArrayBuffer>>((done, failed) => {
    scrypt(passphrase.normalize("NFC"), salt, length, options, (error, key) => {
      if (error) failed(error);
      else done(Uint8Array.from(key));
    });
  });
}
