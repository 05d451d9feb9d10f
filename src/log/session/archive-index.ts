// The index of the archived sessions of one kind, such as `archive/state.jsonl`: a line for each, in the order in which
// they were archived, so that lists and garbage collection need not read the sessions.
//   {"session":"state/…","at":"…","end":812,"bytes":9120,"kept":4310,"log":2048,"row":{…},"sum":"1a2b3c4d"}
// AI1. The directories are the truth. A line counts only while the directory of its session has the name of an archived
//      one (places.ts), and its log has the length that it had then. One that was brought back and has changed has an
//      older line, which does not count any more.
// AI2. A line is durable before its session is archived: every archived session has one. If lines were damaged or lost,
//      the file is written anew from the directories.
// AI3. A line that was not finished is overwritten by the next one.
// AI4. Nothing of it is kept in memory. It is read in pieces, newest line first.
import { joinPath } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { crc32, hex8 } from "../../world/hash.ts";
import { writeAtomic } from "../file/atomic-file.ts";
import { makeDirectories, openRetrying, readAll, writeAll } from "../file/file.ts";
import { hasSum, type Json } from "./entry.ts";

/** `row` is what lists show of it; null if they show nothing. */
export type ArchivedLine = {
  readonly session: string;
  /** When it ended; null if that is not known. */
  readonly at: string | null;
  /** The last seq of the log when it was archived: none that is in the archive is greater. */
  readonly end: number;
  /** The size of its files, and of those that are kept the longest. */
  readonly bytes: number;
  readonly kept: number;
  /** The size of its log alone (AI1); undefined in a line of an older version. */
  readonly log: number | undefined;
  readonly row: Json;
};

/** `line` is undefined if it is damaged. `offset` is where it begins. */
export type ArchivedAt = { readonly line: ArchivedLine | undefined; readonly offset: number };

type Texts = readonly string[];

export const ARCHIVE = "archive";
const ENDING = ".jsonl";
const NEWLINE = 10;
/** More than a page of a list. */
const PIECE = 64 << 10;

type HomeDisk = { readonly disk: Disk; readonly home: string };

export class ArchiveIndex {
  readonly #place: HomeDisk;
  readonly path: string;
  /** Where the next line goes; undefined until that is known. */
  #end: number | undefined;

  /** `kind`: the first word of the paths of its sessions. */
  constructor(place: HomeDisk, kind: string) {
    this.#place = place;
    this.path = joinPath(directoryOf(place.home), `${kind}${ENDING}`);
  }

  get isThere(): boolean {
    return this.#place.disk.stat(this.path) !== undefined;
  }

  /** AI2. Resolves when the lines are durable. */
  async append(lines: readonly ArchivedLine[]): Promise<void> {
    const { disk, home } = this.#place;
    const isNew = this.#end === undefined;
    if (isNew) for (const parent of makeDirectories(disk, directoryOf(home), home)) await disk.syncDirectory(parent);
    const file = openRetrying(disk, this.path, "create");
    try {
      const at = this.#end ?? endOfLines(file); // AI3
      const block = bytesOf(lines);
      const end = at + block.length;
      writeAll(file, block, at);
      if (file.size() > end) file.truncate(end);
      await file.datasync();
      if (isNew) await disk.syncDirectory(directoryOf(home));
      this.#end = end;
    } finally {
      file.close();
    }
  }

  /** Replaces all lines. */
  async rewrite(lines: readonly ArchivedLine[]): Promise<void> {
    const { disk, home } = this.#place;
    for (const parent of makeDirectories(disk, directoryOf(home), home)) await disk.syncDirectory(parent);
    const block = bytesOf(lines);
    this.#end = undefined;
    await writeAtomic(disk, this.path, block);
    this.#end = block.length;
  }

