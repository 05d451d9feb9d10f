// Tests of the sizes beside a tape: what was recorded is found again, whatever happened to the file meanwhile.
import { expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { readSizes, SizeLog, sizeAt } from "./sizes.ts";

const at = (offset: number, cols = 80, rows = 24) => ({ offset, cols, rows });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function planted(text = ""): SimDisk {
  const disk = new SimDisk();
  disk.plant("/t/other", bytes("x"));
  if (text !== "") disk.plant("/t/sizes.jsonl", bytes(text));
  return disk;
}

test("sizes are durable when `record` resolves, and are found by offset", async () => {
  const disk = planted();
  const log = new SizeLog(disk, "/t");
  expect(readSizes(disk, "/t")).toEqual([]);
  await log.record(at(0));
  await log.record(at(100, 120, 40));
  const sizes = readSizes(disk.powerCut(nothing), "/t");
  expect(sizes).toEqual([at(0), at(100, 120, 40)]);
  expect([0, 99, 100, 5000].map((offset) => sizeAt(sizes, offset, undefined)?.cols)).toEqual([80, 80, 120, 120]);
  expect(sizeAt([], 7, at(0, 5, 5))).toEqual(at(0, 5, 5));
});

test("torn and foreign lines are skipped, and do not spoil lines written after them", async () => {
  const disk = planted(
    '{"offset":0,"cols":80,"rows":24}\nnonsense\n{"offset":3,"cols":0,"rows":1}\n[]\n{"offset":5,"co',
  );
  expect(readSizes(disk, "/t")).toEqual([at(0)]);
  await new SizeLog(disk, "/t").record(at(9, 90));
  expect(readSizes(disk, "/t")).toEqual([at(0), at(9, 90)]);
});

test("a line overrides those at its offset or beyond: a power cut may have shortened the tape", async () => {
  const disk = planted();
  const log = new SizeLog(disk, "/t");
  for (const size of [at(0), at(50, 100), at(70, 110), at(50, 60)]) await log.record(size);
  expect(readSizes(disk, "/t")).toEqual([at(0), at(50, 60)]);
});

test("the file stays bounded, and keeps the newest", async () => {
  const disk = planted();
  const log = new SizeLog(disk, "/t");
  for (let n = 0; n < 4000; n += 1) await log.record(at(n, 10 + (n % 50)));
  expect(disk.stat("/t/sizes.jsonl")?.size).toBeLessThan(70 << 10);
  expect(readSizes(disk, "/t").at(-1)).toEqual(at(3999, 10 + (3999 % 50)));
});

test("a size that the disk refuses is written with the next one", async () => {
  const disk = planted();
  const log = new SizeLog(disk, "/t");
  await log.record(at(0));
  disk.capacity = 1;
  await log.record(at(10, 100));
  disk.capacity = 1 << 20;
  await log.record(at(20, 120));
  expect(readSizes(disk, "/t")).toEqual([at(0), at(10, 100), at(20, 120)]);
});
