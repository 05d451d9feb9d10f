// What `gc` removes in a simulated home, and what it must never touch.
import { expect, test } from "bun:test";
import type { Terminal, TerminalState } from "../../src/core/terminal/terminal.ts";
import type { TmuxCare } from "../../src/core/tmux/tmux.ts";
import { type Garbage, GarbageCollector } from "../../src/daemon/gc.ts";
import { terminalGarbage } from "../../src/daemon/terminal/gc.ts";
import { tmuxGarbage } from "../../src/daemon/tmux/gc.ts";
import { workflowGarbage } from "../../src/daemon/workflow/gc.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { simWorld } from "../sim/world.ts";
import { terminalOf } from "../terminal/checkpoint-sessions.ts";
import { RULES } from "./gc-rules.ts";

const DAY = 86_400_000;
const id = (n: number) => `0190b6a${n}-0000-7000-8000-000000000000`;

class Site {
  readonly world = { ...simWorld(1), home: "/home" };
  readonly said: string[] = [];
  readonly terminals = new Map<string, Terminal>();
  readonly removed = new Map<string, number>();
  readonly tmux = new Map<string, TmuxCare>();
  off = false;
  readonly garbage: GarbageCollector;

  constructor(rules: Partial<Config["retention"]> = {}) {
    this.garbage = new GarbageCollector(
      this.world,
      { ...RULES, ...rules },
      {
        parts: [{ garbage: (limits) => this.#ofParts(limits) }],
        isOff: () => this.off,
        say: (words) => void this.said.push(words),
        onBug: (error) => {
          throw error;
        },
      },
    );
  }

  #ofParts(limits: Config["retention"]): Garbage[] {
    const at = (id: string) => this.removed.get(id);
    const [terminals, cares] = [() => this.terminals.values(), () => this.tmux.values()];
    return [
      ...terminalGarbage(this.world, { terminals, removedAt: at }, limits),
      ...tmuxGarbage(this.world, { cares, releasedAt: at }, limits),
      ...workflowGarbage(this.world, { runs: () => [], archived: () => [] }, limits),
    ];
  }

  ago(days: number): string {
    return new Date(this.world.clock.now() - days * DAY).toISOString();
  }

  plant(path: string, bytes = 100): string {
    this.world.disk.plant(`/home/${path}`, Buffer.alloc(bytes, 120));
    return `/home/${path}`;
  }

  terminal(n: number, state: TerminalState, removedDaysAgo?: number): void {
    const removed = removedDaysAgo !== undefined;
    this.terminals.set(id(n), terminalOf(n, { id: id(n), createdAt: this.ago(400), state, removed }));
    if (removed) this.removed.set(id(n), this.world.clock.now() - removedDaysAgo * DAY);
    for (const name of ["events.jsonl", "holder.json", "claim.json", "exit.json", "sizes.jsonl", "mine.txt"])
      this.plant(`terminals/${id(n)}/${name}`);
    for (const start of [0, 100]) this.plant(`terminals/${id(n)}/tape/${String(start).padStart(16, "0")}.seg`);
    this.plant(`terminals/${id(n)}/times/0000000000000000.times`, 0);
    this.plant(`terminals/${id(n)}/keyframes/0000000001048576.vt`, 0);
    this.plant(`run/${id(n).slice(0, 16)}.sock`, 0);
  }

  tmuxSession(id: string, releasedDaysAgo?: number): void {
    const released = releasedDaysAgo !== undefined;
    const state = { kind: "lost", reason: "x", at: this.ago(400), wanted: false } as const;
    const rest = { socket: "/s", name: id, policy: "auto", adoptedAt: this.ago(400), recreated: undefined } as const;
    this.tmux.set(id, { id, state, released, ...rest });
    if (released) this.removed.set(id, this.world.clock.now() - releasedDaysAgo * DAY);
    for (const name of [
      "checkpoint.json",
      "checkpoint.backup.json",
      "before.json",
      "notes.json",
      "screens/0-0.txt",
      "screens/0-1.txt",
    ])
      this.plant(`tmux/${id}/${name}`);
    for (const name of ["events.jsonl", "mine.json"]) this.plant(`tmux/${id}/${name}`);
  }

  ended(days: number): TerminalState {
    return { kind: "ended", code: 0, signal: null, at: this.ago(days) };
  }

  files(path: string): string[] {
    return this.world.disk.list(`/home/${path}`).sort();
  }
}

const RUNNING: TerminalState = { kind: "running", holder: 1, pid: 2, startTime: 3, bootId: "x" };

test("tapes of terminals that ended long ago are removed, and everything of removed ones but their log; a dry run reports the same and removes nothing", async () => {
  const site = new Site();
  site.terminal(1, site.ended(40));
  site.terminal(2, site.ended(2), 2);
  site.terminal(3, site.ended(20));
  site.terminal(4, site.ended(40), 0.5);
  const dry = await site.garbage.collect(true);
  expect(site.files(`terminals/${id(1)}/tape`)).toHaveLength(2);
  const done = await site.garbage.collect(false);
  expect(done).toEqual({ ...dry, dryRun: false });
  expect(done.items.filter(({ what }) => !what.startsWith("socket"))).toMatchObject([
    { what: "files of a removed terminal", bytes: 600, reason: "older than 1 day" },
    { what: "tape of an ended terminal", bytes: 200, reason: "older than 30 days" },
  ]);
  expect(done.bytes).toBe(800);
  expect(site.files(`terminals/${id(1)}`)).toEqual([
    "claim.json",
    "events.jsonl",
    "exit.json",
    "holder.json",
    "mine.txt",
    "sizes.jsonl",
  ]);
  expect(site.files(`terminals/${id(2)}`)).toEqual(["events.jsonl", "mine.txt"]); // Files that are not ours stay.
  for (const n of [3, 4]) expect(site.files(`terminals/${id(n)}/tape`)).toHaveLength(2);
  expect((await site.garbage.collect(false)).items).toEqual([]);
});

test("terminals that run, start or are uncertain are never touched, however old; nor is anything that a recovery reads", async () => {
  const site = new Site({ endedDays: 1, removedDays: 0, tapeBytes: 0, quarantineBytes: 0, reports: 1 });
  site.terminal(1, RUNNING);
  site.terminal(2, { kind: "starting" });
  site.terminal(3, { kind: "uncertain", reason: "x", child: undefined });
  const critical = [
    ...["wal/00000001.wal", "recovery/checkpoint.json", "recovery/checkpoint.backup.json", "recovery/last-boot.json"],
    ...["recovery/recovery-state.json", "recovery/wanted.json", "run/token", "run/daemon.lock", "run/daemon.sock"],
  ];
  for (const path of critical) site.plant(path);
  expect(await site.garbage.collect(false)).toEqual({ dryRun: false, bytes: 0, items: [], failed: [], kept: [] });
  expect(site.files(`terminals/${id(1)}/tape`)).toHaveLength(2);
});

test("ended terminals share a limit: the oldest tapes are removed first", async () => {
  const site = new Site({ tapeBytes: 450 });
  for (const [n, days] of [
    [1, 10],
    [2, 3],
    [3, 5],
  ] as const)
    site.terminal(n, site.ended(days));
  const { items } = await site.garbage.collect(false);
  const tapes = items.filter(({ what }) => what.startsWith("tape"));
  expect(tapes).toMatchObject([{ path: `/home/terminals/${id(1)}/tape`, reason: "more than 450 bytes of them" }]);
});

test("reports are removed by age and number, but never the newest", async () => {
  const site = new Site({ reports: 2 });
  const name = (days: number) => `${site.ago(days).replaceAll(/[:.]/g, "-")}.json`;
  for (const days of [200, 150, 50, 40, 30]) site.plant(`recovery/reports/${name(days)}`);
  await site.garbage.collect(false);
  expect(site.files("recovery/reports")).toEqual([name(40), name(30), name(50)].sort().slice(-3));
  const alone = new Site();
  const old = `${alone.ago(500).replaceAll(/[:.]/g, "-")}.json`;
  alone.plant(`recovery/reports/${old}`);
  await alone.garbage.collect(false);
  expect(alone.files("recovery/reports")).toEqual([old]);
});

test("quarantined files are removed by age, with their notes; those without a note are kept", async () => {
  const site = new Site();
  const note = (days: number) =>
    Buffer.from(JSON.stringify({ from: "/x", offset: 0, length: 1, reason: "y", at: site.ago(days), sha256: "z" }));
  site.plant("quarantine/wal-1-abc");
  site.world.disk.plant("/home/quarantine/wal-1-abc.note.json", note(100));
  site.plant("quarantine/wal-1-def");
  site.world.disk.plant("/home/quarantine/wal-1-def.note.json", note(100));
  site.world.disk.plant("/home/quarantine/wal-1-def.2.note.json", note(10));
  site.plant("quarantine/unknown");
  expect((await site.garbage.collect(false)).items).toMatchObject([
    { what: "quarantine", reason: "older than 90 days" },
  ]);
  expect(site.files("quarantine")).toEqual(["unknown", "wal-1-def", "wal-1-def.2.note.json", "wal-1-def.note.json"]);
});

test("the newest checkpoint histories are kept, and the checkpoint itself is not one of them", async () => {
  const site = new Site();
  const session = "state/repo/sessions/run-1";
  for (const day of [1, 2, 3, 4]) site.plant(`${session}/history/checkpoint-2026-01-0${day}T00-00-00.000Z.json`);
  site.plant(`${session}/checkpoint.json`);
  await site.garbage.collect(false);
  expect(site.files(`${session}/history`)).toEqual([
    "checkpoint-2026-01-03T00-00-00.000Z.json",
    "checkpoint-2026-01-04T00-00-00.000Z.json",
  ]);
  expect(site.files(session)).toContain("checkpoint.json");
});

test("of checkpoints saved in the same millisecond, the last ones saved are kept", async () => {
  const site = new Site();
  const session = "state/repo/sessions/run-1";
  const names = ["", "-2", "-9", "-10"].map((number) => `checkpoint-2026-01-04T00-00-00.000Z${number}.json`);
  for (const name of names) site.plant(`${session}/history/${name}`);
  await site.garbage.collect(false);
  expect(site.files(`${session}/history`).sort()).toEqual(names.slice(2).sort());
});

test("sockets of ended terminals are removed; the socket of an open terminal stays", async () => {
  const site = new Site();
  site.terminal(1, site.ended(0));
  site.terminal(2, RUNNING);
  await site.garbage.collect(false);
  expect(site.files("run")).toEqual([`${id(2).slice(0, 16)}.sock`]);
});

test("a socket that an open terminal shares with an ended one stays", async () => {
  const site = new Site();
  site.terminal(1, site.ended(0));
  const over = site.terminals.get(id(1));
  if (over !== undefined) site.terminals.set("twin", { ...over, id: `${id(1).slice(0, 16)}-twin`, state: RUNNING });
  await site.garbage.collect(false);
  expect(site.files("run")).toHaveLength(1);
});

test("what cannot be removed is reported and left, and the rest is removed", async () => {
  const site = new Site();
  site.terminal(1, site.ended(40));
  site.terminal(2, site.ended(50));
  site.world.disk.fault = ({ operation, path }) =>
    operation === "unlink" && path.includes(id(1)) ? { kind: "fail", code: "EACCES" } : undefined;
  const { items, failed } = await site.garbage.collect(false);
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain("EACCES");
  expect(items.filter(({ what }) => what.startsWith("tape"))).toHaveLength(1);
});

test("GC4 nothing of a session is removed before its part has forgotten it", async () => {
  const { world } = new Site();
  world.disk.plant("/home/s/events.jsonl", Buffer.from("x"));
  const forgotten = new Set<string>();
  const session = { id: "s1", forget: async () => forgotten };
  const thing = { what: "run", paths: ["/home/s/events.jsonl"], bytes: 1, at: 0, reason: "old", session };
  const ports = {
    parts: [{ garbage: () => [thing] }],
    isOff: () => false,
    say: () => undefined,
    onBug: () => undefined,
  };
  const garbage = new GarbageCollector(world, RULES, ports);
  expect(await garbage.collect(false)).toMatchObject({ items: [], failed: ["s1 could not be forgotten yet"] });
  expect(world.disk.list("/home/s")).toEqual(["events.jsonl"]);
  forgotten.add("s1");
  expect(await garbage.collect(false)).toMatchObject({ bytes: 1, failed: [] });
  expect(world.disk.list("/home/s")).toEqual([]);
});

test("GC6 a part that cannot name its garbage is reported, and the others' is removed", async () => {
  const { world } = new Site();
  world.disk.plant("/home/s/tape", Buffer.from("x"));
  const thing = { what: "tape", paths: ["/home/s/tape"], bytes: 1, at: 0, reason: "old" };
  const broken = () => {
    throw new TypeError("a bug");
  };
  const parts = [{ garbage: broken }, { garbage: () => [thing] }];
  const ports = { parts, isOff: () => false, say: () => undefined, onBug: broken };
  const garbage = new GarbageCollector(world, RULES, ports);
  expect(await garbage.collect(false)).toMatchObject({ bytes: 1, failed: ["holdfast has a bug: a bug"] });
  expect(world.disk.list("/home/s")).toEqual([]);
});

test("it runs by itself an hour after the start, then once a day; not in safe mode, and not after stop", async () => {
  const site = new Site();
  site.terminal(1, site.ended(40));
  site.garbage.start();
  site.off = true;
  site.world.clock.advance(DAY / 24);
  await site.world.clock.settle();
  expect(site.files(`terminals/${id(1)}/tape`)).toHaveLength(2);
  site.off = false;
  site.world.clock.advance(DAY);
  await site.world.clock.settle();
  expect(site.files(`terminals/${id(1)}/tape`)).toEqual([]);
  expect(site.said).toEqual(["deleted 2 things that are no longer needed: 200 bytes"]);
  site.garbage.stop();
  expect(site.world.clock.pendingTimers).toBe(0);
});

test("a clock that jumps to the next century removes nothing until the new time has held for a day", async () => {
  const site = new Site();
  site.terminal(1, site.ended(1));
  site.garbage.start();
  site.world.clock.jump(36_500 * DAY);
  site.world.clock.advance(DAY / 24);
  await site.world.clock.settle();
  expect(site.said).toEqual(["the clock was set: nothing is deleted until it has held for a day"]);
  site.world.clock.jump(-36_500 * DAY);
  site.world.clock.advance(3 * DAY);
  await site.world.clock.settle();
  expect(site.files(`terminals/${id(1)}/tape`)).toHaveLength(2);
});

test("the saved state of a tmux session is removed once released; an adopted one keeps it, whatever its age", async () => {
  const site = new Site();
  site.tmuxSession("let-go", 2);
  site.tmuxSession("just-now", 0.5);
  site.tmuxSession("kept");
  const { items, bytes } = await site.garbage.collect(false);
  expect(items).toMatchObject([{ what: "files of a released tmux session", reason: "older than 1 day" }]);
  expect(bytes).toBe(600);
  expect(site.files("tmux/let-go")).toEqual(["events.jsonl", "mine.json"]);
  for (const id of ["just-now", "kept"]) expect(site.files(`tmux/${id}`)).toContain("checkpoint.backup.json");
  expect(site.files("tmux/kept/screens")).toHaveLength(2);
});

test("PG4 what 20,000 ended terminals would free is counted whole, and shown as far as there is room", async () => {
  const { world } = new Site();
  const garbage = Array.from({ length: 20_000 }, (_, at): Garbage => {
    return { what: "terminal", paths: [`/home/terminals/${at}`], bytes: 10, at: 0, reason: "it ended 40 days ago" };
  });
  const ports = {
    parts: [{ garbage: () => garbage }],
    isOff: () => false,
    say: () => undefined,
    onBug: () => undefined,
  };
  const found = await new GarbageCollector(world, RULES, ports).collect(true);
  expect([found.bytes, found.items.length + (found.more ?? 0)]).toEqual([200_000, 20_000]);
  expect(JSON.stringify(found).length).toBeLessThan(1 << 20);
});
