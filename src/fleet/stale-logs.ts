// The file that a session's log ended with, when its owner has made a segment of it and was stopped before it had
// stored the next one: then it is a beginning of that segment, under the old name, and would be there twice.
import { headOf } from "../log/session/entry.ts";
import { EVENTS_FILE } from "../log/session/places.ts";
import type { HomeFile } from "./home-files.ts";

const SEGMENT = /^(.*)\/events-(\d{16})\.jsonl$/;
const NEWLINE = 10;

/** Their paths. `beginning`: the first bytes of a file, with its first line if that is whole. */
export function staleLogs(files: readonly HomeFile[], beginning: (file: HomeFile) => Uint8Array): Set<string> {
  const ends = new Map<string, number>();
  for (const { path } of files) {
    const [, session, last] = SEGMENT.exec(path) ?? [];
    if (session !== undefined) ends.set(session, Math.max(ends.get(session) ?? 0, Number(last)));
  }
  const stale = new Set<string>();
  for (const file of files) {
    const end = file.path.endsWith(`/${EVENTS_FILE}`)
      ? ends.get(file.path.slice(0, -EVENTS_FILE.length - 1))
      : undefined;
    const bytes = end === undefined ? undefined : beginning(file);
    const head = bytes && headOf(bytes.subarray(0, Math.max(0, bytes.indexOf(NEWLINE))));
    if (head !== undefined && end !== undefined && head.seq <= end) stale.add(file.path);
  }
  return stale;
}
