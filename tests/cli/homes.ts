// Homes for the tests of the command line, written by the real log on the real disk, and the real CLI run on them.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { takeLock } from "../../src/log/file/lock.ts";
import type { Json, NewEntry } from "../../src/log/session/entry.ts";
import { identify } from "../../src/world/process.ts";
import { realWorld } from "../../src/world/world.ts";
import { ours } from "../ours.ts";

export const A = "agents/3f2a9c0d11224e55a6677889900aabbc";
export const B = "agents/3f2b9c0d11224e55a6677889900aabbc";
export const T = "terminals/77778c0d11224e55a6677889900aabbc";
export const SESSIONS = [A, B, T] as const;

/** Small segments, so that they are reused soon. */
const OPTIONS = { segmentBytes: 1 << 16, ballastBytes: 0, maxSegments: 4 };

const scratch = join(tmpdir(), `holdfast cli ${process.pid}`); // the space is on purpose

export function removeHomes(): void {
  rmSync(scratch, { recursive: true, force: true });
}

/** An empty directory of its own. */
export function emptyHome(): string {
  mkdirSync(scratch, { recursive: true }); // Test files in the same process share it, and each removes it at its end.
  return mkdtempSync(join(scratch, "home "));
}

export function openLog(home: string): Promise<EventLog> {
  const { disk, clock } = realWorld();
  return EventLog.open({ disk, clock, home }, OPTIONS);
}

export function entry(session: string, data: Json, event = "message.enqueued"): NewEntry {
  return { session, ts: "2026-01-02T03:04:05.678Z", event, data };
}

/**
 * Appends an entry for each number from `from` up to `to`, taking the sessions in turn; resolves when all are durable.
 */
export async function write(log: EventLog, from: number, to: number, sessions: readonly string[] = SESSIONS) {
  for (let i = from; i < to; i++) {
    const appended = log.append([entry(sessions[i % sessions.length] ?? A, { i, text: "hello" })]);
    if (!appended.ok) throw new Error(appended.error.message);
    if (i === to - 1) await appended.value.durable;
  }
}

/** A home that was closed cleanly: everything is in the sessions' own logs. */
export async function closedHome(count: number, sessions: readonly string[] = SESSIONS): Promise<string> {
  const home = emptyHome();
  const log = await openLog(home);
  await write(log, 0, count, sessions);
  await log.close();
  return home;
}

/**
 * A home whose writer was killed: first `drained` entries in the sessions' logs, then `waiting` only in the write-ahead
 * log.
 */
export async function killedHome(drained: number, waiting: number): Promise<string> {
  const home = emptyHome();
  await ended(startWriter(home, "kill", drained, waiting));
  return home;
}

export function startWriter(home: string, mode: "kill" | "on", ...counts: readonly number[]) {
  const command = [process.execPath, join(ROOT, "tests/cli/writer.ts"), home, mode, ...counts.map(String)];
  return Bun.spawn(command, { stdio: ["pipe", "pipe", "inherit"] });
}

async function ended(child: { readonly exited: Promise<number> }): Promise<void> {
  await child.exited;
}

/** Holds the daemon's lock in this process; returns a function that releases it. */
export function pretendDaemon(home: string): () => void {
  const world = realWorld();
  mkdirSync(join(home, "run"), { recursive: true });
  const owner = identify(world.processes, world.processes.pid);
  if (owner === undefined) throw new Error("this process is not there");
  const taken = takeLock(world, join(home, "run/daemon.lock"), owner);
  if (!taken.ok) throw new Error(taken.error.message);
  return () => taken.value.release();
}

/** Flips one bit of the first occurrence of `text` in a file. */
export function harm(path: string, text: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${path} has no ${text}`);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

export function walFiles(home: string): string[] {
  return readdirSync(join(home, "wal")).map((name) => join(home, "wal", name));
}

export type Ended = { readonly code: number; readonly out: string; readonly err: string };

/** An environment without any of the developer's own settings. */
export function startCli(args: readonly string[], env: Record<string, string> = {}) {
  const command = ours("src/cli/main.ts", ...args);
  mkdirSync(scratch, { recursive: true });
  return Bun.spawn(command, {
    cwd: scratch,
    env: { PATH: "/usr/bin:/bin", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export async function cli(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = startCli(args, env);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}
