// The cipher of this thread and WebCrypto's are the same.
import { expect, test } from "bun:test";
import { WebNoise } from "../../wire/noise/web-crypto.ts";
import { aesGcm } from "./aes-gcm.ts";

const KEY = crypto.getRandomValues(new Uint8Array(32));
const NONCE = crypto.getRandomValues(new Uint8Array(12));
const EXTRA = new TextEncoder().encode("said before");
const ours = aesGcm(KEY);
const theirs = await new WebNoise(crypto.subtle).cipher(KEY);

test("what it seals WebCrypto unseals, and the other way round, of every length", async () => {
  for (const length of [0, 1, 15, 16, 17, 1000, 65_519])
    for (const extra of [EXTRA, new Uint8Array()]) {
      const plain = crypto.getRandomValues(new Uint8Array(length));
      const sealed = await ours.seal(NONCE, extra, plain);
      expect(sealed).toEqual(await theirs.seal(NONCE, extra, plain));
      expect(await ours.unseal(NONCE, extra, sealed)).toEqual(plain);
    }
});

test("what was changed anywhere, cut, or sealed for another place is not unsealed", async () => {
  const sealed = await ours.seal(NONCE, EXTRA, new TextEncoder().encode("a message"));
  const flipped = [...sealed.keys()].map((at) => sealed.with(at, (sealed[at] ?? 0) ^ 1));
  const cut = [0, 15, 16, sealed.length - 1].map((length) => sealed.slice(0, length));
  for (const wrong of [...flipped, ...cut]) expect(await ours.unseal(NONCE, EXTRA, wrong)).toBeUndefined();
  expect(await ours.unseal(NONCE.with(0, (NONCE[0] ?? 0) ^ 1), EXTRA, sealed)).toBeUndefined();
  expect(await ours.unseal(NONCE, new Uint8Array(), sealed)).toBeUndefined();
});
