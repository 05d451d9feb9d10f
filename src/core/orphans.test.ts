// Orphans: what our terminals left behind is found, however it hides; no other process is ever named.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { amount, PROFILE } from "../../tests/sim/fuzz/profile.ts";
import { SimProcesses } from "../../tests/sim/processes.ts";
import type { ListedProcess, ProcessIdentity } from "../world/process.ts";
import { findOrphans, type HeldTerminal, type Marker, type Orphan } from "./orphans.ts";

const [MARKER, HOME] = ["HOLDFAST_TERMINAL", "HOLDFAST_HOME_ID"] as const;
const OURS = "this home";
const OLDER = "";

/** What a program of a terminal carries; of an older version, no home. */
function mark(id: string, home: string = OURS) {
  return { [MARKER]: id, ...(home !== OLDER && { [HOME]: home }) };
}

/** A machine with terminals on it, as the daemon knows them. */
class Machine {
  readonly sim = new SimProcesses();
  readonly terminals: HeldTerminal[] = [];
  readonly spared: ProcessIdentity[] = [];

  /** A holder, and its shell as the leader of its own session. */
  terminal(id: string): { readonly holder: ProcessIdentity; readonly shell: ProcessIdentity } {
    const holder = this.sim.spawn();
    const shell = this.sim.spawn(undefined, { ppid: holder.pid, variables: mark(id) });
    this.terminals.push({ id, holder, child: shell, startedHere: true, seenAt: undefined });
    return { holder, shell };
  }

  /** A child of `parent` that has cleared its environment (`env -i`). */
  cleared(parent: ProcessIdentity, session = parent.pid): ProcessIdentity {
    return this.sim.spawn(undefined, { ppid: parent.pid, session });
  }

  marked(parent: ProcessIdentity, id: string, home?: string): ProcessIdentity {
    return this.sim.spawn(undefined, { ppid: parent.pid, session: parent.pid, variables: mark(id, home) });
  }

  /** From now on, this home is a copy of the one that started the terminal. */
  copied(id: string): void {
    this.#change(id, { startedHere: false });
  }

  end(...all: readonly ProcessIdentity[]): void {
    for (const { pid } of all) this.sim.reap(pid);
  }

  seen(id: string, at = this.sim.ticks()): void {
    this.#change(id, { seenAt: at });
  }

  #change(id: string, changes: Partial<HeldTerminal>): void {
    const index = this.terminals.findIndex((terminal) => terminal.id === id);
    const terminal = this.terminals[index];
    if (terminal !== undefined) this.terminals[index] = { ...terminal, ...changes };
  }

  find() {
    const processes = this.sim.list();
    const markers = new Map(processes.flatMap(({ pid }) => this.#marker(pid)));
    const table = { bootId: this.sim.bootId(), home: OURS, processes, markers, spared: this.spared };
    return findOrphans(table, this.terminals);
  }

  #marker(pid: number): [number, Marker][] {
    const terminal = this.sim.variable(pid, MARKER);
    return terminal === undefined ? [] : [[pid, { terminal, home: this.sim.variable(pid, HOME) }]];
  }
}

const short = (orphans: readonly Orphan[]) => orphans.map(({ who, terminal, by }) => `${who.pid} ${terminal} ${by}`);

describe("found", () => {
  test("by its marker, when the holder is gone", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const job = on.marked(shell, "a");
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
    on.end(holder, shell);
    expect(on.find()).toEqual({ ours: [{ who: job, terminal: "a", by: "marker" }], doubtful: [] });
  });

  test("by the session, when it cleared its environment and the shell lives", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const job = on.cleared(on.cleared(shell), shell.pid);
    on.end(holder);
    expect(short(on.find().ours)).toContain(`${job.pid} a session`);
  });

  test("by the session, when the shell is gone but was seen after the job started", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const job = on.cleared(shell);
    on.seen("a");
    const late = on.cleared(shell);
    on.end(holder, shell);
    expect(short(on.find().ours)).toEqual([`${job.pid} a session`]);
    expect(short(on.find().doubtful)).toEqual([`${late.pid} a session`]);
  });

  test("by the session, when another process of that session carries the marker", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const [hidden, marked] = [on.cleared(shell), on.marked(shell, "a")];
    on.end(holder, shell);
    expect(short(on.find().ours)).toEqual([`${hidden.pid} a session`, `${marked.pid} a marker`]);
  });

  test("by its parents, when it cleared its environment and also left the session", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const job = on.marked(shell, "a");
    const hidden = on.sim.spawn(undefined, { ppid: job.pid });
    const below = on.sim.spawn(undefined, { ppid: hidden.pid });
    on.end(holder, shell);
    expect(short(on.find().ours)).toEqual([`${job.pid} a marker`, `${hidden.pid} a parent`, `${below.pid} a parent`]);
  });

  test("by the record, also on pipes, when the child is in its holder's session", () => {
    const on = new Machine();
    const holder = on.sim.spawn();
    const child = on.cleared(holder);
    on.terminals.push({ id: "a", holder, child, startedHere: true, seenAt: undefined });
    on.end(holder);
    expect(short(on.find().ours)).toEqual([`${child.pid} a record`]);
  });

  test("a hundred of them, among as many that are held", () => {
    const on = new Machine();
    const lost: ProcessIdentity[] = [];
    for (let at = 0; at < 100; at += 1) {
      const { holder, shell } = on.terminal(`lost-${at}`);
      lost.push(on.marked(shell, `lost-${at}`));
      on.end(holder, shell);
      on.marked(on.terminal(`held-${at}`).shell, `held-${at}`);
      on.sim.spawn();
    }
    expect(on.find().ours.map((orphan) => orphan.who)).toEqual(lost);
    expect(on.find().doubtful).toEqual([]);
  });
});

