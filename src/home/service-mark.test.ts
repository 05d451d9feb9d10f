import { describe, expect, test } from "bun:test";
import { DISKS, places, put } from "../../tests/world/places.ts";
import { readServiceMark, removeServiceMark, serviceMarkPath, writeServiceMark } from "./service-mark.ts";

const place = places();

for (const [name, make] of Object.entries(DISKS)) {
  describe(`on a ${name} disk`, () => {
    test("M1 the mark counts while its unit exists, and not if it cannot be read", async () => {
      const { disk, root } = place(make);
      const unit = `${root}/holdfast.service`;
      expect(readServiceMark(disk, root)).toBeUndefined();
      await writeServiceMark(disk, root, { manager: "systemd", unit });
      expect(readServiceMark(disk, root)).toBeUndefined();
      put(disk, unit, "[Unit]");
      expect(readServiceMark(disk, root)).toEqual({ manager: "systemd", unit });
      expect([await removeServiceMark(disk, root), await removeServiceMark(disk, root)]).toEqual([true, false]);
      expect(readServiceMark(disk, root)).toBeUndefined();
      put(disk, serviceMarkPath(root), `{"manager":"sys`);
      expect(readServiceMark(disk, root)).toBeUndefined();
    });
  });
}
