// When the holder and the program of each terminal were last seen alive: evidence for telling our orphans from strangers (Z4 of
// core/orphans.ts). While a session's leader lives, its number is taken; so every process of that session that started until then is ours.
// S1. The moment is taken before the look, and a tick is left out: what is seen alive was alive at that moment.
// S2. It is for the same boot only, where the page cache is the truth: the file is replaced whole, and never synced.

import { joinPath } from "../../base/path.ts";
import type { HeldTerminal } from "../../core/orphans.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { LAST_ALIVE } from "../../home/layout.ts";
import { readJson } from "../../log/file/json-file.ts";
import { writeUnsynced } from "../../log/file/unsynced-file.ts";

export type LastAlive = ReadonlyMap<string, number>;

/** Notes all of `terminals` whose holder and program live now; the others keep the moment they had, and are returned. */
export function noteSeen(place: HomeWorld, terminals: readonly Omit<HeldTerminal, "seenAt">[]): string[] {
  const { disk, processes, home } = place;
  const at = processes.ticks() - 1; // S1
  const before = readSeen(place);
  const missed = terminals.flatMap(({ id, holder, child }) => {
    const lives = holder !== undefined && child !== undefined && processes.alive(holder) && processes.alive(child);
    return lives ? [] : [id];
  });
  const seen = terminals.flatMap(({ id }): [string, number][] => {
    const last = missed.includes(id) ? before.get(id) : at;
    return last === undefined ? [] : [[id, last]];
  });
  const text = JSON.stringify({ v: 1, bootId: processes.bootId(), seen: Object.fromEntries(seen) });
  writeUnsynced(disk, joinPath(home, LAST_ALIVE), Buffer.from(text)); // S2
  return missed;
}

export function readSeen({ disk, processes, home }: HomeWorld): LastAlive {
  const { bootId, seen } = readJson(disk, joinPath(home, LAST_ALIVE)) ?? {};
  if (bootId !== processes.bootId()) return new Map();
  return new Map(Object.entries(Object(seen)).flatMap(([id, at]) => (typeof at === "number" ? [[id, at]] : [])));
}
