// When the holder and the program of each terminal were last seen alive: evidence for telling our orphans from other
// processes (Z4 of core/orphans.ts). While a session's leader is alive, its number is in use; so every process of that
// session that started until then is ours.
// S1. The time is taken before the look, minus one tick: what is seen alive was alive at that time.
// S2. It is valid only within one boot, in which the page cache is reliable: the file is replaced whole, and never
//     synced.

import { joinPath } from "../../base/path.ts";
import type { HeldTerminal } from "../../core/orphans.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { LAST_ALIVE } from "../../home/layout.ts";
import { readJson } from "../../log/file/json-file.ts";
import { writeUnsynced } from "../../log/file/unsynced-file.ts";

export type LastAlive = ReadonlyMap<string, number>;

/** Notes all of `terminals` whose holder and program are alive now; the others keep their time, and are returned. */
export function noteSeen(
  place: HomeWorld,
  terminals: readonly Pick<HeldTerminal, "id" | "holder" | "child">[],
): string[] {
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