describe("never named", () => {
  test("a job that left its shell, as long as the holder lives", () => {
    const on = new Machine();
    const { shell } = on.terminal("a");
    const jobs = [on.marked(shell, "a"), on.cleared(shell), on.sim.spawn(undefined, { ppid: shell.pid })];
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
    on.end(shell);
    expect(on.find().ours).toEqual([]);
    expect(jobs).toHaveLength(3);
  });

  test("a stranger with the pid of a holder, a shell or a session of ours", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    on.end(holder, shell);
    on.sim.spawn(holder.pid);
    const stranger = on.sim.spawn(shell.pid);
    on.cleared(stranger);
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
    on.end(stranger); // Its job survives in a session that has the number of ours.
    expect(on.find().ours).toEqual([]);
    expect(on.find().doubtful).toHaveLength(1);
  });

  test("a holder's pid reused by a stranger does not protect what the holder left", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    on.end(holder);
    on.sim.spawn(holder.pid);
    expect(short(on.find().ours)).toEqual([`${shell.pid} a marker`]);
  });

  test("any process after a reboot, however well the numbers match", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    on.sim.reboot();
    for (const { pid } of [holder, shell]) on.sim.spawn(pid);
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
  });

  test("our own process, its ancestors and descendants, even if it was started inside a terminal of ours", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const daemon = on.marked(shell, "a");
    const below = on.marked(daemon, "a");
    const other = on.marked(shell, "a");
    on.spared.push(daemon);
    on.end(holder);
    expect(short(on.find().ours)).toEqual([`${other.pid} a marker`]);
    expect(below.pid).not.toBe(other.pid);
  });

  test("a process with the marker of another home, and its descendants", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const foreign = on.marked(shell, "of another home");
    on.cleared(foreign);
    on.end(holder, shell);
    expect(on.find().ours).toEqual([]);
  });

  test("a held terminal that was opened from within one that is lost", () => {
    const on = new Machine();
    const outer = on.terminal("outer");
    const inner = on.sim.spawn(undefined, { ppid: outer.shell.pid, variables: mark("outer") });
    const shell = on.sim.spawn(undefined, { ppid: inner.pid, variables: mark("inner") });
    on.terminals.push({ id: "inner", holder: inner, child: shell, startedHere: true, seenAt: undefined });
    on.end(outer.holder);
    expect(on.find().ours).toEqual([]);
  });
});

describe("a home and its copy", () => {
  test("a process with the marker of the other home is not named, even if its terminal is known by the same id", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    on.end(holder, shell);
    const others = on.sim.spawn(undefined, { variables: mark("a", "another home") });
    on.cleared(others);
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
  });

  test("records that were copied prove nothing: what they name is reported, and not stopped", () => {
    const on = new Machine();
    const { holder, shell } = on.terminal("a");
    const child = on.sim.spawn();
    on.terminals.push({ id: "b", holder: undefined, child, startedHere: false, seenAt: undefined });
    const job = on.cleared(child);
    on.copied("a");
    on.end(holder);
    expect(on.find().ours.map(({ who }) => who)).toEqual([shell]); // It carries our marker: this home has moved.
    expect(short(on.find().doubtful)).toEqual([`${child.pid} b record`, `${job.pid} b session`]);
  });

  test("a program of an older version names no home: its records prove that it is ours, its marker does not", () => {
    const on = new Machine();
    const holder = on.sim.spawn();
    const shell = on.sim.spawn(undefined, { ppid: holder.pid, variables: mark("a", OLDER) });
    const job = on.marked(shell, "a", OLDER);
    const apart = on.sim.spawn(undefined, { variables: mark("a", OLDER) });
    on.terminals.push({ id: "a", holder, child: shell, startedHere: true, seenAt: undefined });
    expect(on.find()).toEqual({ ours: [], doubtful: [] });
    on.end(holder);
    expect(short(on.find().ours)).toEqual([`${shell.pid} a record`, `${job.pid} a session`]);
    expect(short(on.find().doubtful)).toEqual([`${apart.pid} a marker`]);
    on.copied("a");
    expect(on.find().ours).toEqual([]);
    expect(on.find().doubtful).toHaveLength(3);
  });
});

