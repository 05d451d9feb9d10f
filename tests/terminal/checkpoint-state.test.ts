// What a checkpoint records of the terminals, in a simulated world.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import type { ScreenSnapshot } from "../../src/core/terminal/screen.ts";
import type { Terminal, TerminalState } from "../../src/core/terminal/terminal.ts";
import { CheckpointState, type ScreenRequest } from "../../src/daemon/terminal/checkpoint-state.ts";
import type { HolderStatus } from "../../src/wire/holder/protocol.ts";
import { simWorld } from "../sim/world.ts";
import { sessionOf, terminalOf } from "./checkpoint-sessions.ts";

class Site {
  readonly world = { ...simWorld(1), home: "/home" };
  readonly terminals = new Map<string, Terminal>();
  readonly asked: string[] = [];
  readonly drawn: ScreenRequest[] = [];
  readonly inputs = new Map<string, number>();
  readonly broken: unknown[] = [];
  late = 0;
  short = 0;
  /** What a snapshot waits for. */
  gate: Promise<void> | undefined;
  vt = "screen";
  mute = false;
  readonly state: CheckpointState;

  constructor(scrollbackBytes = 100) {
    const rules = { allow: [], deny: ["SECRETLY"] };
    this.state = new CheckpointState(
      this.world,
      { scrollbackBytes, environment: rules },
      {
        screens: { snapshot: (requests) => this.#draw(requests) },
        agents: { look: () => undefined },
        terminals: () => this.terminals.values(),
        status: (id) => this.#status(id),
        late: () => {
          this.late += 1;
        },
        onBug: (error) => void this.broken.push(error),
        guard: (id, work) => {
          try {
            work();
          } catch (error) {
            this.broken.push(`${id}: ${error}`);
          }
        },
      },
    );
  }

  add(n: number, kind: "running" | "uncertain" | "ended" = "running"): Terminal {
    const { pid, startTime, bootId } = this.world.processes.spawn();
    const states: Readonly<Record<typeof kind, TerminalState>> = {
      running: { kind: "running", holder: 1, pid, startTime, bootId },
      uncertain: { kind: "uncertain", reason: "x", child: undefined },
      ended: { kind: "ended", code: 0, signal: null, at: "2026-01-01T00:00:00.000Z" },
    };
    const env = { PATH: "/bin", API_KEY: "no", SECRETLY: "no" };
    const terminal = terminalOf(n, { recipe: { argv: ["bash", "-l"], cwd: "/start", env }, state: states[kind] });
    this.terminals.set(terminal.id, terminal);
    this.print(terminal.id, 0, "$ ");
    return terminal;
  }

  /** Output of a terminal: `text` is all there is from `start` on. */
  print(id: string, start: number, text: string): void {
    const name = String(start).padStart(16, "0");
    this.world.disk.plant(`/home/terminals/${id}/tape/${name}.seg`, Buffer.from(text));
  }

  async #status(id: string): Promise<HolderStatus | undefined> {
    this.asked.push(id);
    if (this.mute) return undefined;
    return {
      ...{ v: 1, generation: 1, mode: "pty", pid: 1, child: null, startedAt: "x", consumed: 0, clients: 1 },
      ...{ tape: { start: 0, end: 0, gaps: 0 }, lastOutputAt: null, exit: null, trouble: null },
      size: { cols: 132, rows: 50 },
      writers: { ann: this.inputs.get(id) ?? 0, bob: 1 },
    };
  }

  async #draw(requests: readonly ScreenRequest[]): Promise<Map<string, ScreenSnapshot>> {
    this.drawn.push(...requests);
    await this.gate;
    return new Map(
      requests.map(({ id, size }) => [
        id,
        { ...size, offset: this.#end(id) - this.short, vt: this.vt, exact: true, at: "x", title: "", alternate: false },
      ]),
    );
  }

  #end(id: string): number {
    const directory = `/home/terminals/${id}/tape`;
    const name = this.world.disk.list(directory).sort().at(-1) ?? "";
    return Number.parseInt(name, 10) + (this.world.disk.stat(`${directory}/${name}`)?.size ?? 0);
  }
}

test("TC-1(b) a terminal at its prompt: its directory, its current size, its screen, and no foreground command", async () => {
  const site = new Site();
  const { id, state } = site.add(1);
  if (state.kind === "running")
    site.world.processes.putInFront(state.pid, { pid: state.pid, argv: ["bash"], cwd: "/there", ageMs: 5 });
  expect(await site.state.sessions()).toEqual([
    {
      ...sessionOf(1),
      workingDirectory: "/there",
      lookedAt: new Date(site.world.clock.now()).toISOString(),
      environmentVariables: { PATH: "/bin" },
      argv: ["bash", "-l"],
      shellCommand: "bash -l",
      size: { cols: 132, rows: 50 },
      scrollbackSnapshot: "screen",
      screen: { offset: 2, cols: 132, rows: 50, exact: true, at: "x", title: "", alternate: false },
    },
  ]);
  expect(site.drawn).toEqual([{ id, size: { cols: 132, rows: 50 }, maxBytes: 100 }]);
});

