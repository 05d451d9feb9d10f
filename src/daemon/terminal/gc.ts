// Which files of terminals garbage collection may delete.
// GT1. Only these are named: the tapes of ended terminals, the files of removed terminals, and the sockets of both.
//      Their logs stay: they are removed from the archive (archive-gc.ts).
// GT2. A terminal that is running or starting, or whose end is not certain, is never touched, whatever its age.
import { beyond, type Chosen, daysMs, type Thing } from "../../core/retention.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { type HomeWorld, holderSocket, terminalDirectory } from "../../home/held/holder-files.ts";
import { isRemovable, recordFiles, tapeFiles } from "../../home/held/left-files.ts";
import { sized, timeOf } from "../gc.ts";
import type { Retention } from "../part.ts";

export type TerminalGarbage = {
  terminals(): Iterable<Terminal>;
  /** When it was removed; undefined if its log does not record it. */
  removedAt(id: string): number | undefined;
};

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
      const paths = [...tapeFiles(disk, directory), ...recordFiles(disk, directory)]; // GT1
      if (!paths.some((path) => isRemovable(disk, path))) return [];
      return [{ ...sized(disk, "files of a removed terminal", paths), at: ports.removedAt(id) }];
    });
}

function endedTapes({ disk, home }: HomeWorld, terminals: readonly Terminal[]): Thing[] {
  return terminals.flatMap(({ id, removed, state }) => {
    if (removed || state.kind !== "ended") return []; // GT2
    const paths = tapeFiles(disk, terminalDirectory(home, id));
    if (!paths.some((path) => isRemovable(disk, path))) return [];
    return [{ ...sized(disk, "tape of an ended terminal", paths), at: timeOf(state.at) }];
  });
}

/** Two ids could share a socket by chance: a socket that is still in use is never named. */
function leftSockets({ disk, home }: HomeWorld, terminals: readonly Terminal[]): Chosen[] {
  const isOver = ({ removed, state }: Terminal) => removed || state.kind === "ended";
  const used = new Set(terminals.filter((one) => !isOver(one)).map(({ id }) => holderSocket(home, id)));
  const left = terminals.filter(isOver).map(({ id }) => holderSocket(home, id));
  return left
    .filter((path) => !used.has(path) && disk.stat(path) !== undefined)
    .map((path) => {
      const thing = sized(disk, "socket of a terminal that is over", [path]);
      return { ...thing, at: undefined, reason: "nothing listens on it" };
    });
}
