import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { nothing } from "../../tests/sim/survive.ts";
import { simWorld } from "../../tests/sim/world.ts";
import { Fault } from "../base/fault.ts";
import { readWhole } from "../log/file/file.ts";
import { parseExit } from "../wire/holder/json.ts";
import type { Disk, Stat } from "../world/disk.ts";
import { claim, recordExit } from "./records.ts";

const EXIT = { v: 1, generation: 1, code: 3, signal: null, bootId: "b", offset: 9, at: "2026-01-01T00:00:00.000Z" };

/** A disk whose `stat` fails `left` times. */
class FailingLooks extends SimDisk {
  left = 0;

  override stat(path: string): Stat | undefined {
    if (this.left === 0) return super.stat(path);
    this.left -= 1;
    throw new Fault({ code: "EIO", operation: "stat", path });
  }
}

test("an end is recorded even if the disk fails to look up the terminal's directory at first", async () => {
  const disk = new FailingLooks();
  disk.makeDirectory("/t");
  disk.left = 2;
  const world = simWorld(1, disk);
  const recorded = recordExit({ ...world, directory: "/t" }, EXIT);
  for (let looks = 2; looks > 0; looks -= 1) {
    expect(disk.left).toBe(looks - 1);
    await Promise.resolve();
    world.clock.advance(1000);
    await Promise.resolve();
  }
  await recorded;
  expect(exitIn(disk)).toEqual(EXIT);
});

test("if the terminal's directory is gone, nothing is recorded", async () => {
  const disk = new SimDisk();
  await recordExit({ ...simWorld(1, disk), directory: "/t" }, EXIT);
  expect(disk.list("/")).toEqual([]);
});

test("E1 a claim is durable with the name of its directory, even if its creator did not sync that", async () => {
  const disk = new SimDisk();
  disk.makeDirectory("/t");
  expect(await claim({ ...simWorld(1, disk), directory: "/t" }, 1)).toBe(true);
  expect(disk.powerCut(nothing).list("/t")).toEqual(["claim.json"]);
});

test.each(["/t", "/"])(
  "E1 if the name in %s cannot be made durable, the claim is withdrawn, and made by the next holder",
  async (path) => {
    const disk = new SimDisk();
    disk.makeDirectory("/t");
    const world = { ...simWorld(1, disk), directory: "/t" };
    disk.fault = (call) =>
      call.operation === "syncDirectory" && call.path === path ? { kind: "fail", code: "EIO" } : undefined;
    await expect(claim(world, 1)).rejects.toThrow("EIO");
    expect(disk.list("/t")).toEqual([]);
    disk.fault = () => undefined;
    expect(await claim(world, 1)).toBe(true);
  },
);

test("E1 a claim of another holder is not withdrawn", async () => {
  const disk = new SimDisk();
  disk.makeDirectory("/t");
  expect(await claim({ ...simWorld(1, disk), directory: "/t" }, 1)).toBe(true);
  const processes = { pid: 77, startTime: () => 5, bootId: () => "b" };
  disk.fault = ({ operation }) => (operation === "syncDirectory" ? { kind: "fail", code: "EIO" } : undefined);
  await expect(claim({ ...simWorld(1, disk), processes, directory: "/t" }, 1)).rejects.toThrow("EIO");
  expect(disk.list("/t")).toEqual(["claim.json"]);
});

function exitIn(disk: Disk) {
  const bytes = readWhole(disk, "/t/exit.json");
  return bytes === undefined ? undefined : parseExit(bytes);
}
