// The family tree of a process table: ancestors and descendants.
// Y1. A parent is older than its child. If the table says otherwise, the pid was reused while the table was read.

export type Listed = {
  readonly pid: number;
  readonly ppid: number;
  readonly session: number;
  readonly startTime: number;
};

export type Family = {
  get(pid: number): Listed | undefined;
  childrenOf(pid: number): readonly number[];
  /** These and all below them. */
  withDescendants(pids: Iterable<number>): ReadonlySet<number>;
  /** All ancestors, the nearest first. */
  ancestorsOf(pid: number): number[];
};

export function familyOf(processes: readonly Listed[]): Family {
  const table = new Map(processes.map((listed) => [listed.pid, listed]));
  const parentOf = ({ pid, ppid, startTime }: Listed): Listed | undefined => {
    const parent = table.get(ppid);
    return parent !== undefined && ppid !== pid && parent.startTime <= startTime ? parent : undefined; // Y1
  };
  const children = Map.groupBy(processes, (listed) => parentOf(listed)?.pid);
  const childrenOf = (pid: number) => (children.get(pid) ?? []).map((child) => child.pid);
  return {
    get: (pid) => table.get(pid),
    childrenOf,
    withDescendants: (pids) => withDescendants(pids, childrenOf),
    ancestorsOf: (pid) => ancestorsOf(table.get(pid), parentOf),
  };
}

function withDescendants(pids: Iterable<number>, childrenOf: (pid: number) => readonly number[]): Set<number> {
  const found = new Set(pids);
  // Iterating a set also yields what was added meanwhile: this is the whole search.
  for (const pid of found) for (const child of childrenOf(pid)) found.add(child);
  return found;
}

function ancestorsOf(listed: Listed | undefined, parentOf: (listed: Listed) => Listed | undefined): number[] {
  const found = new Set<number>();
  let above = listed && parentOf(listed);
  while (above !== undefined && !found.has(above.pid)) {
    found.add(above.pid);
    above = parentOf(above);
  }
  return [...found];
}
