// Tests of the ballast: it exists while there is room, is removed when needed, and never gets in the way.
import { describe, expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { bytes, DISKS, faultOf, places, put } from "../../../tests/world/places.ts";
import { BallastKeeper, giveUpBallast, keepBallast } from "./ballast.ts";

const place = places();
const SIZE = 3 * 1024 * 1024 + 7;

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("it is kept at its size, completed if it is too short, cut if it is too long, and removed once", async () => {
      const { disk, root } = place(make);
      put(disk, `${root}/ballast`, "half");
      expect(await keepBallast(disk, root, SIZE)).toBe(true);
      expect(disk.stat(`${root}/ballast`)?.size).toBe(SIZE);
      expect(await keepBallast(disk, root, SIZE)).toBe(true);
      expect(await keepBallast(disk, root, 4096)).toBe(true);
      expect(disk.stat(`${root}/ballast`)?.size).toBe(4096);
      expect(await keepBallast(disk, root, 0)).toBe(true);
      expect(disk.stat(`${root}/ballast`)).toBeUndefined();
      expect(await keepBallast(disk, root, SIZE)).toBe(true);
      expect(await giveUpBallast(disk, root)).toBe(true);
      expect(await giveUpBallast(disk, root)).toBe(false);
      expect(disk.list(root)).toEqual([]);
    });
  });
}

function home(capacity: number): SimDisk {
  const disk = new SimDisk();
  disk.plant("/home/x", bytes(""));
  disk.capacity = capacity;
  return disk;
}

test("none is made with less than four times its size free", async () => {
  const disk = home(SIZE * 4 - 1);
  expect(await keepBallast(disk, "/home", SIZE)).toBe(false);
  expect(disk.stat("/home/ballast")).toBeUndefined();
  disk.capacity = SIZE * 4;
  expect(await keepBallast(disk, "/home", SIZE)).toBe(true);
});

test("B2 it has real bytes: every one of them is written", async () => {
  const disk = home(SIZE * 8);
  let written = 0;
  disk.onCall = ({ operation, length }) => {
    if (operation === "write") written += length;
  };
  expect(await keepBallast(disk, "/home", SIZE)).toBe(true);
  expect(written).toBe(SIZE);
});

test("after its removal, its room can be written on a full disk", async () => {
  const disk = home(4000);
  expect(await keepBallast(disk, "/home", 1000)).toBe(true);
  put(disk, "/home/full", "x".repeat(3000));
  expect(faultOf(() => put(disk, "/home/more", "y"))).toBe("write more ENOSPC");
  expect(await giveUpBallast(disk, "/home")).toBe(true);
  put(disk, "/home/more", "y".repeat(900));
  expect(disk.powerCut(nothing).stat("/home/ballast")).toBeUndefined();
});

for (const operation of ["write", "sync", "open"] as const) {
  test(`a failed ${operation} is only a negative result, and leaves no half ballast`, async () => {
    const disk = home(Number.POSITIVE_INFINITY);
    disk.fault = (call) => (call.operation === operation ? { kind: "fail", code: "ENOSPC" } : undefined);
    expect(await keepBallast(disk, "/home", SIZE)).toBe(false);
    expect(disk.fired.length).toBe(1);
    expect(disk.stat("/home/ballast")).toBeUndefined();
    expect(disk.openCount).toBe(0);
  });
}

test("if even the removal fails, it is still only a negative result", async () => {
  const disk = home(Number.POSITIVE_INFINITY);
  disk.fault = ({ operation }) =>
    operation === "write" || operation === "unlink" ? { kind: "fail", code: "EIO" } : undefined;
  expect(await keepBallast(disk, "/home", SIZE)).toBe(false);
  expect(disk.fired.length).toBe(2);
});

test("a ballast that had to be given up is made again once there is room, but not looked for all the time", async () => {
  const [disk, clock] = [home(4000), new SimClock()];
  const keeper = new BallastKeeper({ disk, clock, home: "/home" }, 1000);
  const there = () => disk.stat("/home/ballast")?.size;
  put(disk, "/home/full", "x".repeat(3500));
  await keeper.tend();
  expect(there()).toBeUndefined();
  disk.unlink("/home/full");
  await keeper.tend();
  expect(there()).toBeUndefined();
  clock.advance(31_000);
  await keeper.tend();
  expect(there()).toBe(1000);
});
