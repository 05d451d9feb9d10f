// Claims about the simulated disk: what it forgets, what it keeps, and that it can be forked without side effects.
import { describe, expect, test } from "bun:test";
import { SimDisk } from "./disk.ts";
import type { SimFile } from "./file.ts";
import { everything, nothing, survivors } from "./survive.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (disk: SimDisk, path: string): string | undefined => {
  const found = disk.peek(path);
  return found && new TextDecoder().decode(found);
};

/** A disk with the durable, empty directory /d and the durable file /d/a = "old". */
function planted(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/d/a", bytes("old"));
  return disk;
}

function overwrite(disk: SimDisk, path: string, content: string): SimFile {
  const file = disk.open(path, "create");
  file.truncate(0);
  file.write(bytes(content), 0);
  return file;
}

describe("what a power cut takes", () => {
  test("unsynced bytes may vanish and may stay", () => {
    const disk = planted();
    disk.open("/d/a", "write").write(bytes("new"), 0);
    expect(text(disk, "/d/a")).toBe("new");
    expect(text(disk.powerCut(nothing), "/d/a")).toBe("old");
    expect(text(disk.powerCut(everything), "/d/a")).toBe("new");
  });

  test("synced bytes stay, whatever survives of the rest", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    file.datasyncBlocking();
    file.write(bytes("!!!"), 3);
    expect(text(disk.powerCut(nothing), "/d/a")).toBe("new");
    expect(disk.powerCut(nothing).pending()).toEqual([]);
  });

  test("a synced file is gone when its directory was not synced", async () => {
    const disk = planted();
    await overwrite(disk, "/d/b", "here").sync();
    expect(disk.powerCut(nothing).stat("/d/b")).toBeUndefined();
    await disk.syncDirectory("/d");
    expect(text(disk.powerCut(nothing), "/d/b")).toBe("here");
  });

  test("a name without its bytes is an empty file", async () => {
    const disk = planted();
    overwrite(disk, "/d/b", "here");
    await disk.syncDirectory("/d");
    expect(text(disk.powerCut(nothing), "/d/b")).toBe("");
  });

  test("a new directory is gone with all it holds when its parent was not synced", async () => {
    const disk = planted();
    disk.makeDirectory("/d/e");
    await overwrite(disk, "/d/e/b", "here").sync();
    await disk.syncDirectory("/d/e");
    expect(disk.powerCut(nothing).list("/d")).toEqual(["a"]);
    await disk.syncDirectory("/d");
    expect(text(disk.powerCut(nothing), "/d/e/b")).toBe("here");
  });

  test("an unsynced rename happened or did not, and never half", async () => {
    const disk = planted();
    await overwrite(disk, "/d/t", "new").sync();
    await disk.syncDirectory("/d");
    disk.rename("/d/t", "/d/a");
    const found = [...survivors(disk.pending())].map((choose) => disk.powerCut(choose));
    expect(found.map((after) => [text(after, "/d/a"), text(after, "/d/t")])).toEqual([
      ["old", "new"],
      ["new", undefined],
    ]);
  });

  test("a rename across directories can leave both names, or none", async () => {
    const disk = planted();
    disk.plant("/e/x", bytes("x"));
    disk.rename("/d/a", "/e/a");
    const names = [...survivors(disk.pending())].map((choose) => {
      const after = disk.powerCut(choose);
      return [...after.list("/d"), ...after.list("/e")].join();
    });
    expect(names.sort()).toEqual(["a,x", "a,x,a", "x", "x,a"]);
  });

  test("every combination of pending writes is enumerated once", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    for (let at = 0; at < 5; at += 1) file.write(bytes("*"), at);
    const found = [...survivors(disk.pending())].map((choose) => text(disk.powerCut(choose), "/d/a"));
    expect(found.length).toBe(32);
    expect(new Set(found).size).toBe(32);
    expect([...survivors(disk.pending(), 4)].length).toBe(12);
  });
});

describe("a killed process", () => {
  test("leaves the page cache, which a later power cut still takes", () => {
    const disk = planted();
    disk.open("/d/a", "write").write(bytes("new"), 0);
    const next = disk.processKill();
    expect(text(next, "/d/a")).toBe("new");
    expect(text(next.powerCut(nothing), "/d/a")).toBe("old");
  });

  test("leaves pending writes that the next process can make durable with its own sync", () => {
    const disk = planted();
    disk.open("/d/a", "write").write(bytes("new"), 0);
    const next = disk.processKill();
    next.open("/d/a", "read").datasyncBlocking();
    expect(text(next.powerCut(nothing), "/d/a")).toBe("new");
  });

  test("leaves no lock behind", () => {
    const disk = planted();
    expect(disk.open("/d/a", "write").tryLock()).toBe(true);
    expect(disk.open("/d/a", "write").tryLock()).toBe(false);
    expect(disk.processKill().open("/d/a", "write").tryLock()).toBe(true);
    expect(disk.powerCut(nothing).open("/d/a", "write").tryLock()).toBe(true);
  });
});

test("unreachable files are forgotten, those held open are not", async () => {
  const disk = planted();
  const held = overwrite(disk, "/d/held", "held");
  disk.unlink("/d/held");
  for (let round = 0; round < 500; round += 1) {
    overwrite(disk, "/d/t", String(round)).close();
    disk.rename("/d/t", "/d/a");
    await disk.syncDirectory("/d");
  }
  expect(disk.tree.size).toBeLessThan(100);
  expect([held.size(), text(disk, "/d/a")]).toEqual([4, "499"]);
});

describe("a fork", () => {
  test("and its origin do not see each other's writes, syncs and names", async () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    file.write(bytes("one"), 0);
    const twin = disk.fork();
    file.write(bytes("two"), 0);
    file.datasyncBlocking();
    twin.unlink("/d/a");
    twin.plant("/d/b", bytes("b"));
    await twin.syncDirectory("/d");
    expect(text(disk.powerCut(nothing), "/d/a")).toBe("two");
    expect(disk.list("/d")).toEqual(["a"]);
    expect(twin.powerCut(nothing).list("/d")).toEqual(["b"]);
  });

  test("continues counting calls, and carries hooks only when asked", () => {
    const disk = planted();
    disk.onCall = () => undefined;
    disk.list("/d");
    expect(disk.fork().calls).toBe(1);
    expect(disk.fork().onCall).toBeUndefined();
    expect(disk.fork("with hooks").onCall).toBeDefined();
  });

  test("of a power-cut disk leaves the disk before the cut as it was", () => {
    const disk = planted();
    disk.open("/d/a", "write").write(bytes("new"), 0);
    const after = disk.powerCut(nothing);
    after.open("/d/a", "write").write(bytes("XXX"), 0);
    expect(text(disk, "/d/a")).toBe("new");
    expect(text(disk.powerCut(nothing), "/d/a")).toBe("old");
  });
});
