import { expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { readWhole } from "./file.ts";
import { writeUnsynced } from "./unsynced-file.ts";

const text = (disk: SimDisk) => new TextDecoder().decode(readWhole(disk, "/h/a"));

test("it is whole under its name, replaces the previous one, and leaves nothing beside it", () => {
  const disk = new SimDisk();
  disk.makeDirectory("/h");
  writeUnsynced(disk, "/h/a", Buffer.from("a long first one"));
  writeUnsynced(disk, "/h/a", Buffer.from("second"));
  expect([text(disk), disk.list("/h")]).toEqual(["second", ["a"]]);
});

test("a partial file of a killed writer does no harm", () => {
  const disk = new SimDisk();
  disk.makeDirectory("/h");
  disk.open("/h/a.tmp", "create").write(Buffer.from("half of a very long one"), 0);
  writeUnsynced(disk, "/h/a", Buffer.from("whole"));
  expect(text(disk)).toBe("whole");
});
