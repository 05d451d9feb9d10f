// The page's files as the web host serves them, and as the bundle of the web host carries them: compressed, as text.
import { sha256 } from "./hash.ts";

export type PageFile = {
  /** The media type. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly etag: string;
};

/** By the path that a browser asks for; the page itself is at `/`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** `gzip`: its bytes, in base64. */
export type PackedFile = { readonly path: string; readonly type: string; readonly gzip: string };

/** A thirtieth smaller than zlib's best. */
const SMALLEST = { library: "libdeflate", level: 12 } as const;

export function pack(path: string, type: string, bytes: Uint8Array<ArrayBuffer>): PackedFile {
  return { path, type, gzip: Bun.gzipSync(bytes, SMALLEST).toBase64() };
}

export function unpack(packed: readonly PackedFile[]): PageFiles {
  return new Map(packed.map(({ path, type, gzip: text }) => [path, fileOf(type, Uint8Array.fromBase64(text))]));
}

function fileOf(type: string, gzip: Uint8Array<ArrayBuffer>): PageFile {
  const bytes = Bun.gunzipSync(gzip);
  return { type, bytes, gzip, etag: `"${sha256(bytes).slice(0, 32)}"` };
}
