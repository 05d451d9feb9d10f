// The checkpoints of a daemon's whole life, in a simulated world: read, written while live, and at the end.
import { expect, test } from "bun:test";
import type { Terminal } from "../../src/core/terminal/terminal.ts";
import { Checkpoints } from "../../src/daemon/terminal/checkpoints.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { loadConfig } from "../../src/wire/files/config.ts";
import { nothing } from "../sim/survive.ts";
import { afterPowerCut, type SimWorld, simWorld } from "../sim/world.ts";
import { terminalOf } from "./checkpoint-sessions.ts";

const HOUR = 3_600_000;
const PATH = "/home/recovery/checkpoint.json";

function configured() {
  const loaded = loadConfig({ env: () => undefined, absolute: (path) => path, read: () => undefined });
  if (!loaded.ok) throw new Error("the defaults are no configuration");
  return loaded.value.config;
}

class Life {
  readonly world: SimWorld & { readonly home: string };
  readonly terminals = new Map<string, Terminal>();
  readonly said: string[] = [];
  readonly checkpoints: Checkpoints;
  statuses = 0;

  constructor(world: SimWorld) {
    this.world = { ...world, home: "/home" };
    world.disk.plant("/home/other", Buffer.from(""));
    this.checkpoints = new Checkpoints(this.world, configured(), {
      screens: { snapshot: async () => new Map() },
      agents: {
        of: () => undefined,
        look: () => undefined,
        prepare: async () => undefined,
        sync: async () => undefined,
        forgetAllBut: () => undefined,
      },
      terminals: () => this.terminals.values(),
      status: async () => {
        this.statuses += 1;
        return undefined;
      },
      isOff: () => false,
      say: (words) => void this.said.push(words),
      onBug: (error) => {
        throw error;
      },
      guard: (_, work) => work(),
    });
  }

  open(n: number): Terminal {
    const who = this.world.processes.spawn();
    this.world.processes.putInFront(who.pid, { pid: who.pid, argv: ["sh"], cwd: "/there", ageMs: 0 });
    const terminal = terminalOf(n, { state: { kind: "running", holder: 1, ...who } });
    this.terminals.set(terminal.id, terminal);
    return terminal;
  }

  /** Lets everything in progress finish. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) await this.world.clock.settle();
  }

  names(): string[] {
    const bytes = readWhole(this.world.disk, PATH);
    const { sessions } = bytes === undefined ? { sessions: [] } : JSON.parse(Buffer.from(bytes).toString());
    return sessions.map(({ name }: { name: string }) => name);
  }
}

test("CS-1(b) nothing is written before it is live; then after a minute, and the next life reads it, even after a power cut", async () => {
  const life = new Life(simWorld(1));
  const { id } = life.open(1);
  life.checkpoints.heard("terminal.created");
  life.world.clock.advance(2 * 60_000);
  await life.settle();
  expect(life.names()).toEqual([]);
  life.checkpoints.goLive();
  life.checkpoints.goLive();
  life.world.clock.advance(60_000);
  await life.settle();
  expect(life.names()).toEqual(["t1"]);
  const next = new Life(afterPowerCut(life.world, nothing));
  expect(await next.checkpoints.items()).toEqual([]);
  expect(await next.checkpoints.lastSeen(id)).toMatchObject({ session: { workingDirectory: "/there" }, doubt: null });
  expect(await next.checkpoints.lastSeen("nobody")).toBeUndefined();
});

test("TC-6(f) after a clock jump observations are marked doubtful until they are made again in this life", async () => {
  const life = new Life(simWorld(1));
  const { id } = life.open(1);
  life.checkpoints.goLive();
  await life.checkpoints.finish();
  const next = new Life(afterPowerCut(life.world, nothing));
  next.world.clock.jump(30 * HOUR);
  next.open(1);
  expect(await next.checkpoints.items()).toMatchObject([{ fate: "needs you" }]);
  expect((await next.checkpoints.lastSeen(id))?.doubt).toContain("older than allowed");
  next.checkpoints.goLive();
  next.world.clock.advance(60_000);
  await next.settle();
  expect((await next.checkpoints.lastSeen(id))?.doubt).toBeNull();
});

test("CS-2(a) 51 terminals opened, moved and ended trigger a checkpoint; other events wait for the minute", async () => {
  const life = new Life(simWorld(1));
  life.open(1);
  life.checkpoints.goLive();
  for (let event = 0; event < 60; event += 1) life.checkpoints.heard("terminal.renamed");
  await life.settle();
  expect(life.names()).toEqual([]);
  const topics = ["terminal.created", "terminal.moved", "terminal.ended"];
  for (let event = 0; event < 51; event += 1) life.checkpoints.heard(topics[event % 3] ?? "");
  await life.settle();
  expect(life.names()).toEqual(["t1"]);
});

test("heartbeats check the terminals at most every five seconds", async () => {
  const life = new Life(simWorld(1));
  const { id } = life.open(1);
  await life.checkpoints.pulse();
  expect(life.statuses).toBe(0); // Not live yet.
  life.checkpoints.goLive();
  for (const [seconds, statuses] of [
    [0, 1],
    [2, 1],
    [2, 1],
    [2, 2],
    [5, 3],
  ] as const) {
    life.world.clock.advance(seconds * 1000);
    life.world.disk.plant(
      `/home/terminals/${id}/tape/0000000000000000.seg`,
      Buffer.alloc(life.world.clock.elapsed() + 1),
    );
    await life.checkpoints.pulse();
    expect(life.statuses).toBe(statuses);
  }
});

test("CS-4(a) the last checkpoint is written at the end, even if none was due", async () => {
  const life = new Life(simWorld(1));
  life.open(1);
  await life.checkpoints.finish(); // Not live: what is being restored is not yet accurate.
  expect(life.names()).toEqual([]);
  life.checkpoints.goLive();
  await life.checkpoints.finish();
  expect(life.names()).toEqual(["t1"]);
  expect(life.world.clock.pendingTimers).toBe(0);
});
