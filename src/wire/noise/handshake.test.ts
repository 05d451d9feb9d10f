import { expect, test } from "bun:test";
import type { Bytes, NoiseCrypto, NoiseKey } from "./crypto.ts";
import { Handshake } from "./handshake.ts";
import vector from "./vector.json";
import { WebNoise } from "./web-crypto.ts";

const web = new WebNoise(crypto.subtle);
const hex = (text: string | undefined): Bytes => Uint8Array.fromHex(text ?? "");

/** Its ephemeral key is given. */
function fixed(ephemeral: NoiseKey): NoiseCrypto {
  return {
    newKey: async () => ephemeral,
    cipher: (key) => web.cipher(key),
    sha256: (bytes) => web.sha256(bytes),
    hmac: (key, bytes) => web.hmac(key, bytes),
  };
}

async function sides() {
  const side = async (isInitiator: boolean, key: string, ephemeral: string, prologue: string) =>
    await Handshake.start({
      crypto: fixed(await web.keyFrom(hex(ephemeral))),
      ...{ isInitiator, key: await web.keyFrom(hex(key)), prologue: hex(prologue) },
    });
  const { init_static, init_ephemeral, init_prologue, resp_static, resp_ephemeral, resp_prologue } = vector;
  return [
    await side(true, init_static, init_ephemeral, init_prologue),
    await side(false, resp_static, resp_ephemeral, resp_prologue),
  ] as const;
}

test("the published vector of Noise_XXpsk3_25519_AESGCM_SHA256 holds, byte for byte, both ways", async () => {
  const [device, home] = await sides();
  const psk = hex(vector.init_psks[0]);
  for (const [at, { payload, ciphertext }] of vector.messages.slice(0, 3).entries()) {
    const [from, to] = at === 1 ? [home, device] : [device, home];
    expect((await from.write(hex(payload), psk))?.toHex()).toBe(ciphertext);
    expect((await to.read(hex(ciphertext), () => [psk]))?.payload.toHex()).toBe(payload);
  }
  for (const side of [device, home]) expect(side.hash.toHex()).toBe(vector.handshake_hash);
  const [ofDevice, ofHome] = [await device.split(), await home.split()];
  for (const [at, { payload, ciphertext }] of vector.messages.slice(3).entries()) {
    const [from, to] = at % 2 === 0 ? [ofHome, ofDevice] : [ofDevice, ofHome];
    expect((await from.out.seal(hex(payload)))?.toHex()).toBe(ciphertext);
    expect((await to.in.unseal(hex(ciphertext)))?.toHex()).toBe(payload);
  }
});

test("the right one of several pre-shared keys is found by the device's static key; a wrong one is refused", async () => {
  const messages = vector.messages.map(({ ciphertext }) => hex(ciphertext));
  const ending = async (psks: readonly Bytes[]) => {
    const [, home] = await sides();
    await home.read(messages[0] ?? hex(""));
    await home.write(hex(vector.messages[1]?.payload));
    const read = await home.read(messages[2] ?? hex(""), () => psks);
    return { psk: read?.psk, peer: home.peer?.toHex() };
  };
  const right = hex(vector.init_psks[0]);
  const wrong = right.with(0, 0);
  const peer = (await web.keyFrom(hex(vector.init_static))).publicKey.toHex();
  expect(await ending([wrong, wrong, right])).toEqual({ psk: 2, peer });
  expect(await ending([wrong])).toEqual({ psk: undefined, peer });
  expect(await ending([])).toEqual({ psk: undefined, peer });
});

test("every byte of a handshake message counts, and so does its length", async () => {
  const psk = hex(vector.init_psks[0]);
  const ending = async (changed: number, change: (message: Bytes) => Bytes) => {
    const [device, home] = await sides();
    for (const at of [0, 1, 2]) {
      const [from, to] = at === 1 ? [home, device] : [device, home];
      const message = await from.write(hex(""), psk);
      if (message === undefined) return "refused";
      if ((await to.read(at === changed ? change(message) : message, () => [psk])) === undefined) return "refused";
    }
    return "done";
  };
  expect(await ending(3, (message) => message)).toBe("done");
  for (const [at, length] of [48, 96, 64].entries()) {
    for (let byte = 0; byte < length; byte += 1) {
      const bit = 1 << (byte % 8);
      expect(await ending(at, (message) => message.with(byte, (message[byte] ?? 0) ^ bit))).toBe("refused");
    }
    for (const cut of [0, 1, 31, length - 1])
      expect(await ending(at, (message) => message.slice(0, cut))).toBe("refused");
    expect(await ending(at, (message) => Uint8Array.of(...message, 0))).toBe("refused");
  }
});

test("a public key of low order is refused, and a handshake with another prologue fails", async () => {
  const key = await web.newKey();
  for (const low of ["00".repeat(32), `01${"00".repeat(31)}`]) expect(await key.dh(hex(low))).toBeUndefined();
  const start = (isInitiator: boolean, prologue: string) =>
    Handshake.start({ crypto: web, isInitiator, key, prologue: hex(prologue) });
  const [device, home] = [await start(true, "01"), await start(false, "02")];
  const first = await device.write(hex(""));
  expect(first && (await home.read(first))).toBeUndefined();
});
