import { expect, test } from "bun:test";
import { places, put } from "../../../tests/world/places.ts";
import { Fault } from "../../base/fault.ts";
import type { Disk } from "../../world/disk.ts";
import { realDisk } from "../../world/real/disk.ts";
import { isReadable } from "./readable.ts";

const place = places();

test("a file is readable to its end, or not; a missing file is not a problem", () => {
  const { disk, root } = place(realDisk);
  const path = `${root}/tape`;
  put(disk, path, "x".repeat((1 << 20) + 3));
  expect([isReadable(disk, path), isReadable(disk, `${root}/gone`), isReadable(disk, root)]).toEqual([
    true,
    true,
    false,
  ]);
  const bad: Disk = {
    ...disk,
    open: (at, how) => {
      const file = disk.open(at, how);
      const whole = file.read.bind(file);
      const read = (into: Uint8Array, offset: number): number => {
        if (offset < 1 << 20) return whole(into, offset);
        throw new Fault({ code: "EIO", operation: "read", path });
      };
      return Object.assign(file, { read });
    },
  };
  expect(isReadable(bad, path)).toBe(false);
});
