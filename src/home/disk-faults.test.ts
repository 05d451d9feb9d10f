// Which failed writes a daemon reports, and for how long.
import { expect, test } from "bun:test";
import { Fault } from "../base/fault.ts";
import type { Disk, OpenFile } from "../world/disk.ts";
import { DiskFaults } from "./disk-faults.ts";

const FILE = "/h/a";

/** A disk on which the next write fails as told. */
function site() {
  let elapsed = 0;
  let code: string | undefined;
  const clock = {
    now: () => 0,
    minutesAhead: () => 0,
    elapsed: () => elapsed,
    sinceBoot: () => elapsed,
    after: () => () => undefined,
    soon: () => undefined,
  };
  const write = (path: string) => {
    if (code !== undefined) throw new Fault({ code, operation: "write", path });
    return 1;
  };
  const file = (path: string): OpenFile => ({
    ...{ path, size: () => 0, read: () => 0, truncate: () => undefined, tryLock: () => true, close: () => undefined },
    ...{ datasync: async () => undefined, datasyncBlocking: () => undefined, sync: async () => undefined },
    ...{ startSync: () => undefined, write: () => write(path) },
  });
  const open = (path: string) => {
    if (code === "EMFILE" || code === "ENFILE") write(path);
    return file(path);
  };
  const disk: Disk = {
    ...{ open, stat: () => undefined, lstat: () => undefined, realPath: () => undefined },
    ...{ list: () => [], makeDirectory: () => true, rename: () => undefined },
    ...{ link: () => undefined, unlink: () => undefined, removeDirectory: () => undefined },
    ...{ syncDirectory: async () => undefined, free: () => 0 },
  };
  const faults = new DiskFaults(clock);
  const watched = faults.watch(disk);
  const put = (path: string, failing?: string) => {
    code = failing;
    try {
      watched.open(path, "create").write(new Uint8Array(1), 0);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    return faults.trouble?.code;
  };
  const read = (path: string, failing?: string) => {
    code = failing;
    try {
      watched.open(path, "read");
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    return faults.trouble?.code;
  };
  return { put, read, faults, wait: (ms: number) => (elapsed += ms) };
}

test("FW2 a failed write is reported until the same file can be written", () => {
  const { put, faults } = site();
  expect(put(FILE)).toBeUndefined();
  expect(put(FILE, "EIO")).toBe("EIO");
  expect(faults.trouble).toMatchObject({ operation: "write", path: FILE, since: "1970-01-01T00:00:00.000Z" });
  expect(faults.trouble?.hint).toContain("dmesg");
  expect(put("/h/b")).toBe("EIO");
  expect(put(FILE)).toBeUndefined();
});

test.each(["EROFS", "ENOSPC", "EDQUOT"])(
  "FW2 %s concerns all files, so any file that can be written ends it",
  (code) => {
    const { put } = site();
    expect(put(FILE, code)).toBe(code);
    expect(put("/h/b")).toBeUndefined();
  },
);

test("FW2 a while later any write ends it, and a repeated failure begins anew", () => {
  const { put, wait } = site();
  put(FILE, "EIO");
  wait(4_000);
  put(FILE, "EIO");
  wait(4_000);
  expect(put("/h/b")).toBe("EIO");
  wait(4_000);
  expect(put("/h/b")).toBeUndefined();
});

test.each(["EMFILE", "ENFILE"])("FW1 %s is reported until a file can be opened as before", (code) => {
  const { put, read, faults } = site();
  expect(read(FILE, code)).toBe(code);
  expect(faults.trouble).toMatchObject({ operation: "read", hint: expect.stringContaining("open files") });
  expect(read("/h/b")).toBeUndefined();
  expect(put(FILE, code)).toBe(code);
  expect(read(FILE)).toBe(code);
  expect(put("/h/b")).toBeUndefined();
});

test("FW2 a disk that can still be read does not end the failure of its writes", () => {
  const { put, read, wait } = site();
  expect(put(FILE, "EROFS")).toBe("EROFS");
  wait(6_000);
  expect(read(FILE)).toBe("EROFS");
});

test("FW1 what is not a failure of the disk is not reported", () => {
  const { put } = site();
  for (const code of ["ENOENT", "EEXIST", "EAGAIN"]) expect(put(FILE, code)).toBeUndefined();
});
