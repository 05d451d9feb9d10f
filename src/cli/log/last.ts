// The last entries of one or many sessions, found from the ends of their logs.
import { joinPath } from "../../base/path.ts";
import { placeFromEnd } from "../../log/session/back.ts";
import type { CommandWorld } from "../command-world.ts";
import { type Cursors, cursorAt, type EntryFound, inOrder } from "./merge.ts";
import type { Opened } from "./view.ts";

export type Last = { readonly entries: readonly EntryFound[]; readonly cursors: Cursors };

/** The last `count` entries up to seq `until`, ascending, and the resulting cursor of each session. */
export function lastEntries({ disk }: CommandWorld, opened: Opened, count: number, until: number): Last {
  const cursors: Cursors = new Map();
  let entries: EntryFound[] = [];
  for (const session of opened.sessions) {
    const place = placeFromEnd(disk, joinPath(opened.home, session), behindLast(count, until));
    const cursor = cursorAt(place);
    cursors.set(session, cursor);
    entries = entries.concat([...inOrder(opened.view, new Map([[session, cursor]]), { from: 1, until }, [])]);
    if (entries.length > 4 * count) entries = newest(entries, count);
  }
  return { entries: newest(entries, count), cursors };
}

/** Stops after the entry before the last `count`. Entries still in the write-ahead log only add to these. */
function behindLast(count: number, until: number): (seq: number) => boolean {
  let left = count;
  return (seq) => seq <= until && left-- === 0;
}

function newest(entries: readonly EntryFound[], count: number): EntryFound[] {
  return entries.toSorted((a, b) => a.entry.seq - b.entry.seq).slice(Math.max(0, entries.length - count));
}
