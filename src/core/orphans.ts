// Orphans: processes that terminals of ours left behind when their holder died. Pure: from all known facts to the list.
// Z1. Only processes that are proven ours are named: by the marker of this home and a terminal of it, as the recorded
//     child, by the session of a recorded process, or as a descendant of one of these.
// Z2. Records are pid, start time and boot id. One of another boot, or whose pid was reused, proves nothing.
// Z3. Never named: a process that belongs to a living holder by parent, session or marker; a spared process (our own),
//     its ancestors and descendants, or a process that carries a foreign marker.
// Z4. The system does not reuse a pid while a session is named by it. So if its leader is gone, a session is certainly
//     ours only if a member started while the leader was known to live, or one carries the marker. Others are doubtful:
//     reported, never stopped.
// Z5. A copied home has the terminals and records of the original. A marker that names no home (of an older version) is
//     no proof; and records prove only what this home itself has started. What they would prove otherwise is doubtful.
import { type Family, familyOf, type Listed } from "./family.ts";

export type Identity = { readonly pid: number; readonly startTime: number; readonly bootId: string };

/** A terminal of this home, with its recorded processes. Both lead sessions: a child on pipes is in its holder's. */
export type HeldTerminal = {
  readonly id: string;
  readonly holder: Identity | undefined;
  readonly child: Identity | undefined;
  /** Whether this home has started them, rather than one that it is a copy of (Z5). */
  readonly startedHere: boolean;
  /** The last moment (in ticks, like start times) at which holder and child were both known to live, if any. */
  readonly seenAt: number | undefined;
};

/** `home`: the id of the home, which older versions did not give. */
export type Marker = { readonly terminal: string; readonly home: string | undefined };

export type ProcessTable = {
  readonly bootId: string;
  /** The id of this home; if it is undefined, no marker is ours. */
  readonly home: string | undefined;
  readonly processes: readonly Listed[];
  /** The marker that a process carries, by pid. */
  readonly markers: ReadonlyMap<number, Marker>;
  /** Our own processes: daemon, watchdog, web host. */
  readonly spared: readonly Identity[];
};

export type Orphan = {
  readonly who: Identity;
  readonly terminal: string;
  readonly by: "record" | "marker" | "session" | "parent";
};

export type Orphans = { readonly ours: readonly Orphan[]; readonly doubtful: readonly Orphan[] };

type OrphanVerdict =
  | { readonly kind: "ours" | "doubtful"; readonly terminal: string; readonly by: Orphan["by"] }
  | { readonly kind: "spared" }
  | { readonly kind: "unknown" };

export function findOrphans(table: ProcessTable, terminals: readonly HeldTerminal[]): Orphans {
  const family = familyOf(table.processes);
  const judge = new Judge(table, family, terminals);
  const verdicts = new Map(table.processes.map((listed) => [listed.pid, judge.of(listed)]));
  const protectedPids = judge.protectedBy(verdicts);
  const ours = claimed(family, verdicts, protectedPids);
  const named = (pid: number, terminal: string, by: Orphan["by"]): Orphan[] => {
    const startTime = family.get(pid)?.startTime;
    return startTime === undefined ? [] : [{ who: { pid, startTime, bootId: table.bootId }, terminal, by }];
  };
  const doubtful = [...verdicts].flatMap(([pid, verdict]) =>
    verdict.kind === "doubtful" && !protectedPids.has(pid) && !ours.has(pid)
      ? named(pid, verdict.terminal, verdict.by)
      : [],
  );
  return { ours: [...ours].flatMap(([pid, { terminal, by }]) => named(pid, terminal, by)), doubtful };
}

type Claim = { readonly terminal: string; readonly by: Orphan["by"] };

/** All processes with their own proof, and then all below them. */
function claimed(family: Family, verdicts: ReadonlyMap<number, OrphanVerdict>, isProtected: ReadonlySet<number>) {
  const ours = new Map<number, Claim>();
  for (const [pid, verdict] of verdicts) {
    if (verdict.kind === "ours" && !isProtected.has(pid)) ours.set(pid, { terminal: verdict.terminal, by: verdict.by });
  }
  // Iterating a map also yields what was added meanwhile: this is the whole search.
  for (const [pid, { terminal }] of ours) {
    for (const child of family.childrenOf(pid)) {
      if (!isProtected.has(child) && !ours.has(child)) ours.set(child, { terminal, by: "parent" }); // Z1
    }
  }
  return ours;
}

