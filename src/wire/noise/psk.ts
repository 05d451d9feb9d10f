// What a device and its home share before a handshake, and the link by which they come to share it.
// PK1. While pairing, the pre-shared key is made of the link's secret; afterwards of the device's token. Its hex is the
//      hash that the home stores of a token (recovery/devices.json).
// PK2. The link's secret and the home's public key are behind the #, which browsers send nowhere.
import { type Bytes, joined, KEY_BYTES, type NoiseCrypto } from "./crypto.ts";

const PAIR = "holdfast pair 1";
/** 128 bits: nobody guesses it, neither now nor from recorded bytes. */
const SECRET_BYTES = 16;
const BASE64 = { alphabet: "base64url", omitPadding: true } as const;
const UTF8 = new TextEncoder();

/** PK1 */
export async function pairingPsk(crypto: NoiseCrypto, secret: Bytes): Promise<Bytes> {
  return await crypto.sha256(joined(UTF8.encode(PAIR), secret));
}

/** PK1 */
export async function tokenPsk(crypto: NoiseCrypto, token: string): Promise<Bytes> {
  return await crypto.sha256(UTF8.encode(token));
}

export type Pairing = { readonly secret: Bytes; readonly home: Bytes };

/** PK2: `#pair=` and this. */
export const PAIR_LINK = {
  name: "pair",
  write: ({ secret, home }: Pairing): string => `${secret.toBase64(BASE64)}.${home.toBase64(BASE64)}`,
  /** Undefined if it is not one. */
  read: (text: string): Pairing | undefined => {
    const [secret, home, ...others] = text.split(".").map(bytesIn);
    const isWhole = secret?.length === SECRET_BYTES && home?.length === KEY_BYTES && others.length === 0;
    return isWhole ? { secret, home } : undefined;
  },
};

function bytesIn(text: string): Bytes | undefined {
  try {
    return Uint8Array.fromBase64(text, BASE64);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
