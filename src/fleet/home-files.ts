// Which files a home is made of, from the names of its blobs (blob-form.ts).
// HF1. A path leads to a place below the home that other hosts ship (which.ts): never upwards, never through a file.
// HF2. Of a session that is there living and archived, because it was just moved, the living one counts, unless only
//      the other has its log: then it is what is left of it.
// HF3. A piece counts only if all before it are there.
import { isArchivedName } from "../log/session/places.ts";
import { blobName } from "./blob-form.ts";
import type { MirroredBlob } from "./mirror.ts";
import { howOf, SHIPPED_ROOTS } from "./ship/which.ts";

export type HomeFile = {
  readonly kind: "file" | "tape";
  readonly path: string;
  readonly pieces: readonly MirroredBlob[];
};

const MAX_PATH = 4096;
const MAX_NAME = 255;
const MAX_LEVELS = 64;
const LOG = /\/events(?:-\d{16})?\.jsonl$/;

/** In no order. What may not be in a home is left out. */
export function homeFiles(blobs: readonly MirroredBlob[]): readonly HomeFile[] {
  const files = new Map<string, { kind: "file" | "tape"; pieces: (MirroredBlob | undefined)[] }>();
  for (const blob of blobs) {
    const name = blobName(blob.path);
    if (name === undefined || !isOurs(name.path)) continue; // HF1
    const file = files.get(`${name.kind} ${name.path}`) ?? { kind: name.kind, pieces: [] };
    if (name.kind === "tape" || name.piece < blobs.length) file.pieces[name.kind === "tape" ? 0 : name.piece] = blob;
    files.set(`${name.kind} ${name.path}`, file);
  }
  const found = [...files].map(([key, { kind, pieces }]) => ({
    ...{ kind, path: key.slice(kind.length + 1), pieces: untilGap(pieces) },
  }));
  return withoutDoubles(found.filter(({ pieces }) => pieces.length > 0));
}

/** HF3 */
function untilGap(pieces: readonly (MirroredBlob | undefined)[]): readonly MirroredBlob[] {
  const whole: MirroredBlob[] = [];
  for (const piece of pieces) {
    if (piece === undefined) break;
    whole.push(piece);
  }
  return whole;
}

/** HF1 */
function isOurs(path: string): boolean {
  const names = path.split("/");
  const isPlain = names.every((name) => /^[^\0/]+$/.test(name) && !/^\.\.?$/.test(name) && name.length <= MAX_NAME);
  if (!isPlain || path.length > MAX_PATH || names.length > MAX_LEVELS || names.length < 2) return false;
  return SHIPPED_ROOTS.includes(names[0] ?? "") && howOf(path) !== "never";
}

/** HF2 */
function withoutDoubles(files: readonly HomeFile[]): readonly HomeFile[] {
  const withLog = new Set(files.filter(({ path }) => LOG.test(path)).map(({ path }) => path.replace(LOG, "")));
  const all = new Set(files.flatMap(({ path }) => levels(path)));
  const left = new Set<string>();
  for (const session of all) {
    const living = livingName(session);
    if (living === session || !all.has(living)) continue;
    left.add(withLog.has(living) || !withLog.has(session) ? session : living);
  }
  return files.filter(({ path }) => !levels(path).some((level) => left.has(level)));
}

/** The name that an archived session has otherwise; that of any other directory is its own. */
function livingName(session: string): string {
  const name = session.slice(session.lastIndexOf("/") + 1);
  return isArchivedName(name) ? session.slice(0, -name.length) + name.slice(1) : session;
}

/** The directories above a path. */
function levels(path: string): string[] {
  const names = path.split("/");
  return names.map((_, depth) => names.slice(0, depth).join("/")).slice(1);
}
