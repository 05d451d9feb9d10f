// Compression with zstd. What was compressed by others may claim any length, so it is expanded only up to a limit; the
// library that can do that is loaded with the first use, since node:zlib adds 12 ms to the start of a program.

export function compress(bytes: Uint8Array): Uint8Array {
  return Bun.zstdCompressSync(bytes);
}

/** Undefined if it is not zstd, or longer than `most`. */
export function expand(bytes: Uint8Array, most: number): Uint8Array | undefined {
  const { zstdDecompressSync }: typeof import("node:zlib") = require("node:zlib");
  try {
    const out = zstdDecompressSync(bytes, { maxOutputLength: most });
    return new Uint8Array(out.buffer, out.byteOffset, out.length);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined; // Its only reasons: damaged, or too long.
    throw error;
  }
}
