// Tests of the exclusive file: one of many writers creates it, and it is whole from the first moment.
import { expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { createExclusive } from "./exclusive-file.ts";
import { readWhole } from "./file.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (disk: SimDisk): string | undefined => {
  const found = readWhole(disk, "/t/claim");
  return found === undefined ? undefined : Buffer.from(found).toString();
};

function newDisk(): SimDisk {
  const disk = new SimDisk();
  disk.makeDirectory("/t");
  return disk;
}

test("of many writers one creates it, and the others learn that they did not", async () => {
  const disk = newDisk();
  const tries = await Promise.all(["a", "b", "c"].map((who) => createExclusive(disk, "/t/claim", bytes(who), who)));
  expect(tries.filter((made) => made)).toHaveLength(1);
  expect(text(disk)).toBe(["a", "b", "c"][tries.indexOf(true)]);
  expect(disk.list("/t")).toEqual(["claim"]);
  expect(await createExclusive(disk, "/t/claim", bytes("late"), "d")).toBe(false);
});

test("a full disk leaves no name behind, and the next attempt succeeds", async () => {
  const disk = newDisk();
  disk.fault = ({ operation }) => (operation === "write" ? { kind: "fail", code: "ENOSPC" } : undefined);
  expect(createExclusive(disk, "/t/claim", bytes("a"), "a")).rejects.toMatchObject({ code: "ENOSPC" });
  await new Promise((done) => setImmediate(done));
  disk.fault = undefined;
  expect(disk.list("/t")).toEqual([]);
  expect(await createExclusive(disk, "/t/claim", bytes("b"), "b")).toBe(true);
});

test("a crash at any call leaves nothing or the whole file, and the next process can continue", async () => {
  for (let index = 1; ; index += 1) {
    const disk = newDisk();
    await disk.syncDirectory("/");
    const before = disk.calls;
    disk.crashAt(before + index);
    const made = await createExclusive(disk, "/t/claim", bytes("whole"), "a").catch(() => "crashed" as const);
    if (made === true) return;
    const next = disk.powerCut(nothing);
    expect([undefined, "whole"]).toContain(text(next));
    await createExclusive(next, "/t/claim", bytes("whole"), "a");
    expect(text(next)).toBe("whole");
  }
});

test("X2 once it is announced, no crash takes it away: neither its name nor its bytes", async () => {
  const disk = newDisk();
  await disk.syncDirectory("/");
  expect(await createExclusive(disk, "/t/claim", bytes("whole"), "a")).toBe(true);
  expect(text(disk.powerCut(nothing))).toBe("whole");
});
