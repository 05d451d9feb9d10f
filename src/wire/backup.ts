// The words of a backup (docs/FORMATS.md has the bytes): its header, its index and its footer. A backup may come from
// anywhere, so whatever it says is checked here before anything else uses it.
// BK1. A path leads to a place below the home, by plain names: never upwards, never twice to the same place, never
//      through a file. Only directories that Holdfast keeps are named.
// BK2. Nothing says that more is there than can be: no piece reaches beyond the contents of its backup.
// BK3. What deriving the key may cost is limited: a header must not take all memory, or hours.
// BK4. A newer version is refused; fields that are not known are ignored.
import { isId } from "../base/ids.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { fitting } from "./check.ts";
import { count, type Infer, list, literal, nullable, object, text, textOf, whole } from "./shape.ts";

/** What is compressed at a time: all blocks of the contents have so many bytes, except the last one. */
export const BLOCK_BYTES = 1 << 20;
/** What is encrypted at a time. */
export const CHUNK_BYTES = 1 << 16;
export const MAX_HEADER_BYTES = 4096;
/** The footer, padded with blanks; it is the end of the body. */
export const FOOTER_BYTES = 256;
/** An index of a million files; it is held in memory. */
export const MAX_INDEX_BYTES = 256 << 20;
const VERSION = 1;
/** As in file systems. */
const MAX_PATH = 4096;
const MAX_NAME = 255;
/** Deeper than anything in a home. */
const MAX_LEVELS = 64;
/** More backups than this do not build on each other. */
export const MAX_BASES = 100;
const MAX_SALT = 128;

const id = textOf({ is: isId, expected: "an id of 32 hex digits" });
const hash = textOf({ pattern: /^[0-9a-f]{64}$/, expected: "64 hex digits" });
const hex = textOf({ pattern: new RegExp(`^(?:[0-9a-f]{2}){8,${MAX_SALT}}$`), expected: "hex digits" });

/** BK3 */
const seal = object({
  cipher: literal("aes-256-gcm"),
  kdf: literal("scrypt"),
  cost: literal(...[14, 15, 16, 17, 18, 19, 20].map((bits) => 2 ** bits)),
  block_size: whole(1, 8),
  parallel: whole(1, 4),
  salt: hex,
  /** Tells a wrong passphrase from damage. */
  check: hex,
});
const header = object({
  holdfast: literal("backup"),
  v: count,
  id,
  at: text,
  /** The backup that it builds on. */
  base: nullable(id),
  seal: nullable(seal),
});
const footer = object({ tail: count, bytes: whole(1, MAX_INDEX_BYTES), digest: hash });
const piece = list(count);
const top = object({
  seq: count,
  version: text,
  home: object({ id: nullable(text), path: text }),
  /** All that it builds on, the nearest first. */
  bases: list(object({ id, digest: hash, name: text, length: count })),
  /** How long the contents are, and how many bytes each block takes. */
  length: count,
  blocks: list(whole(1)),
});
const line = object({ path: text, size: count, sha256: hash, at: list(piece) });

export type Seal = Infer<typeof seal>;
export type BackupHeader = Infer<typeof header>;
export type BackupFooter = Infer<typeof footer>;
export type BackupTop = Infer<typeof top>;
/** Where bytes are: in the `source`th backup (0: this one), and where in its contents. */
export type Piece = { readonly source: number; readonly offset: number; readonly length: number };
export type BackupEntry = {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly at: readonly Piece[];
};
export type BackupIndex = { readonly top: BackupTop; readonly entries: readonly BackupEntry[] };

/** The first directories of a home that a backup contains (BK1). What is made again, or means nothing later, is not. */
export const CONTAINED: readonly string[] = [
  ...["agents", "archive", "quarantine", "recovery", "relay", "state", "terminals", "tmux", "tunnel", "wal"],
];
/** And this file, which some keep there. */
export const CONTAINED_FILE = "config.toml";

