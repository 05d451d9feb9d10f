// What is seen of agent CLIs in front of terminals: their files on a real disk, with a process table of the test.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentInFront } from "../../src/core/terminal/agent-in-front.ts";
import { AgentsInFront } from "../../src/daemon/terminal/agents-in-front.ts";
import type { Disk } from "../../src/world/disk.ts";
import type { Kin, Processes } from "../../src/world/process.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realWorld } from "../../src/world/world.ts";

const [A, B] = ["a", "b"].map((letter) => `${letter.repeat(8)}-1111-4222-8333-444455556666`) as [string, string];
const homes: string[] = [];

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

class Desk {
  readonly home = mkdtempSync(join(tmpdir(), "hfaf-"));
  readonly table = new Map<number, Partial<Kin>>();
  readonly changes: [string, AgentInFront | undefined][] = [];
  readonly synced: string[] = [];
  taken: string[] = [];
  readonly agents: AgentsInFront;

  constructor() {
    homes.push(this.home);
    const { processes, ...world } = realWorld();
    const fake: Processes = {
      ...processes,
      kin: (pid) => {
        const row = this.table.get(pid);
        return row && { pid, ppid: 1, startTime: pid * 10, tty: null, argv: [], ...row };
      },
      startTime: (pid) => (this.table.has(pid) ? pid * 10 : undefined),
      variable: (_, name) => (name === "HOME" ? this.home : undefined),
    };
    this.agents = new AgentsInFront(
      { ...world, disk: this.#disk(), processes: fake },
      {
        databases: { refresh: async () => undefined, found: () => [] },
        taken: () => new Set(this.taken),
        changed: (id, agent) => void this.changes.push([id, agent]),
      },
    );
  }

  /** Notes what is made durable. */
  #disk(): Disk {
    const disk = realDisk();
    return {
      ...disk,
      open: (path, how) => {
        const file = disk.open(path, how);
        return new Proxy(file, {
          get: (_, name) => {
            if (name === "datasync") this.synced.push(path.slice(path.lastIndexOf("/") + 1));
            const value = Reflect.get(file, name, file);
            return typeof value === "function" ? value.bind(file) : value;
          },
        });
      },
    };
  }

  put(path: string, ...records: readonly object[]): void {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }

  look(id: string, words: string, pid = 500, isElsewhere = false): AgentInFront | undefined {
    this.table.set(pid, {});
    const process = { pid, argv: words.split(" "), cwd: "/w/app", ageMs: 1_000 };
    return this.agents.look(id, process, isElsewhere);
  }
}

const record = (pid: number, sessionId: string, status = "idle", procStart = String(pid * 10)) => ({
  ...{ pid, sessionId, status, procStart, version: "2.1.327" },
});

test("Claude Code: the record of the process itself, or of the one that its launcher has started; none of a pid that was reused", () => {
  const desk = new Desk();
  expect(desk.look("t", "claude")).toEqual({ name: "claude", state: "unknown" });
  desk.put(".claude/sessions/500.json", record(500, A, "busy"));
  expect(desk.look("t", "claude")).toEqual({ name: "claude", session: A, state: "working", version: "2.1.327" });
  desk.put(".claude/sessions/500.json", record(500, B)); // After /clear.
  expect(desk.look("t", "claude --resume")).toMatchObject({ session: B, state: "idle" });
  expect(desk.look("t", "claude --resume")).toMatchObject({ session: B, state: "idle" });
  expect(desk.changes.map(([, agent]) => agent?.session ?? agent?.state)).toEqual(["unknown", A, B]);
  desk.put(".claude/sessions/500.json", record(500, A, "idle", "4999"));
  expect(desk.look("t", "claude")?.session).toBeUndefined();
  desk.put(".claude/sessions/501.json", record(501, A));
  desk.table.set(501, { ppid: 500 });
  expect(desk.look("t", "node /lib/claude.js")).toMatchObject({ session: A });
  expect(desk.look("t", "vim")).toBeUndefined();
  expect([desk.agents.of("t"), desk.changes.at(-1)]).toEqual([undefined, ["t", undefined]]);
});

test("Claude Code without such a record: the only conversation of its directory since it started", () => {
  const desk = new Desk();
  desk.put(`.claude/projects/-w-app/${A}.jsonl`, { type: "user" });
  desk.put(`.claude/projects/-w-app/${B}.jsonl`, { type: "user" });
  utimesSync(join(desk.home, `.claude/projects/-w-app/${B}.jsonl`), new Date(0), new Date(0));
  expect(desk.look("t", "claude")).toEqual({ name: "claude", session: A, state: "unknown" });
});

test("AL2 the conversation itself is made durable, again when it has grown", async () => {
  const desk = new Desk();
  desk.put(".claude/sessions/500.json", record(500, A));
  const file = `.claude/projects/-w-app/${A}.jsonl`;
  desk.put(file, { type: "user" });
  const synced = async () => {
    desk.look("t", "claude");
    await desk.agents.sync();
    return desk.synced.splice(0);
  };
  expect([await synced(), await synced()]).toEqual([[`${A}.jsonl`], []]);
  utimesSync(join(desk.home, file), new Date(), new Date(Date.now() + 5_000)); // It is written to, later.
  expect(await synced()).toEqual([`${A}.jsonl`]);
});

test("codex and gemini: the only conversation that can be theirs, and what its end says", () => {
  const desk = new Desk();
  const meta = { type: "session_meta", payload: { cwd: "/w/app" } };
  const mark = (type: string) => ({ type: "event_msg", payload: { type } });
  desk.put(`.codex/sessions/2026/11/18/rollout-2026-11-18T15-48-44-${A}.jsonl`, meta, mark("task_started"));
  expect(desk.look("t", "codex")).toEqual({ name: "codex", session: A, state: "working" });
  desk.put(`.codex/sessions/2026/11/18/rollout-2026-11-18T15-50-00-${B}.jsonl`, meta, mark("task_complete"));
  expect(desk.look("u", "codex", 600)).toEqual({ name: "codex", state: "unknown" });
  desk.taken = [A]; // Andesk terminal has it.
  expect(desk.look("u", "codex", 600)).toMatchObject({ session: B, state: "idle" });
  desk.put(".gemini/tmp/app/.project_root");
  writeFileSync(join(desk.home, ".gemini/tmp/app/.project_root"), "/w/app");
  desk.put(".gemini/tmp/app/chats/session-1.jsonl", { sessionId: B }, { type: "user", content: "x" });
  expect(desk.look("g", "node /bin/gemini", 700)).toMatchObject({ name: "gemini", session: B, state: "working" });
});

test("AL3 nothing is known of an agent in a container, and one whose files cannot be read is only named", () => {
  const desk = new Desk();
  desk.put(".claude/sessions/500.json", record(500, A));
  expect(desk.look("t", "claude", 500, true)).toEqual({ name: "claude", state: "unknown" });
  const hostile = new Desk();
  mkdirSync(join(hostile.home, ".claude/sessions/500.json"), { recursive: true });
  symlinkSync("loop", join(hostile.home, ".codex"));
  symlinkSync(".codex", join(hostile.home, "loop"));
  for (const name of ["claude", "codex", "cursor-agent"] as const)
    expect(hostile.look("t", name)).toEqual({ name, state: "unknown" });
  hostile.agents.forgetAllBut(new Set());
  expect(hostile.agents.of("t")).toBeUndefined();
});
