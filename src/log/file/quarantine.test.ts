// Tests of the quarantine: nothing is lost, duplicated or overwritten.
import { describe, expect, test } from "bun:test";
import type { SimDisk } from "../../../tests/sim/disk.ts";
import { SimDisk as Simulated } from "../../../tests/sim/disk.ts";
import { everyCrash } from "../../../tests/sim/every-crash.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes, DISKS, get, places } from "../../../tests/world/places.ts";
import { sha256 } from "../../world/hash.ts";
import { type Damage, listQuarantine, quarantine, quarantineUnread } from "./quarantine.ts";

const place = places();
const TORN = bytes("torn ".repeat(300));
const damage: Damage = { name: "wal-3", from: "wal/3.wal", offset: 42, reason: "torn tail", at: Date.UTC(2026, 0, 1) };

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("bytes are set aside with a note about where they were and why", async () => {
      const { disk, root } = place(make);
      const path = await quarantine(disk, root, damage, TORN);
      expect(path).toBe(`${root}/quarantine/wal-3-${sha256(TORN).slice(0, 12)}`);
      expect(get(disk, path)).toBe("torn ".repeat(300));
      expect(JSON.parse(get(disk, `${path}.note.json`))).toEqual({
        from: "wal/3.wal",
        offset: 42,
        length: TORN.length,
        reason: "torn tail",
        at: "2026-01-01T00:00:00.000Z",
        sha256: sha256(TORN),
      });
    });

    test("repeating it makes no second copy and keeps the first time", async () => {
      const { disk, root } = place(make);
      const path = await quarantine(disk, root, damage, TORN);
      expect(await quarantine(disk, root, { ...damage, at: damage.at + 5000 }, TORN)).toBe(path);
      expect(disk.list(`${root}/quarantine`).length).toBe(2);
      expect(listQuarantine(disk, root)[0]?.notes[0]?.at).toBe("2026-01-01T00:00:00.000Z");
    });

    test("the same bytes from another place get their own note", async () => {
      const { disk, root } = place(make);
      await quarantine(disk, root, damage, TORN);
      await quarantine(disk, root, { ...damage, offset: 99 }, TORN);
      const items = listQuarantine(disk, root);
      expect(items.length).toBe(1);
      expect(items[0]?.notes.map((note) => note.offset).sort()).toEqual([42, 99]);
    });

    test("a name never leads out of the directory", async () => {
      const { disk, root } = place(make);
      const path = await quarantine(disk, root, { ...damage, name: "../../etc/pass wd" }, TORN);
      expect(path.startsWith(`${root}/quarantine/-..-etc-pass-wd-`)).toBe(true);
    });

    test("an empty quarantine lists nothing, and a damaged note is left out", async () => {
      const { disk, root } = place(make);
      expect(listQuarantine(disk, root)).toEqual([]);
      const path = await quarantine(disk, root, damage, TORN);
      for (const content of ["{", "[]", '{"from":1,"offset":1,"length":1,"reason":"","at":"","sha256":""}']) {
        const note = disk.open(`${path}.note.json`, "write");
        note.truncate(0);
        note.write(bytes(content), 0);
        note.close();
        expect(listQuarantine(disk, root)).toEqual([{ path, size: TORN.length, notes: [] }]);
      }
    });
  });
}

test("other bytes under the same name are never overwritten", async () => {
  const disk = new Simulated();
  const short = `/home/quarantine/wal-3-${sha256(TORN).slice(0, 12)}`;
  const long = `/home/quarantine/wal-3-${sha256(TORN)}`;
  disk.plant(short, bytes("different"));
  expect(await quarantine(disk, "/home", damage, TORN)).toBe(long);
  disk.plant(long, bytes("rotten"));
  expect(await quarantine(disk, "/home", damage, TORN)).toBe(`${long}-2`);
  expect(get(disk, short)).toBe("different");
  expect(get(disk, long)).toBe("rotten");
});

test("a file that the disk cannot read is set aside under a second name", async () => {
  const disk = new Simulated();
  disk.plant("/home/a/checkpoint.json", TORN);
  const unread = { ...damage, name: "checkpoint.json", from: "/home/a/checkpoint.json" };
  expect(await quarantineUnread(disk, "/home", unread)).toBe("/home/quarantine/checkpoint.json-unreadable-1");
  expect(await quarantineUnread(disk, "/home", unread)).toBe("/home/quarantine/checkpoint.json-unreadable-2");
  const after = disk.powerCut(nothing);
  expect(listQuarantine(after, "/home").map((item) => [item.size, item.notes.length])).toEqual([
    [TORN.length, 1],
    [TORN.length, 1],
  ]);
});

test("once acknowledged, it survives every crash; a crash before that makes no second copy", async () => {
  const start = new Simulated();
  start.plant("/home/wal", TORN);
  const live = async (disk: SimDisk, promised: (is: boolean) => void) => {
    await quarantine(disk, "/home", damage, TORN);
    promised(true);
  };
  const check = async (disk: SimDisk, promised: boolean) => {
    if (promised) expect(listQuarantine(disk, "/home")[0]?.notes.length).toBe(1);
    const path = await quarantine(disk, "/home", damage, TORN);
    const after = disk.powerCut(nothing);
    expect(listQuarantine(after, "/home").map((item) => [item.path, item.size, item.notes.length])).toEqual([
      [path, TORN.length, 1],
    ]);
    expect(get(after, path)).toBe("torn ".repeat(300));
  };
  expect(await everyCrash({ start, nothingPromised: false, live, check })).toBeGreaterThan(300);
});
