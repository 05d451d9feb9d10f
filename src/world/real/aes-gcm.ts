// AES-256-GCM in this thread. For the short messages of a terminal, WebCrypto takes longer to reach its own threads
// than to encrypt, all the more on a busy machine. The library is loaded with the first key: most homes have no tunnel.
import type { CipherGCM, DecipherGCM } from "node:crypto";

type Bytes = Uint8Array<ArrayBuffer>;

const NAME = "aes-256-gcm";
const TAG_BYTES = 16;

/** A sealed message ends with its tag. Undefined: it is not authentic. */
export type AesGcm = {
  seal(nonce: Bytes, extra: Bytes, plain: Bytes): Bytes;
  unseal(nonce: Bytes, extra: Bytes, sealed: Bytes): Bytes | undefined;
};

export function aesGcm(key: Bytes): AesGcm {
  const { createCipheriv, createDecipheriv }: typeof import("node:crypto") = require("node:crypto");
  return {
    seal: (nonce, extra, plain) => {
      const cipher = createCipheriv(NAME, key, nonce).setAAD(extra);
      return joined(through(cipher, plain), cipher.getAuthTag());
    },
    unseal: (nonce, extra, sealed) => {
      if (sealed.length < TAG_BYTES) return undefined;
      const cipher = createDecipheriv(NAME, key, nonce, { authTagLength: TAG_BYTES }).setAAD(extra);
      cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        return through(cipher, sealed.subarray(0, -TAG_BYTES));
      } catch (error) {
        if (error instanceof Error) return undefined; // Its only reason: it is not authentic.
        throw error;
      }
    },
  };
}

/** The last piece is empty: this is a stream cipher. */
function through(cipher: CipherGCM | DecipherGCM, bytes: Uint8Array): Bytes {
  const out = cipher.update(bytes);
  cipher.final();
  return new Uint8Array(out.buffer, out.byteOffset, out.length);
}

function joined(text: Bytes, tag: Uint8Array): Bytes {
  const all = new Uint8Array(text.length + tag.length);
  all.set(text);
  all.set(tag, text.length);
  return all;
}
