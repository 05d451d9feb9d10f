// What could be thrown away of terminals.
// GT1. Named are only: the tapes of ended terminals, the files of removed ones, and sockets of terminals that are over. Their logs stay: a
//      recovery reads them.
// GT2. A terminal that runs, starts, or whose end is not known is not touched, whatever its age.
import { joinPath } from "../../base/path.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../../core/retention.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { type HomeWorld, holderSocket, terminalDirectory } from "../../home/held/holder-files.ts";
import type { Disk } from "../../world/disk.ts";
import { sized, timeOf } from "../gc.ts";
import type { Retention } from "../part.ts";

export type TerminalGarbage = {
  terminals(): Iterable<Terminal>;
  /** When it was removed; undefined if its log does not say. */
  removedAt(id: string): number | undefined;
};

/** What a holder and its daemon leave beside the tape; the log is not among it. */
const RECORD = /^(?:holder|claim|exit)(?:-\d+)?\.json$|^sizes\.jsonl$/;

export function terminalGarbage(place: HomeWorld, ports: TerminalGarbage, rules: Retention): Chosen[] {
  const terminals = [...ports.terminals()];
  const now = place.clock.now();
  const tapes = { ageMs: daysMs(rules.endedDays), bytes: rules.tapeBytes };
  return [
    ...beyond(removedFiles(place, terminals, ports), { ageMs: daysMs(rules.removedDays) }, now),
    ...beyond(endedTapes(place, terminals), tapes, now),
    ...leftSockets(place, terminals),
  ];
}

function removedFiles({ disk, home }: HomeWorld, terminals: readonly Terminal[], ports: TerminalGarbage): Thing[] {
  return terminals
    .filter(({ removed }) => removed)
    .flatMap(({ id }) => {
      const directory = terminalDirectory(home, id);
      const records = disk.list(directory).filter((name) => RECORD.test(name)); // GT1
      const paths = [...tapeFiles(disk, directory), ...records.map((name) => joinPath(directory, name))];
      if (paths.length === 0) return [];
      return [{ ...sized(disk, "files of a removed terminal", paths), at: ports.removedAt(id) }];
    });
}

function endedTapes({ disk, home }: HomeWorld, terminals: readonly Terminal[]): Thing[] {
  return terminals.flatMap(({ id, removed, state }) => {
    if (removed || state.kind !== "ended") return []; // GT2
    const paths = tapeFiles(disk, terminalDirectory(home, id));
    return paths.length === 0 ? [] : [{ ...sized(disk, "tape of an ended terminal", paths), at: timeOf(state.at) }];
  });
}

/** Ids share a socket only by chance, which is ruled out here too. */
function leftSockets({ disk, home }: HomeWorld, terminals: readonly Terminal[]): Chosen[] {
  const isOver = ({ removed, state }: Terminal) => removed || state.kind === "ended";
  const used = new Set(terminals.filter((one) => !isOver(one)).map(({ id }) => holderSocket(home, id)));
  const left = terminals.filter(isOver).map(({ id }) => holderSocket(home, id));
  return left
    .filter((path) => !used.has(path) && disk.stat(path) !== undefined)
    .map((path) => {
      const thing = sized(disk, "socket of a terminal that is over", [path]);
      return { ...thing, at: undefined, reason: "nobody listens there" };
    });
}

/** The segments of a tape, then its directory; nothing that is not ours by its name. */
function tapeFiles(disk: Disk, directory: string): string[] {
  const tape = joinPath(directory, "tape");
  const segments = disk.list(tape).filter((name) => /^\d{16}\.seg$/.test(name));
  return segments.length === 0 ? [] : [...segments.map((name) => joinPath(tape, name)), tape];
}