  newest(before?: number): Generator<ArchivedAt> {
    return newestLines(this.#place.disk, this.path, before);
  }

  /** Only those in which one of these texts is, as JSON has it: the others are not even parsed. */
  containing(texts: Texts): Generator<ArchivedAt> {
    return newestLines(this.#place.disk, this.path, undefined, texts);
  }

  oldest(after?: number): Generator<ArchivedAt> {
    return oldestLines(this.#place.disk, this.path, after);
  }
}

function directoryOf(home: string): string {
  return joinPath(home, ARCHIVE);
}

/** The greatest seq that an archived session may have; 0 if there is none. */
export function archivedEnd({ disk, home }: HomeDisk): number {
  const names = disk.list(directoryOf(home)).filter((name) => name.endsWith(ENDING));
  const ends = names.map((name) => {
    for (const { line } of newestLines(disk, joinPath(directoryOf(home), name)))
      if (line !== undefined) return line.end;
    return 0;
  });
  return Math.max(0, ...ends);
}

/** AI4. The lines that begin before this offset. */
export function* newestLines(
  disk: Disk,
  path: string,
  before: number = Number.POSITIVE_INFINITY,
  texts?: Texts,
): Generator<ArchivedAt> {
  if (disk.stat(path) === undefined) return;
  const file = openRetrying(disk, path, "read");
  try {
    let end = Math.min(before, file.size());
    for (let window = PIECE; end > 0; ) {
      const from = Math.max(0, end - window);
      const bytes = readAll(file, from, end - from);
      const start = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      const isTooShort = from > 0 && (start === 0 || start === bytes.length);
      window = isTooShort ? window * 2 : PIECE;
      if (isTooShort) continue;
      yield* lastLinesIn(bytes.subarray(start), from + start, texts);
      end = from + start;
    }
  } finally {
    file.close();
  }
}

/** AI4. The lines that begin after this offset, from there on. */
function* oldestLines(disk: Disk, path: string, after: number = -1): Generator<ArchivedAt> {
  if (disk.stat(path) === undefined) return;
  const file = openRetrying(disk, path, "read");
  try {
    const size = file.size();
    let at = Math.max(0, after);
    for (let window = PIECE; at < size; ) {
      const bytes = readAll(file, at, Math.min(window, size - at));
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      for (const line of linesIn(bytes.subarray(0, end), at)) if (line.offset > after) yield line;
      if (end === 0 && at + bytes.length === size) return; // AI3
      window = end === 0 ? window * 2 : PIECE;
      at += end;
    }
  } finally {
    file.close();
  }
}

function* linesIn(bytes: Uint8Array, offset: number): Generator<ArchivedAt> {
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline < 0) return; // AI3
    yield { line: lineOf(bytes.subarray(at, newline)), offset: offset + at };
    at = newline + 1;
  }
}

/** The last one first. Each is parsed when it is asked for: a start needs only one of them. */
function* lastLinesIn(bytes: Uint8Array, offset: number, texts?: Texts): Generator<ArchivedAt> {
  for (let newline = bytes.lastIndexOf(NEWLINE); newline >= 0; ) {
    const before = newline === 0 ? -1 : bytes.lastIndexOf(NEWLINE, newline - 1);
    const line = bytes.subarray(before + 1, newline);
    if (texts === undefined || hasOne(line, texts)) yield { line: lineOf(line), offset: offset + before + 1 };
    newline = before;
  }
}

function hasOne({ buffer, byteOffset, length }: Uint8Array, texts: Texts): boolean {
  const line = Buffer.from(buffer, byteOffset, length);
  return texts.some((text) => line.includes(text));
}

function lineOf(bytes: Uint8Array): ArchivedLine | undefined {
  if (!hasSum(bytes)) return undefined;
  const { session, at, end, bytes: size, kept, log, row } = JSON.parse(new TextDecoder().decode(bytes));
  return { session, at, end, bytes: size, kept, log, row };
}

function bytesOf(lines: readonly ArchivedLine[]): Uint8Array {
  const texts = lines.map(({ session, at, end, bytes, kept, log, row }) => {
    const text = JSON.stringify({ session, at, end, bytes, kept, log, row }).slice(0, -1);
    return `${text},"sum":"${hex8(crc32(Buffer.from(text)))}"}\n`;
  });
  return Buffer.from(texts.join(""));
}

/** AI3. Behind the last line that was finished. */
function endOfLines(file: OpenFile): number {
  const size = file.size();
  for (let window = PIECE; ; window *= 2) {
    const from = Math.max(0, size - window);
    const newline = readAll(file, from, size - from).lastIndexOf(NEWLINE);
    if (newline >= 0 || from === 0) return from + newline + 1;
  }
}
