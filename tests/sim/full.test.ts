// Claims about a simulated disk without room.
import { describe, expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { SimDisk } from "./disk.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function planted(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/d/a", bytes("old"));
  return disk;
}

describe("a full disk", () => {
  test("takes a short write first, then none, and still lets written bytes be written again", () => {
    const disk = planted();
    disk.capacity = 8;
    const file = disk.open("/d/b", "create");
    expect(disk.free("/")).toBe(5);
    expect(file.write(bytes("1234567"), 0)).toBe(5);
    expect(() => file.write(bytes("67"), 5)).toThrow(Fault);
    expect(file.write(bytes("abcde"), 0)).toBe(5);
    expect(file.write(bytes("ABC"), 4)).toBe(1);
    expect(disk.fired.map(({ choice }) => choice)).toEqual([{ kind: "fail", code: "ENOSPC" }]);
  });

  test("gets room back when the last name and the last open file are gone", () => {
    const disk = planted();
    disk.capacity = 3;
    disk.link("/d/a", "/d/b");
    const file = disk.open("/d/a", "read");
    disk.unlink("/d/a");
    expect(disk.free("/")).toBe(0);
    disk.unlink("/d/b");
    expect(disk.free("/")).toBe(0);
    file.close();
    expect(disk.free("/")).toBe(3);
  });

  test("may refuse to fill space that truncate only promised", () => {
    const disk = planted();
    disk.capacity = 4;
    const file = disk.open("/d/b", "create");
    file.truncate(100);
    expect(file.write(bytes("12"), 0)).toBe(1);
  });
});
