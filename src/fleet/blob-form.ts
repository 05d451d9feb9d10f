// What is in the blobs of a home, and what they are called (docs/FORMATS.md):
//   file/<n>/<path>   the n-th MiB of a file below the home
//   tape/<path>       the end of a tape, whose directory this is: offset and bytes of each stretch
// BF1. A file is the pieces 0, 1, … as far as they go without a gap. All but the last one are whole, and a file that
//      only grows is stored from its beginning: so whatever is stored of it is a beginning of it.
// BF2. What comes back is checked, although it was sealed by a host of ours: a path leads to a place below the home,
//      and nothing is longer than it may be.
import { ok, type Result, refused } from "../base/result.ts";
import { compress, expand } from "../world/real/zstd.ts";

export const PIECE_BYTES = 1 << 20;
/** More than this of a tape is not stored, whatever the setting says: it is one blob. */
export const MAX_TAPE_BYTES = 16 << 20;
const MAX_PLAIN = MAX_TAPE_BYTES + (1 << 16);
/** What is shorter is not worth compressing. */
const SMALL = 256;
const PLAIN = 0;
const ZSTD = 1;
const STRETCH_HEAD = 12;
const NAME = /^(?:file\/(0|[1-9]\d{0,8})|tape)\/(.+)$/s;

export type BlobName =
  | { readonly kind: "file"; readonly path: string; readonly piece: number }
  | { readonly kind: "tape"; readonly path: string };
/** Bytes of a tape without a gap. */
export type TapeBytes = { readonly start: number; readonly bytes: Uint8Array };

export function blobPath(name: BlobName): string {
  return name.kind === "file" ? `file/${name.piece}/${name.path}` : `tape/${name.path}`;
}

/** Undefined: a version that is newer has stored it. */
export function blobName(blob: string): BlobName | undefined {
  const [, piece, path] = NAME.exec(blob) ?? [];
  if (path === undefined) return undefined;
  return piece === undefined ? { kind: "tape", path } : { kind: "file", path, piece: Number(piece) };
}

export function pack(bytes: Uint8Array): Uint8Array {
  const packed = bytes.length > SMALL ? compress(bytes) : bytes;
  const isShorter = packed.length < bytes.length;
  return Buffer.concat([Uint8Array.of(isShorter ? ZSTD : PLAIN), isShorter ? packed : bytes]);
}

export function unpack(name: string, packed: Uint8Array): Result<Uint8Array> {
  const rest = packed.subarray(1);
  const bytes = packed[0] === ZSTD ? expand(rest, MAX_PLAIN) : packed[0] === PLAIN ? rest : undefined;
  return bytes === undefined ? unknown(name) : ok(bytes);
}

export function tapeContent(stretches: readonly TapeBytes[]): Uint8Array {
  const parts = stretches.flatMap(({ start, bytes }) => {
    const head = Buffer.alloc(STRETCH_HEAD);
    head.writeBigUInt64BE(BigInt(start));
    head.writeUInt32BE(bytes.length, 8);
    return [head, bytes];
  });
  return Buffer.concat(parts);
}

export function unpackTape(name: string, packed: Uint8Array): Result<readonly TapeBytes[]> {
  const all = unpack(name, packed);
  if (!all.ok) return all;
  const bytes = Buffer.from(all.value);
  const stretches: TapeBytes[] = [];
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    if (at + STRETCH_HEAD > bytes.length) return unknown(name);
    const [start, length] = [Number(bytes.readBigUInt64BE(at)), bytes.readUInt32BE(at + 8)];
    at += STRETCH_HEAD;
    if (!Number.isSafeInteger(start) || start < end || at + length > bytes.length) return unknown(name); // BF2
    stretches.push({ start, bytes: new Uint8Array(bytes.subarray(at, at + length)) });
    end = start + length;
    at += length;
  }
  return ok(stretches);
}

function unknown(name: string): ReturnType<typeof refused> {
  return refused("fleet-form", `${name} has a form that this program does not know.`, "Upgrade Holdfast on this host.");
}
