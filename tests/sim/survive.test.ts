// Claims about what a power cut leaves of a single write, and about the choosers.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SimDisk } from "./disk.ts";
import { SimRandom } from "./random.ts";
import { everything, randomSurvivor } from "./survive.ts";

function planted(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/d/a", new TextEncoder().encode("old"));
  return disk;
}

describe("what survives in part", () => {
  function longer(): SimDisk {
    const disk = planted();
    disk.open("/d/a", "write").write(new Uint8Array(1200).fill(42), 100);
    return disk;
  }
  const shape = (disk: SimDisk): string =>
    String.fromCharCode(...(disk.peek("/d/a") ?? []).map((byte) => byte || 48)).replace(/(.)\1*/g, (run, one) =>
      run.length > 1 ? `${one}${run.length} ` : run,
    );

  test("a write can be torn at any byte", () => {
    expect(shape(longer().powerCut(() => ({ kind: "torn", bytes: 7 })))).toBe("old097 *7 ");
  });

  test("a write can leave any of its sectors", () => {
    const keep = (sector: number): boolean => sector === 1;
    expect(shape(longer().powerCut(() => ({ kind: "sectors", keep, extend: false })))).toBe("old0509 *512 ");
    expect(shape(longer().powerCut(() => ({ kind: "sectors", keep, extend: true })))).toBe("old0509 *512 0276 ");
  });

  test("a file can get longer without its bytes", () => {
    expect(shape(longer().powerCut(() => ({ kind: "zeros" })))).toBe("old01297 ");
  });

  test("random survivors come in many shapes, and the same seed gives the same ones", () => {
    const shapes = (seed: number): string[] => {
      const random = new SimRandom(seed);
      return Array.from({ length: 200 }, () => shape(longer().powerCut(randomSurvivor(random))));
    };
    expect(new Set(shapes(1)).size).toBeGreaterThan(20);
    expect(shapes(1)).toEqual(shapes(1));
  });
});

test("with everything surviving, a power cut leaves what the processes saw", () => {
  const write = fc.record({ at: fc.nat(2000), length: fc.nat(700), sync: fc.boolean(), cut: fc.option(fc.nat(2000)) });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 12 }), (writes) => {
      const disk = planted();
      const file = disk.open("/d/a", "write");
      for (const { at, length, sync, cut } of writes) {
        file.write(new Uint8Array(length).fill(at % 251), at);
        if (cut !== null) file.truncate(cut);
        if (sync) file.datasyncBlocking();
      }
      expect(disk.powerCut(everything).peek("/d/a")).toEqual(disk.peek("/d/a") ?? new Uint8Array());
    }),
    { numRuns: 200, seed: 1 },
  );
});
