// Quarantine: damaged bytes are set aside with a note about where
// they were and why they are here; recovery destroys nothing.
// Q1. Bytes and note are durable before `quarantine` resolves: only then may the caller cut or overwrite the original.
// Q2. The name is derived from the content, so that a recovery that crashes and starts again makes no second copy.
// Q3. Nothing is overwritten by something different; the same bytes from another place get their own note.
import { Fault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";
import { writeAtomic } from "./atomic-file.ts";
import { makeDirectories, readWhole, TEMP_ENDING } from "./file.ts";

export const QUARANTINE_DIRECTORY = "quarantine";
const NOTE_ENDING = ".note.json";

/** The same damage is found in a handful of places; more than this means that something loops. */
const MAX_NOTES = 1000;

export type Damage = {
  /** What it is, for people who list the directory; for example `wal-00000003`. */
  readonly name: string;
  readonly from: string;
  readonly offset: number;
  readonly reason: string;
  /** Wall-clock milliseconds. */
  readonly at: number;
};

export type QuarantineNote = {
  readonly from: string;
  readonly offset: number;
  readonly length: number;
  readonly reason: string;
  readonly at: string;
  readonly sha256: string;
};

export type QuarantineItem = {
  readonly path: string;
  readonly size: number;
  readonly notes: readonly QuarantineNote[];
};

/** Sets `bytes` aside. Returns their path. */
export async function quarantine(disk: Disk, home: string, damage: Damage, bytes: Uint8Array): Promise<string> {
  const directory = joinPath(home, QUARANTINE_DIRECTORY);
  for (const parent of makeDirectories(disk, directory, home)) await disk.syncDirectory(parent);
  const sum = sha256(bytes);
  const path = await keepBytes(disk, joinPath(directory, safeName(damage.name)), bytes, sum);
  const note = noteOf(damage, bytes.length, sum);
  await keepNote(disk, path, note);
  await disk.syncDirectory(directory); // Q1: even if a killed process left both in the page cache.
  return path;
}

/** Sets aside a file that the disk cannot read: under a second name, since its bytes cannot be copied. */
export async function quarantineUnread(disk: Disk, home: string, damage: Damage): Promise<string> {
  const directory = joinPath(home, QUARANTINE_DIRECTORY);
  for (const parent of makeDirectories(disk, directory, home)) await disk.syncDirectory(parent);
  for (let number = 1; number < MAX_NOTES; number += 1) {
    const path = joinPath(directory, `${safeName(damage.name)}-unreadable-${number}`);
    if (disk.stat(path) !== undefined) continue; // Q3
    disk.link(damage.from, path);
    await keepNote(disk, path, noteOf(damage, disk.stat(path)?.size ?? 0, ""));
    return path;
  }
  throw new Fault({ code: "EEXIST", operation: "quarantine", path: damage.from });
}

/**
 * Tries the short name, the full one if that is taken by other bytes, then numbers if even that one was damaged (Q3).
 */
async function keepBytes(disk: Disk, stem: string, bytes: Uint8Array, sum: string): Promise<string> {
  for (let number = 0; number < MAX_NOTES; number += 1) {
    const path = number === 0 ? `${stem}-${sum.slice(0, 12)}` : `${stem}-${sum}${number === 1 ? "" : `-${number}`}`;
    const there = readWhole(disk, path);
    if (there !== undefined && Buffer.compare(there, bytes) !== 0) continue; // Q3
    if (there === undefined) await writeAtomic(disk, path, bytes, { tag: sum.slice(0, 12) });
    return path; // Q2
  }
  throw new Fault({ code: "EEXIST", operation: "quarantine", path: stem });
}

async function keepNote(disk: Disk, path: string, note: QuarantineNote): Promise<void> {
  for (let number = 1; number < MAX_NOTES; number += 1) {
    const place = number === 1 ? `${path}${NOTE_ENDING}` : `${path}.${number}${NOTE_ENDING}`;
    const text = readWhole(disk, place);
    if (text === undefined) return writeAtomic(disk, place, Buffer.from(`${JSON.stringify(note, undefined, 2)}\n`));
    if (saysTheSame(parseNote(text), note)) return; // Q2: perhaps at another time; the first time is the true one.
  }
  throw new Fault({ code: "EEXIST", operation: "note", path });
}

function noteOf(damage: Damage, length: number, sum: string): QuarantineNote {
  const { from, offset, reason } = damage;
  return { from, offset, length, reason, at: new Date(damage.at).toISOString(), sha256: sum };
}

function saysTheSame(a: QuarantineNote | undefined, b: QuarantineNote): boolean {
  return a !== undefined && a.from === b.from && a.offset === b.offset && a.reason === b.reason;
}

/** What has been set aside, by name. An unreadable note is left out. */
export function listQuarantine(disk: Disk, home: string): QuarantineItem[] {
  const directory = joinPath(home, QUARANTINE_DIRECTORY);
  const names = disk.list(directory).sort();
  const kept = names.filter((name) => !name.endsWith(NOTE_ENDING) && !name.endsWith(TEMP_ENDING));
  return kept.map((name) => {
    const path = joinPath(directory, name);
    return { path, size: disk.stat(path)?.size ?? 0, notes: notesOf(disk, { directory, names }, `${name}.`) };
  });
}

type Listing = { readonly directory: string; readonly names: readonly string[] };

function notesOf(disk: Disk, { directory, names }: Listing, stem: string): QuarantineNote[] {
  const ours = names.filter((name) => name.startsWith(stem) && /^(\d+\.)?note\.json$/.test(name.slice(stem.length)));
  return ours.flatMap((name) => parseNote(readWhole(disk, joinPath(directory, name))) ?? []);
}

function parseNote(text: Uint8Array | undefined): QuarantineNote | undefined {
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(text));
    return isNote(note) ? note : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isNote(note: unknown): note is QuarantineNote {
  if (typeof note !== "object" || note === null) return false;
  if (!("from" in note && "offset" in note && "length" in note && "reason" in note && "at" in note && "sha256" in note))
    return false;
  const texts = [note.from, note.reason, note.at, note.sha256].every((field) => typeof field === "string");
  return texts && typeof note.offset === "number" && typeof note.length === "number";
}

/** Names are for people; they must never lead out of the directory. */
function safeName(name: string): string {
  return (
    name
      .replaceAll(/[^A-Za-z0-9._-]/g, "-")
      .replace(/^\.+/, "")
      .slice(0, 100) || "unnamed"
  );
}