class Judge {
  readonly #table: ProcessTable;
  readonly #family: Family;
  readonly #byId = new Map<string, HeldTerminal>();
  readonly #byLeader = new Map<number, { readonly terminal: HeldTerminal; readonly leader: Identity }>();
  readonly #markedSessions = new Map<string, ReadonlySet<number>>();

  constructor(table: ProcessTable, family: Family, terminals: readonly HeldTerminal[]) {
    this.#table = table;
    this.#family = family;
    for (const terminal of terminals) {
      this.#byId.set(terminal.id, terminal);
      for (const leader of [terminal.holder, terminal.child]) this.#record(terminal, leader);
    }
    const marked = table.processes.filter(({ pid }) => this.#isOfThisHome(table.markers.get(pid)));
    const byMarker = Map.groupBy(marked, ({ pid }) => table.markers.get(pid)?.terminal ?? "");
    for (const [id, members] of byMarker) this.#markedSessions.set(id, new Set(members.map(({ session }) => session)));
  }

  /** Of two terminals that were recorded with one pid, the later one had it last. */
  #record(terminal: HeldTerminal, leader: Identity | undefined): void {
    if (leader === undefined || leader.bootId !== this.#table.bootId) return; // Z2
    const known = this.#byLeader.get(leader.pid)?.leader;
    if (known === undefined || known.startTime <= leader.startTime)
      this.#byLeader.set(leader.pid, { terminal, leader });
  }

  of(listed: Listed): OrphanVerdict {
    const marker = this.#table.markers.get(listed.pid);
    if (marker === undefined) return this.#byRecord(listed);
    const terminal = this.#byId.get(marker.terminal);
    if (terminal === undefined || this.#isHeld(terminal)) return { kind: "spared" }; // Z3
    if (this.#isOfThisHome(marker)) return { kind: "ours", terminal: terminal.id, by: "marker" };
    if (marker.home !== undefined) return { kind: "spared" }; // Z3
    const recorded = this.#byRecord(listed);
    return recorded.kind === "unknown" ? { kind: "doubtful", terminal: terminal.id, by: "marker" } : recorded; // Z5
  }

  #isOfThisHome(marker: Marker | undefined): boolean {
    return marker?.home !== undefined && marker.home === this.#table.home;
  }

  #byRecord(listed: Listed): OrphanVerdict {
    const recorded = this.#byLeader.get(listed.pid);
    const itself = recorded?.leader.startTime === listed.startTime;
    const found = itself ? recorded : this.#byLeader.get(listed.session);
    if (found === undefined) return { kind: "unknown" };
    const { terminal, leader } = found;
    const now = this.#family.get(leader.pid);
    if (now !== undefined && now.startTime !== leader.startTime) return { kind: "unknown" }; // Z2
    if (this.#isHeld(terminal)) return { kind: "spared" }; // Z3
    const certain = itself || now !== undefined || this.#wasOurs(listed, terminal, leader);
    const kind = certain && terminal.startedHere ? "ours" : "doubtful"; // Z5
    return { kind, terminal: terminal.id, by: itself ? "record" : "session" };
  }

  /** Z4. */
  #wasOurs(listed: Listed, terminal: HeldTerminal, leader: Identity): boolean {
    const seenAt = Math.max(leader.startTime, terminal.seenAt ?? 0);
    return listed.startTime <= seenAt || this.#markedSessions.get(terminal.id)?.has(listed.session) === true;
  }

  #isHeld({ holder }: HeldTerminal): boolean {
    return holder !== undefined && this.#isThere(holder);
  }

  #isThere(who: Identity): boolean {
    return who.bootId === this.#table.bootId && this.#family.get(who.pid)?.startTime === who.startTime;
  }

  /**
   * Z3: the spared, the living holders, and what the verdicts spare; with their descendants, and ancestors of live
   * ones.
   */
  protectedBy(verdicts: ReadonlyMap<number, OrphanVerdict>): ReadonlySet<number> {
    const holders = [...this.#byId.values()].flatMap(({ holder }) => holder ?? []);
    const certain = [...this.#table.spared, ...holders].filter((who) => this.#isThere(who)).map(({ pid }) => pid);
    const spared = [...verdicts].filter(([, verdict]) => verdict.kind === "spared").map(([pid]) => pid);
    const below = this.#family.withDescendants([...certain, ...spared]);
    return new Set([...below, ...certain.flatMap((pid) => this.#family.ancestorsOf(pid))]);
  }
}
