// One suite of claims about `Disk`, held against the machine's own disk and the simulated one: without crashes they are
// the same.
import { describe, expect, test } from "bun:test";
import { AssertionError } from "../../src/base/assert.ts";
import type { OpenFile } from "../../src/world/disk.ts";
import { bytes, DISKS, faultOf, get, places, put } from "./places.ts";

const fresh = places();

function using(file: OpenFile, act: (file: OpenFile) => void): void {
  act(file);
  file.close();
}

for (const [name, make] of Object.entries(DISKS)) {
  describe(`the ${name} disk`, () => {
    test("opens by four modes, each with its own refusal", () => {
      const { disk, root } = fresh(make);
      expect(faultOf(() => disk.open(`${root}/a`, "read"))).toBe("open a ENOENT");
      expect(faultOf(() => disk.open(`${root}/a`, "write"))).toBe("open a ENOENT");
      disk.open(`${root}/a`, "create").close();
      disk.open(`${root}/a`, "create").close();
      disk.open(`${root}/b`, "exclusive").close();
      expect(faultOf(() => disk.open(`${root}/b`, "exclusive"))).toBe("open b EEXIST");
      expect(faultOf(() => disk.open(`${root}/none/c`, "create"))).toBe("open c ENOENT");
      expect(faultOf(() => disk.open(`${root}/a/c`, "create"))).toBe("open c ENOTDIR");
      expect(faultOf(() => disk.open(root, "write"))).toEndWith("EISDIR");
      expect(disk.list(root).sort()).toEqual(["a", "b"]);
    });

    test("keeps existing content when it opens, and writes nothing through a file opened for reading", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "old");
      put(disk, `${root}/a`, "n");
      expect(get(disk, `${root}/a`)).toBe("nld");
      using(disk.open(`${root}/a`, "read"), (file) => {
        expect(faultOf(() => file.write(bytes("x"), 0))).toBe("write a EBADF");
        expect(faultOf(() => file.truncate(0))).toBe("truncate a EINVAL");
      });
    });

    test("reads less at the end, and 0 beyond it", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "12345");
      using(disk.open(`${root}/a`, "read"), (file) => {
        const into = new Uint8Array(4);
        expect([file.read(into, 0), file.read(into, 3), file.read(into, 5), file.read(into, 99)]).toEqual([4, 2, 0, 0]);
        expect([...into]).toEqual([...bytes("4534")]);
        expect(file.read(new Uint8Array(0), 0)).toBe(0);
      });
    });

    test("fills holes and lengthened files with zeros", () => {
      const { disk, root } = fresh(make);
      using(disk.open(`${root}/a`, "create"), (file) => {
        expect(file.write(bytes("b"), 2)).toBe(1);
        file.truncate(5);
        expect(file.size()).toBe(5);
        file.truncate(1);
        file.truncate(3);
        expect(file.write(new Uint8Array(0), 9)).toBe(0);
      });
      expect(get(disk, `${root}/a`)).toBe("\0\0\0");
      expect(disk.stat(`${root}/a`)).toMatchObject({ kind: "file", size: 3, mode: 0o600 });
    });

    test("tells files, directories and nothing apart", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "1");
      expect(disk.stat(root)).toMatchObject({ kind: "directory", mode: 0o700 });
      expect([disk.stat(`${root}/b`), disk.stat(`${root}/b/c`), disk.stat(`${root}/a/c`)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect([disk.list(`${root}/b`), disk.list(`${root}/a`)]).toEqual([[], []]);
    });

    test("makes one directory at a time, and says whether it was there", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "1");
      expect([disk.makeDirectory(`${root}/d`), disk.makeDirectory(`${root}/d`)]).toEqual([true, false]);
      expect(faultOf(() => disk.makeDirectory(`${root}/e/f`))).toBe("makeDirectory f ENOENT");
      expect(faultOf(() => disk.makeDirectory(`${root}/a`))).toBe("makeDirectory a EEXIST");
    });

    test("removes only empty directories, and only files by unlink", () => {
      const { disk, root } = fresh(make);
      disk.makeDirectory(`${root}/d`);
      put(disk, `${root}/d/a`, "1");
      expect(faultOf(() => disk.removeDirectory(`${root}/d`))).toBe("removeDirectory d ENOTEMPTY");
      expect(faultOf(() => disk.removeDirectory(`${root}/d/a`))).toBe("removeDirectory a ENOTDIR");
      expect(faultOf(() => disk.unlink(`${root}/d`))).toBe("unlink d EISDIR");
      disk.unlink(`${root}/d/a`);
      expect(faultOf(() => disk.unlink(`${root}/d/a`))).toBe("unlink a ENOENT");
      disk.removeDirectory(`${root}/d`);
      expect(faultOf(() => disk.removeDirectory(`${root}/d`))).toBe("removeDirectory d ENOENT");
    });

    test("keeps an unlinked file for the processes that have it open", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "still");
      using(disk.open(`${root}/a`, "read"), (file) => {
        disk.unlink(`${root}/a`);
        put(disk, `${root}/a`, "other");
        expect(file.read(new Uint8Array(9), 0)).toBe(5);
      });
    });

    test("syncs files and directories, and refuses to sync missing ones", async () => {
      const { disk, root } = fresh(make);
      const file = disk.open(`${root}/a`, "create");
      file.write(bytes("1"), 0);
      file.startSync();
      await file.datasync();
      await file.sync();
      file.datasyncBlocking();
      file.close();
      await disk.syncDirectory(root);
      expect(await disk.syncDirectory(`${root}/none`).catch((error) => error.code)).toBe("ENOENT");
      expect(await disk.syncDirectory(`${root}/a`).catch((error) => error.code)).toBe("ENOTDIR");
      expect(disk.free(root)).toBeGreaterThan(0);
    });

    test("asserts when a closed file is used", () => {
      const { disk, root } = fresh(make);
      const file = disk.open(`${root}/a`, "create");
      file.close();
      expect(() => file.read(new Uint8Array(1), 0)).toThrow(AssertionError);
      expect(() => file.close()).toThrow(AssertionError);
    });

    test("gives a lock to one open file at a time", () => {
      const { disk, root } = fresh(make);
      const [one, two] = [disk.open(`${root}/a`, "create"), disk.open(`${root}/a`, "create")];
      expect([one.tryLock(), one.tryLock(), two.tryLock()]).toEqual([true, true, false]);
      one.close();
      expect(two.tryLock()).toBe(true);
      two.close();
    });
  });
}
