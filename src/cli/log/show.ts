// `holdfast log show`: the events of a session, or of all in one order, as they were when the command started.

import { joinPath } from "../../base/path.ts";
import { ok } from "../../base/result.ts";
import { placeFromEnd } from "../../log/session/back.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import type { DataFlags } from "../flags.ts";
import { entryText } from "./entry-text.ts";
import { type Cursors, cursorAt, type EntryFound, type Harm, inOrder } from "./merge.ts";
import { printArray, printLines, sayHarms, sayNothing } from "./print-entries.ts";
import { endOf, type Opened, openView } from "./view.ts";

export type ShowFlags = DataFlags & { readonly from?: number; readonly limit?: number };

async function show(world: CommandWorld, flags: ShowFlags, key?: string): Promise<Exit> {
  const opened = await openView(world, flags, key);
  if (!opened.ok) return opened;
  const { console } = world;
  const { view, sessions } = opened.value;
  const harms: Harm[] = [];
  // Entries written after the view was opened are left out: only some sessions would have them.
  const range = { from: flags.from ?? 1, until: endOf(view) };
  const entries = inOrder(view, cursorsFrom(world, opened.value, range.from), range, harms);
  const text = entryText(console, flags.json === true, range.until);
  const print = flags.json ? printArray : printLines;
  const printed = await print(console, text, upTo(flags.limit, entries));
  if (printed === 0 && !flags.json) await sayNothing(console, sessions.length);
  await sayHarms(console, harms);
  return ok(EXIT.ok);
}

function cursorsFrom({ disk }: CommandWorld, { home, sessions }: Opened, from: number): Cursors {
  return new Map(
    sessions.map((session) => {
      const place = from <= 1 ? undefined : placeFromEnd(disk, joinPath(home, session), (seq) => seq < from);
      return [session, cursorAt(place)];
    }),
  );
}

function* upTo(limit: number | undefined, entries: Iterable<EntryFound>): Generator<EntryFound> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  for (const found of entries) {
    yield found;
    left -= 1;
    if (left === 0) return;
  }
}

export const showCommand = command(show);