test("TC-1(b) a foreground program is saved with its arguments, its directory and its start time", async () => {
  const site = new Site();
  const { state } = site.add(1);
  const front = site.world.processes.spawn();
  if (state.kind === "running")
    site.world.processes.putInFront(state.pid, { pid: front.pid, argv: ["vim", "a b"], cwd: "/src", ageMs: 60_000 });
  const [session] = await site.state.sessions();
  expect(session).toMatchObject({ workingDirectory: "/src", shellCommand: "bash -l" });
  const startedAt = new Date(site.world.clock.now() - 60_000).toISOString();
  expect(session?.foreground).toEqual({ argv: ["vim", "a b"], cwd: "/src", startedAt });
});

test("a program that has just exited leaves the last known directory, not an empty one", async () => {
  const site = new Site();
  const { state } = site.add(1);
  site.state.seed([sessionOf(1, { workingDirectory: "/last" })]);
  if (state.kind === "running") site.world.processes.exit(state.pid);
  expect(await site.state.sessions()).toMatchObject([{ workingDirectory: "/last", foreground: null }]);
});

test("between two checkpoints only the last file of a tape is checked; one that began behind it is found a minute later", async () => {
  const site = new Site();
  const { id } = site.add(1);
  await site.state.pulse();
  site.print(id, 0, "$ ls");
  expect(await site.state.pulse()).toEqual({ changed: true, inputs: 0 });
  site.print(id, 4, "behind it");
  const found = [];
  for (let pulses = 3; pulses <= 12; pulses += 1) found.push((await site.state.pulse()).changed);
  expect(found).toEqual([...Array.from({ length: 9 }, () => false), true]);
  site.world.disk.unlink(`/home/terminals/${id}/tape/${"4".padStart(16, "0")}.seg`);
  expect((await site.state.pulse()).changed).toBe(true);
});

test("only terminals with new output are drawn, starting from their last snapshot; idle holders are not asked", async () => {
  const site = new Site();
  const [one, two] = [site.add(1).id, site.add(2).id];
  await site.state.sessions();
  expect(site.drawn.map(({ id }) => id)).toEqual([one, two]);
  site.asked.length = 0;
  site.drawn.length = 0;
  await site.state.sessions();
  expect([site.asked, site.drawn]).toEqual([[], []]);
  site.print(two, 2, "more");
  site.vt = "later";
  const sessions = await site.state.sessions();
  expect(site.asked).toEqual([two]);
  expect(site.drawn).toMatchObject([{ id: two, from: { offset: 2, vt: "screen" } }]);
  expect(sessions.map(({ scrollbackSnapshot }) => scrollbackSnapshot)).toEqual(["screen", "later"]);
});

test("the last life's snapshot is continued if the tape has not moved", async () => {
  const site = new Site();
  site.add(1);
  const screen = { offset: 2, cols: 80, rows: 24, exact: true, at: "x", title: "", alternate: false };
  site.state.seed([sessionOf(1, { screen, scrollbackSnapshot: "from before" })]);
  expect(await site.state.sessions()).toMatchObject([{ scrollbackSnapshot: "from before" }]);
  expect(site.drawn).toEqual([]);
});

test("a screen that is ahead of the tape at the terminal's restart is not continued", async () => {
  const start = {
    argv: [],
    cwd: "/",
    typed: "",
    message: "",
    reason: "",
    notes: [],
    screenAgeMs: null,
    evidence: null,
  };
  const screen = { cols: 80, rows: 24, exact: true, at: "x", title: "", alternate: false };
  for (const [offset, from] of [
    [7, undefined],
    [5, 5],
  ] as const) {
    // biome-ignore format: pairs
    const site = new Site();
    const terminal = site.add(1);
    const restored = { ...start, offset: 5, at: "x", accepted: true };
    site.terminals.set(terminal.id, { ...terminal, generation: 2, restored });
    site.print(terminal.id, 2, "and a new life that is longer");
    site.state.seed([sessionOf(1, { screen: { ...screen, offset }, scrollbackSnapshot: "from before" })]);
    expect(await site.state.sessions()).toMatchObject([{ generation: 2, scrollbackSnapshot: "screen" }]);
    expect(site.drawn.map((request) => request.from?.offset)).toEqual([from]);
  }
});

test("a slow snapshot delays no checkpoint: the previous one is saved, and the late one with the next checkpoint", async () => {
  const site = new Site();
  const { id } = site.add(1);
  await site.state.sessions();
  site.print(id, 2, "more");
  site.vt = "later";
  const gate = Promise.withResolvers<void>();
  site.gate = gate.promise;
  const pending = site.state.sessions();
  await site.world.clock.settle();
  site.world.clock.advance(2_000);
  expect(await pending).toMatchObject([{ scrollbackSnapshot: "screen", screen: { offset: 2 } }]);
  const again = site.state.sessions(); // It is not requested twice.
  await again;
  expect(site.drawn).toHaveLength(2);
  gate.resolve();
  await site.world.clock.settle();
  expect(site.late).toBe(1);
  expect(await site.state.sessions()).toMatchObject([{ scrollbackSnapshot: "later", screen: { offset: 6 } }]);
});

