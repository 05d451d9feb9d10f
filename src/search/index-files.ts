// The files of the index, by their names: which range of which source each has, and up to when.
//   search/KIND-ID-FROM-TO-LAST.idx     FROM and TO are positions, LAST is the time of its last line in milliseconds
// IX1. One listing of the directory says what is indexed: no file is opened for that.
// IX2. A group that grows is written to a new file before the old one is removed. If both are there, the longer counts.
// IX3. Everything here can be made again. It is removed at any time, by anyone.
import { joinPath } from "../base/path.ts";
import { removeIfThere } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import { SOURCE_KINDS, type SourceKind } from "./source.ts";

export const SEARCH_DIRECTORY = "search";
const NAME = /^([a-z]+)-([\w.-]{1,128})-(\d{1,16})-(\d{1,16})-(\d{1,16})\.idx$/;

export type IndexFile = {
  readonly name: string;
  readonly kind: SourceKind;
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly last: number;
};

export function indexName({ kind, id, from, to, last }: Omit<IndexFile, "name">): string {
  return `${kind}-${id}-${from}-${to}-${last}.idx`;
}

/** Undefined if it is not one of the index. */
function indexFileOf(name: string): IndexFile | undefined {
  const [, word, id = "", from, to, last] = NAME.exec(name) ?? [];
  const kind = SOURCE_KINDS.find((one) => one === word);
  return kind && { name, kind, id, from: Number(from), to: Number(to), last: Number(last) };
}

/** IX1. `useless`: shorter versions of others (IX2), and what has no such name. */
export function listIndex(disk: Disk, home: string): { readonly files: IndexFile[]; readonly useless: string[] } {
  const names = disk.list(joinPath(home, SEARCH_DIRECTORY));
  const files = new Map<string, IndexFile>();
  for (const file of names.flatMap((name) => indexFileOf(name) ?? [])) {
    const key = `${keyOf(file)} ${file.from}`;
    if ((files.get(key)?.to ?? 0) < file.to) files.set(key, file);
  }
  const used = new Set([...files.values()].map(({ name }) => name));
  return { files: [...files.values()], useless: names.filter((name) => !used.has(name)) };
}

export function keyOf({ kind, id }: Pick<IndexFile, "kind" | "id">): string {
  return `${kind} ${id}`;
}

/** By source, each in the order of its positions. */
export function bySource(files: readonly IndexFile[]): Map<string, IndexFile[]> {
  const found = Map.groupBy(files, keyOf);
  for (const its of found.values()) its.sort((one, other) => one.from - other.from);
  return found;
}

export function indexPath(home: string, name: string): string {
  return joinPath(joinPath(home, SEARCH_DIRECTORY), name);
}

/** IX3. Returns its size. */
export function dropIndexFile(disk: Disk, home: string, name: string): number {
  const path = indexPath(home, name);
  const size = disk.stat(path)?.size ?? 0;
  removeIfThere(disk, path);
  return size;
}

/** The ranges between `start` and `end` that these files of one source do not have. */
export function gapsIn(
  files: readonly Pick<IndexFile, "from" | "to">[],
  { start, end }: { readonly start: number; readonly end: number },
): { readonly from: number; readonly to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let at = start;
  for (const { from, to } of files) {
    if (from > at) gaps.push({ from: at, to: Math.min(from, end) });
    at = Math.max(at, to);
  }
  if (at < end) gaps.push({ from: at, to: end });
  return gaps;
}