export function headerText(head: Omit<BackupHeader, "holdfast" | "v">): string {
  return `${JSON.stringify({ holdfast: "backup", v: VERSION, ...head })}\n`;
}

/** `given` is without its newline. */
export function headerOf(given: string): Result<BackupHeader> {
  const found = fitting(header, jsonOf(given));
  if (found === undefined) return refused("backup.foreign", "This is not a backup of Holdfast.", OTHER_FILE);
  if (found.v > VERSION) return refused("backup.newer", "This backup is of a newer version of Holdfast.", UPDATE);
  return ok(found);
}

export function footerText(foot: BackupFooter): string {
  return `${JSON.stringify(foot).padEnd(FOOTER_BYTES - 1)}\n`;
}

export function footerOf(given: string): BackupFooter | undefined {
  return fitting(footer, jsonOf(given));
}

export function* indexLines({ top: first, entries }: { top: BackupTop; entries: Iterable<BackupEntry> }) {
  yield `${JSON.stringify(first)}\n`;
  for (const { path, size, sha256, at } of entries)
    yield `${JSON.stringify({ path, size, sha256, at: at.map(({ source, offset, length }) => [source, offset, length]) })}\n`;
}

/** BK1, BK2. `given` ends with a newline. Returns what is wrong if something is. */
export function indexOf(given: string): Result<BackupIndex, string> {
  const [first = "", ...lines] = given.slice(0, -1).split("\n");
  const head = fitting(top, jsonOf(first));
  if (head === undefined || head.bases.length > MAX_BASES) return { ok: false, error: "its index has no beginning" };
  const lengths = [head.length, ...head.bases.map(({ length }) => length)];
  const places = new Places();
  const entries: BackupEntry[] = [];
  for (const given of lines) {
    const entry = entryOf(given, lengths);
    if (entry === undefined) return { ok: false, error: `its index has a line that is none: ${given.slice(0, 100)}` };
    const why = places.why(entry.path);
    if (why !== undefined) return { ok: false, error: `${why}: ${entry.path.slice(0, 100)}` };
    entries.push(entry);
  }
  return ok({ top: head, entries });
}

function entryOf(given: string, lengths: readonly number[]): BackupEntry | undefined {
  const found = fitting(line, jsonOf(given));
  if (found === undefined) return undefined;
  const at = found.at.map(([source = -1, offset = -1, length = -1]): Piece => ({ source, offset, length }));
  const isThere = ({ source, offset, length }: Piece) => length > 0 && offset + length <= (lengths[source] ?? -1); // BK2
  const size = at.reduce((sum, { length }) => sum + length, 0);
  return at.every(isThere) && size === found.size ? { ...found, at } : undefined;
}

/** BK1 */
class Places {
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>();

  /** Why a file may not be there; undefined if it may, and then it is. */
  why(path: string): string | undefined {
    const names = path.split("/");
    const isPlain = names.every((name) => /^[^\0/]+$/.test(name) && !/^\.\.?$/.test(name) && name.length <= MAX_NAME);
    if (!isPlain || path.length > MAX_PATH || names.length > MAX_LEVELS) return "a path that leads elsewhere";
    const isOurs = path === CONTAINED_FILE || (names.length > 1 && CONTAINED.includes(names[0] ?? ""));
    if (!isOurs) return "a path that no home has";
    if (this.#files.has(path) || this.#directories.has(path)) return "a path that is there twice";
    for (let depth = names.length - 1; depth > 0; depth -= 1) {
      const above = names.slice(0, depth).join("/");
      if (this.#files.has(above)) return "a path through a file";
      if (this.#directories.has(above)) break;
      this.#directories.add(above);
    }
    this.#files.add(path);
    return undefined;
  }
}

function jsonOf(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const OTHER_FILE = "Name a file that `holdfast backup FILE` has written.";
const UPDATE = "Use that version, or a newer one.";
