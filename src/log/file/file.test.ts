// Tests of the basic file operations.
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { bytes, DISKS, faultOf, get, places, put } from "../../../tests/world/places.ts";
import { baseName, joinPath, parentOf } from "../../base/path.ts";
import { realDisk } from "../../world/real/disk.ts";
import {
  listWithin,
  makeDirectories,
  openRetrying,
  readAll,
  readWhole,
  removeStaleTemps,
  removeTree,
  writeAll,
} from "./file.ts";

const place = places();
const text = (found: Uint8Array | undefined): string => new TextDecoder().decode(found);

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("what was written whole is read whole, also from the middle and beyond the end", () => {
      const { disk, root } = place(make);
      const file = openRetrying(disk, `${root}/a`, "create");
      writeAll(file, bytes("hello world"), 0);
      writeAll(file, bytes("W"), 6);
      expect(text(readAll(file, 6, 100))).toBe("World");
      expect(readAll(file, 50, 10).length).toBe(0);
      file.close();
      expect(text(readWhole(disk, `${root}/a`))).toBe("hello World");
    });

    test("a missing file is undefined, an empty one is empty", () => {
      const { disk, root } = place(make);
      put(disk, `${root}/empty`, "");
      expect(readWhole(disk, `${root}/missing`)).toBeUndefined();
      expect(readWhole(disk, `${root}/empty`)?.length).toBe(0);
    });

    test("missing levels are made, and their parents must be synced, outermost first", () => {
      const { disk, root } = place(make);
      expect(makeDirectories(disk, `${root}/a/b/c`)).toEqual([root, `${root}/a`, `${root}/a/b`]);
      expect(disk.stat(`${root}/a/b/c`)?.kind).toBe("directory");
      expect(makeDirectories(disk, `${root}/a/b/c`)).toEqual([]);
    });

    test("existing levels below a home must be synced too: their maker may have been killed", () => {
      const { disk, root } = place(make);
      makeDirectories(disk, `${root}/a/b`);
      expect(makeDirectories(disk, `${root}/a/b`, root)).toEqual([root, `${root}/a`]);
    });

    test("EL-4(b) a stale temporary file is removed, one that a living writer has locked is not", () => {
      const { disk, root } = place(make);
      put(disk, `${root}/a.tmp`, "stale");
      put(disk, `${root}/b.tmp`, "alive");
      put(disk, `${root}/c.json`, "kept");
      const writer = disk.open(`${root}/b.tmp`, "write");
      expect(writer.tryLock()).toBe(true);
      expect(removeStaleTemps(disk, root)).toBe(1);
      expect(disk.list(root).sort()).toEqual(["b.tmp", "c.json"]);
      writer.close();
      expect(removeStaleTemps(disk, root, "x")).toBe(0);
      expect(removeStaleTemps(disk, root, "b")).toBe(1);
    });
  });
}

test("short writes and short reads are continued", () => {
  const disk = new SimDisk();
  disk.fault = ({ operation }) =>
    operation === "write" || operation === "read" ? { kind: "short", bytes: 3 } : undefined;
  const file = openRetrying(disk, "/a", "create");
  writeAll(file, bytes("0123456789"), 0);
  expect(text(readAll(file, 0, 10))).toBe("0123456789");
  expect(disk.fired.length).toBe(8);
});

test("an interrupted open, read or write is retried", () => {
  const disk = new SimDisk();
  disk.fault = ({ index }) => (index % 2 === 1 ? { kind: "fail", code: "EINTR" } : undefined);
  const file = openRetrying(disk, "/a", "create");
  writeAll(file, bytes("abc"), 0);
  expect(text(readAll(file, 0, 3))).toBe("abc");
  expect(disk.fired.length).toBe(3);
});

test("a call that is interrupted for ever is a Fault, not a hang", () => {
  const disk = new SimDisk();
  disk.fault = () => ({ kind: "fail", code: "EINTR" });
  expect(faultOf(() => openRetrying(disk, "/a", "create"))).toBe("open a EINTR");
});

test("a write that accepts no bytes is a Fault, not an endless loop", () => {
  const disk = new SimDisk();
  disk.fault = ({ operation }) => (operation === "write" ? { kind: "short", bytes: 0 } : undefined);
  const file = disk.open("/a", "create");
  const zero = { ...file, path: "/a", write: () => 0 };
  expect(faultOf(() => writeAll(Object.assign(Object.create(file), zero), bytes("x"), 0))).toBe("write a EIO");
});

test("a temporary file that we may not open is left alone", () => {
  const disk = new SimDisk();
  put(disk, "/a.tmp", "x");
  disk.fault = ({ operation }) => (operation === "open" ? { kind: "fail", code: "EACCES" } : undefined);
  expect(removeStaleTemps(disk, "/")).toBe(0);
  expect(disk.fired.length).toBe(1);
  disk.fault = ({ operation }) => (operation === "unlink" ? { kind: "fail", code: "EIO" } : undefined);
  expect(faultOf(() => removeStaleTemps(disk, "/"))).toBe("unlink a.tmp EIO");
  expect(get(disk, "/a.tmp")).toBe("x");
  expect(disk.openCount).toBe(0);
});

test("removing a tree removes symbolic links in it, and nothing behind them", () => {
  const { disk, root } = place(realDisk);
  makeDirectories(disk, `${root}/tree/below`);
  makeDirectories(disk, `${root}/kept`);
  put(disk, `${root}/kept/file`, "mine");
  put(disk, `${root}/tree/below/file`, "theirs");
  symlinkSync(`${root}/kept`, `${root}/tree/below/directory`);
  symlinkSync(`${root}/kept/file`, `${root}/tree/file`);
  symlinkSync("nowhere", `${root}/tree/dangling`);
  symlinkSync(`${root}/kept`, `${root}/link`);
  expect([disk.lstat(`${root}/link`)?.kind, disk.stat(`${root}/link`)?.kind]).toEqual(["other", "directory"]);
  expect(disk.realPath(`${root}/link/file`)).toBe(disk.realPath(`${root}/kept/file`));
  expect([listWithin(disk, `${root}/link`), listWithin(disk, `${root}/kept`)]).toEqual([[], ["file"]]);
  removeTree(disk, `${root}/tree`);
  removeTree(disk, `${root}/link`);
  expect(disk.list(root)).toEqual(["kept"]);
  expect(get(disk, `${root}/kept/file`)).toBe("mine");
});

test("paths are joined and split as in POSIX", () => {
  expect([joinPath("/a", "b"), joinPath("/", "b"), joinPath("/a/", "b")]).toEqual(["/a/b", "/b", "/a/b"]);
  expect([parentOf("/a/b"), parentOf("/a"), parentOf("/"), parentOf("a")]).toEqual(["/a", "/", "/", "."]);
  expect([baseName("/a/b"), baseName("a")]).toEqual(["b", "a"]);
});
