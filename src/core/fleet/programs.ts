// Which processes are the programs of a home's agents and steps: all that may act in the world for them.
// PR1. All below a holder of an agent or of attempts, all in its session, all that carry the marker of an agent or an
//      attempt of this home, and all below these: a child that has dropped its environment, or lost its parent, is
//      found by one of the others.
// PR2. Never a holder: it only records. But what says so below one of these is a program like others.
// PR3. Never a program of a terminal, and none of ours.
import { familyOf, type Listed } from "../family.ts";

export type ProgramTable = {
  readonly processes: readonly Listed[];
  /** Those that carry the marker of an agent or an attempt of this home. */
  readonly marked: ReadonlySet<number>;
  /** By their command lines: holders of agents and of attempts of this home. */
  readonly holders: ReadonlySet<number>;
  /** Our own. */
  readonly spared: ReadonlySet<number>;
};

/** Parents come before their children. */
export function programsOf({ processes, marked, holders, spared }: ProgramTable): Listed[] {
  const family = familyOf(processes);
  const isProgram = (pid: number) => family.ancestorsOf(pid).some((above) => holders.has(above) || marked.has(above));
  const outer = new Set([...holders].filter((pid) => !marked.has(pid) && !isProgram(pid))); // PR2
  const never = (pid: number) => outer.has(pid) || spared.has(pid); // PR2, PR3
  const found = new Set<number>();
  const add = (pids: Iterable<number>) => {
    for (const pid of family.withDescendants(pids)) if (!never(pid)) found.add(pid);
  };
  add([...marked, ...[...outer].flatMap((pid) => family.childrenOf(pid))]);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    const leads = (session: number) => outer.has(session) || found.has(session);
    add(processes.filter(({ session }) => leads(session)).map(({ pid }) => pid)); // PR1
  }
  const depth = new Map([...found].map((pid) => [pid, family.ancestorsOf(pid).length]));
  const members = [...found].flatMap((pid) => family.get(pid) ?? []);
  return members.toSorted((one, other) => (depth.get(one.pid) ?? 0) - (depth.get(other.pid) ?? 0));
}