describe("any history", () => {
  type Step = { readonly kind: number; readonly pick: number };
  const OPEN: Step = { kind: 0, pick: 0 };
  const steps = fc.array(fc.record({ kind: fc.nat(9), pick: fc.nat(1_000) }), { minLength: 20, maxLength: 60 });

  /** A machine that knows which terminal each process really comes from, whatever it looks like. */
  class Told extends Machine {
    readonly #origin = new Map<string, string>();

    originOf({ pid, startTime }: { readonly pid: number; readonly startTime: number }): string | undefined {
      return this.#origin.get(`${pid} ${startTime}`);
    }

    come(who: ProcessIdentity, from: string | undefined): void {
      if (from !== undefined) this.#origin.set(`${who.pid} ${who.startTime}`, from);
    }

    open(): void {
      const id = `t${this.terminals.length}`;
      const { holder, shell } = this.terminal(id);
      this.come(holder, id);
      this.come(shell, id);
    }

    /** Depending on its kind a child keeps or clears the marker, and keeps the session or leads its own. */
    fork(parent: ListedProcess, { kind, pick }: Step): void {
      const marker = this.sim.variable(parent.pid, MARKER);
      const home = this.sim.variable(parent.pid, HOME) ?? OLDER;
      const variables = kind % 2 === 0 && marker !== undefined ? { variables: mark(marker, home) } : {};
      const session = kind < 8 ? { session: parent.session } : {};
      const child = this.sim.spawn(freePid(this, pick), { ppid: parent.pid, ...session, ...variables });
      this.come(child, this.originOf(parent));
    }

    step({ kind, pick }: Step): void {
      const there = this.sim.list().filter(({ pid }) => pid !== this.sim.pid);
      const one = there[pick % there.length];
      if (kind === 0 || one === undefined) this.open();
      else if (kind === 1) this.sim.spawn(freePid(this, pick), stranger(pick));
      else if (kind === 2) this.sim.reap(one.pid);
      else if (kind === 3) this.seen(`t${pick % 5}`, lastLife(this, `t${pick % 5}`));
      else this.fork(one, { kind, pick });
    }
  }

  /** Anything, or a program of a copy of this home, in this or an older version. */
  function stranger(pick: number) {
    const home = ["another home", OLDER][pick % 4];
    return home === undefined ? {} : { variables: mark(`t${pick % 5}`, home) };
  }

  /** Like the system, never a pid that is in use or names a session. */
  function freePid(on: Machine, pick: number): number | undefined {
    const taken = new Set(on.sim.list().flatMap(({ pid, session }) => [pid, session]));
    const wanted = 1_001 + (pick % 30);
    return taken.has(wanted) ? undefined : wanted;
  }

  function lastLife(on: Machine, id: string): number {
    const terminal = on.terminals.find((one) => one.id === id);
    const both = [terminal?.holder, terminal?.child];
    const lives = both.every((who) => who !== undefined && on.sim.alive(who));
    return lives ? on.sim.ticks() : (terminal?.seenAt ?? 0);
  }

  test("names only descendants of the given terminal, and none whose holder lives", () => {
    let named = 0;
    fc.assert(
      fc.property(steps, (history) => {
        const on = new Told();
        for (const step of [OPEN, OPEN, OPEN, ...history]) on.step(step);
        for (const { who, terminal } of on.find().ours) {
          named += 1;
          expect(on.sim.alive(who)).toBe(true);
          expect(on.originOf(who)).toBe(terminal);
          const holder = on.terminals.find(({ id }) => id === terminal)?.holder;
          expect(holder !== undefined && on.sim.alive(holder)).toBe(false);
        }
      }),
      { numRuns: amount(600, 3_000), seed: PROFILE.seed },
    );
    expect(named).toBeGreaterThan(amount(50, 500));
  });
});
