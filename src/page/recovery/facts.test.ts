import { expect, test } from "bun:test";
import type { WebHealth } from "../../wire/page/messages.ts";
import type { StatusResult } from "../../wire/rpc/rpc.ts";
import { factsOf, type Seen } from "./facts.ts";

const GIB = 2 ** 30;
const health: WebHealth = {
  at: "2026-11-17T10:00:00.000Z",
  disk: { freeBytes: 3 * GIB, freeFiles: 1e6, fileSystem: "ext4 on /", room: "enough" },
  log: { bytes: 2 << 20, files: 1 },
  programs: [
    { name: "watchdog", pid: 1, memory: 1 << 20 },
    { name: "daemon", pid: 2, memory: 2 << 20 },
    { name: "web", pid: 3, memory: null },
  ],
  holders: { many: 2, memory: 5 << 20 },
};
const status: StatusResult = {
  ...{ version: "0.1.0", home: "/h", watchdog: { pid: 1 }, web: { pid: 3, url: null } },
  daemon: { pid: 2, startedAt: "2026-11-17T09:00:00.000Z" },
  recovery: { stage: "LIVE", attempt: 1, report: null },
  safeMode: { active: false, reason: null },
  counts: { terminals: 1, agents: 0, workflows: 0, prompts: 0 },
};
const seen: Seen = { health, usage: { kinds: [], isWhole: true }, status, isUp: true };

function shown(more: Partial<Seen>): Record<string, string> {
  return Object.fromEntries(
    factsOf({ ...seen, ...more }).map(({ name, value, more: rest, tone }) => [name, [value, rest, tone].join("|")]),
  );
}

test("a healthy home: what is free, what the log does, and the memory of each program", () => {
  expect(shown({})).toEqual({
    Disk: "3.0 GB free|ext4 on /|",
    Home: "0 B|0 files|",
    Log: "takes writes|2.0 MB in 1 segment|",
    Watchdog: "1.0 MB|memory of process 1|",
    Daemon: "2.0 MB|memory of process 2|",
    "Web host": "running|process 3|",
    Holders: "5.0 MB|memory of 2 holders|",
  });
});

test("a daemon that is down, one that is new, a watchdog that is missing, and nothing known yet", () => {
  const down = shown({ isUp: false });
  expect([down["Daemon"], down["Log"]]).toEqual([
    "not running|the watchdog starts it again|bad",
    "takes nothing now|the daemon is down; 2.0 MB in 1 segment|warn",
  ]);
  const next = { ...status, daemon: { ...status.daemon, pid: 9 } };
  expect(shown({ status: next })["Daemon"]).toBe("running|process 9|");
  const alone = { ...health, programs: [{ name: "watchdog", pid: null, memory: null }] };
  expect(shown({ health: alone })["Watchdog"]).toStartWith("not running|a crash would not be noticed");
  expect(factsOf({ health: undefined, usage: undefined, status: undefined, isUp: false })).toEqual([]);
});

test("a full disk, a log that refuses, and a home with too many files to count say so", () => {
  const disk = { ...health.disk, freeBytes: 1024, freeFiles: 7, room: "none" } as const;
  expect(shown({ health: { ...health, disk } })["Disk"]).toBe(
    "1.0 KB free, 7 files|free some space: a full disk refuses new work|bad",
  );
  const trouble = { code: "ENOSPC", operation: "write", path: "/h", hint: "Free some.", since: null };
  expect(shown({ status: { ...status, disk: trouble } })["Log"]).toBe("refuses: write failed, ENOSPC|Free some.|bad");
  const usage = { kinds: [{ kind: "a", files: 3, bytes: 1024 }], isWhole: false };
  expect(shown({ usage })["Home"]).toBe("more than 1.0 KB|more than 3 files|");
});
