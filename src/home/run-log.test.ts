// Tests of the log that people read: bounded, and never the cause of a full disk.
import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { makeDirectories, openRetrying, readWhole, writeAll } from "../log/file/file.ts";
import { logPath, MAX_LOG_BYTES, turnOver } from "./run-log.ts";

const HOME = "/h";
const PATH = logPath(HOME);

function diskWith(bytes: Uint8Array): SimDisk {
  const disk = new SimDisk();
  makeDirectories(disk, `${HOME}/run`);
  const file = openRetrying(disk, PATH, "create");
  writeAll(file, bytes, 0);
  file.close();
  return disk;
}

function numbered(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 0xff);
}

test("RL1 a log that is too large is truncated, and its end replaces the old copy beside it", () => {
  const bytes = numbered(MAX_LOG_BYTES + 12_345);
  const disk = diskWith(bytes);
  turnOver(disk, HOME);
  expect(readWhole(disk, PATH)?.length).toBe(0);
  expect(Buffer.compare(readWhole(disk, `${PATH}.1`) ?? new Uint8Array(), bytes.subarray(12_345))).toBe(0);
  expect(disk.list(`${HOME}/run`).sort()).toEqual(["watchdog.log", "watchdog.log.1"]);
});

test("RL1 a log of exactly the limit and a missing one are left alone", () => {
  const disk = diskWith(numbered(MAX_LOG_BYTES));
  turnOver(disk, HOME);
  expect(readWhole(disk, PATH)?.length).toBe(MAX_LOG_BYTES);
  expect(() => turnOver(new SimDisk(), HOME)).not.toThrow();
});

test("RL2 on a full disk it is truncated without a copy, and leaves nothing behind", () => {
  const disk = diskWith(numbered(MAX_LOG_BYTES + 1));
  disk.capacity = MAX_LOG_BYTES + (1 << 20);
  turnOver(disk, HOME);
  expect(readWhole(disk, PATH)?.length).toBe(0);
  expect(disk.list(`${HOME}/run`)).toEqual(["watchdog.log"]);
});

test("RL1 leftovers of an earlier attempt do not get into the copy", () => {
  const bytes = numbered(MAX_LOG_BYTES + 1);
  const disk = diskWith(bytes);
  const stale = openRetrying(disk, `${PATH}.1.tmp`, "create");
  writeAll(stale, numbered(MAX_LOG_BYTES + 99), 0);
  stale.close();
  turnOver(disk, HOME);
  expect(readWhole(disk, `${PATH}.1`)?.length).toBe(MAX_LOG_BYTES);
});
