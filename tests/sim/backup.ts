// A small home on a simulated disk, backups of it, and what is in a restored one.
import { expect } from "bun:test";
import { ok } from "../../src/base/result.ts";
import { BackupChain } from "../../src/home/backup/chain.ts";
import { restore } from "../../src/home/backup/restore.ts";
import type { Hold } from "../../src/home/backup/take.ts";
import { verify } from "../../src/home/backup/verify.ts";
import { type BackupWish, writeBackup } from "../../src/home/backup/write.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { makeDirectories, openRetrying, readWhole, writeAll } from "../../src/log/file/file.ts";
import type { Disk } from "../../src/world/disk.ts";
import { SimClock } from "./clock.ts";
import type { SimDisk } from "./disk.ts";
import { SimProcesses } from "./processes.ts";
import { SimRandom } from "./random.ts";

export const HOME = "/home";
export const FILE = "/out/a.backup";
export const COPY = "/restored";
export const AGENT = "agents/3f2a9c0d11224e55a6677889900aabbc";
export const TERMINAL = "terminals/77778c0d11224e55a6677889900aabbc";
const OPTIONS = { segmentBytes: 1 << 14, ballastBytes: 0, maxSegments: 4, sessionBytes: 1 << 12 };

export const step = async () => undefined;
const yes = async () => ok(undefined);
export const NO_HOLD: Hold = { begin: yes, hold: yes, release: yes, end: yes };

export function worldOn(disk: SimDisk, seed = 1) {
  return { disk, clock: new SimClock(), random: new SimRandom(seed), processes: new SimProcesses() };
}

export function put(disk: Disk, path: string, text: string): void {
  makeDirectories(disk, path.slice(0, path.lastIndexOf("/")));
  const file = openRetrying(disk, path, "create");
  writeAll(file, Buffer.from(text), 0);
  file.close();
}

export function openLog(disk: SimDisk): Promise<EventLog> {
  return EventLog.open({ disk, clock: new SimClock(), home: HOME }, OPTIONS);
}

export async function append(log: EventLog, session: string, text: string): Promise<number> {
  const done = log.append([{ session, ts: "2026-01-01T00:00:00.000Z", event: "message.enqueued", data: { text } }]);
  if (!done.ok) throw new Error(done.error.message);
  await done.value.durable;
  return done.value.last;
}

/** Some files of every kind, and a log that was not closed. */
export async function smallHome(disk: SimDisk, entries: number): Promise<EventLog> {
  const log = await openLog(disk);
  for (let n = 1; n <= entries; n += 1) await append(log, n % 2 === 0 ? AGENT : TERMINAL, `entry ${n}`);
  put(disk, `${HOME}/${TERMINAL}/claim.json`, '{"v":1}');
  put(disk, `${HOME}/${TERMINAL}/tape/0000000000000000.seg`, "what was printed");
  put(disk, `${HOME}/recovery/last-boot.json`, "boot-1\n");
  put(disk, `${HOME}/run/token`, "never in a backup");
  put(disk, `${HOME}/recovery/home.json.1.tmp`, "neither is this");
  makeDirectories(disk, "/out");
  return log;
}

export function backUp(disk: SimDisk, wish: Partial<BackupWish> = {}, hold: Hold = NO_HOLD) {
  const all = { home: HOME, path: FILE, passphrase: undefined, base: undefined, force: false, ...wish };
  return writeBackup(worldOn(disk), all, hold, step);
}

export async function opened(disk: SimDisk, path = FILE, passphrase = ""): Promise<BackupChain> {
  const chain = await BackupChain.open({ disk, path, bases: [], passphrase: async () => ok(passphrase) });
  if (!chain.ok) throw new Error(chain.error.message);
  return chain.value;
}

/** Reads and compares all of it. */
export async function isWhole(disk: SimDisk, path = FILE): Promise<void> {
  const chain = await opened(disk, path);
  await verify(chain, step);
  chain.close();
}

export async function restoreTo(disk: SimDisk, home = COPY, path = FILE) {
  const chain = await opened(disk, path);
  const done = await restore(worldOn(disk), chain, home, step);
  chain.close();
  return done;
}

/** Every file below a directory, with its text. */
export function filesBelow(disk: Disk, directory: string, at = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of disk.list(`${directory}/${at}`).sort()) {
    const path = at === "" ? name : `${at}/${name}`;
    const kind = disk.stat(`${directory}/${path}`)?.kind;
    if (kind === "directory") Object.assign(found, filesBelow(disk, directory, path));
    else found[path] = new TextDecoder().decode(readWhole(disk, `${directory}/${path}`));
  }
  return found;
}

export function expectNothingLeft(disk: Disk): void {
  expect(disk.list("/out").filter((name) => name.endsWith(".tmp"))).toEqual([]);
}