test("a snapshot that stops before half a character is not requested again until there is more output", async () => {
  const site = new Site();
  const { id } = site.add(1);
  site.short = 1;
  await site.state.sessions();
  await site.state.sessions();
  expect(site.drawn).toHaveLength(1);
  site.print(id, 2, "x");
  await site.state.sessions();
  expect(site.drawn).toHaveLength(2);
});

test("a screen program that fails costs the screens; our own bugs are thrown", async () => {
  const site = new Site();
  site.add(1);
  site.gate = Promise.reject(new Fault({ code: "EPIPE", operation: "write", path: "x" }));
  expect(await site.state.sessions()).toMatchObject([{ scrollbackSnapshot: "" }]);
  expect(site.broken).toEqual([]);
  site.gate = Promise.reject(new Error("a bug"));
  await site.state.sessions();
  expect(String(site.broken[0])).toContain("a bug");
});

test("PB2 a terminal that cannot be examined is recorded as it was last seen; the others are recorded as they are", async () => {
  const site = new Site();
  const [bad, good] = [site.add(1), site.add(2)];
  await site.state.sessions();
  const { processes } = site.world;
  const foreground = processes.foreground.bind(processes);
  processes.foreground = (pid) => {
    if (bad.state.kind === "running" && bad.state.pid === pid) throw new TypeError("a bug");
    return foreground(pid);
  };
  site.terminals.set(good.id, { ...good, name: "other" });
  const sessions = await site.state.sessions();
  expect(sessions.map(({ terminalId, name }) => [terminalId, name])).toEqual([
    [bad.id, bad.name],
    [good.id, "other"],
  ]);
  expect(site.broken).toEqual([`${bad.id}: TypeError: a bug`]);
});

test("the last observation of each terminal is kept, with whether it is from this life", async () => {
  const site = new Site();
  const { id } = site.add(1);
  const other = site.add(2, "uncertain").id;
  site.state.seed([sessionOf(1), sessionOf(2)]);
  expect(site.state.last(id)).toEqual({ session: sessionOf(1), now: false });
  await site.state.sessions();
  expect(site.state.last(id)).toMatchObject({ now: true });
  expect(site.state.last(other)).toMatchObject({ now: false });
  expect(site.state.last("nobody")).toBeUndefined();
});

test("a snapshot above its limit is not kept, and 0 turns snapshots off, including earlier ones", async () => {
  const site = new Site();
  site.add(1);
  site.vt = "x".repeat((1 << 20) + 101);
  expect(await site.state.sessions()).toMatchObject([{ scrollbackSnapshot: "", screen: null }]);
  const off = new Site(0);
  off.add(1);
  const screen = { offset: 1, cols: 80, rows: 24, exact: true, at: "x", title: "", alternate: false };
  off.state.seed([sessionOf(1, { screen, scrollbackSnapshot: "from before" })]);
  expect(await off.state.sessions()).toMatchObject([{ scrollbackSnapshot: "", screen: null }]);
  expect(off.drawn).toEqual([]);
});

test("a terminal that is not running keeps its last observation; ended and removed ones are left out", async () => {
  const site = new Site();
  site.add(1, "uncertain");
  site.add(2, "ended");
  const gone = site.add(3);
  site.terminals.set(gone.id, { ...gone, removed: true });
  site.add(4, "uncertain");
  const seen = sessionOf(1, { workingDirectory: "/seen", scrollbackSnapshot: "seen", name: "old-name" });
  site.state.seed([seen]);
  const sessions = await site.state.sessions();
  expect(sessions).toHaveLength(2);
  expect(sessions[0]).toEqual({ ...seen, name: "t1" });
  expect(sessions[1]).toMatchObject({ name: "t4", workingDirectory: "/start", bootId: "" });
});

test("CS-2(a) a pulse counts the inputs that holders accepted since the last one, and the first counts none", async () => {
  const site = new Site();
  const { id } = site.add(1);
  site.inputs.set(id, 40);
  expect(await site.state.pulse()).toEqual({ changed: true, inputs: 0 });
  expect(await site.state.pulse()).toEqual({ changed: false, inputs: 0 });
  site.inputs.set(id, 47);
  site.print(id, 0, "$ typed");
  expect(await site.state.pulse()).toEqual({ changed: true, inputs: 7 });
});

test("a holder that does not answer delays nothing: size and counts stay as they were", async () => {
  const site = new Site();
  const { id } = site.add(1);
  await site.state.sessions();
  site.mute = true;
  site.print(id, 2, "more");
  expect(await site.state.sessions()).toMatchObject([{ size: { cols: 132, rows: 50 } }]);
  site.mute = false;
  site.print(id, 2, "more and more");
  expect(await site.state.pulse()).toEqual({ changed: true, inputs: 0 });
});
