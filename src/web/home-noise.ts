// The home's cryptography for devices: as in browsers, but what a channel says is encrypted without leaving the thread.
import type { Bytes, NoiseCipher } from "../wire/noise/crypto.ts";
import { WebNoise } from "../wire/noise/web-crypto.ts";
import { aesGcm } from "../world/real/aes-gcm.ts";

export class HomeNoise extends WebNoise {
  override async cipher(key: Bytes): Promise<NoiseCipher> {
    const { seal, unseal } = aesGcm(key);
    return {
      seal: async (nonce, extra, plain) => seal(nonce, extra, plain),
      unseal: async (nonce, extra, sealed) => unseal(nonce, extra, sealed),
    };
  }
}
