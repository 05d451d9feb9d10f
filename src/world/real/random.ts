// Randomness from the system; the bytes are good enough for tokens and ids.
import type { Random } from "../random.ts";

export function realRandom(): Random {
  return { fraction: Math.random, bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) };
}
