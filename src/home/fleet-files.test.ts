// The records of a home in a fleet on a disk that fails: missing is not the same as unreadable.
import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { SimRandom } from "../../tests/sim/random.ts";
import { readFenced, readOwner, readTaken, readUnclaimed, writeFenced, writeOwner, writeTaken } from "./fleet-files.ts";
import { idOf, keepIdentity } from "./identity.ts";

const NOW = Date.UTC(2026, 10, 17);

async function made() {
  const disk = new SimDisk();
  for (const path of ["/h", "/h/recovery", "/h/fleet"]) disk.makeDirectory(path);
  const place = { disk, home: "/h" };
  const fail = () => {
    disk.fault = ({ operation }) =>
      ["open", "read", "stat"].includes(operation) ? { kind: "fail", code: "EIO" } : undefined;
  };
  return { disk, place, fail };
}

test("FF2 a record that is missing says nothing, and one that the disk does not give now is a Fault", async () => {
  const { place, fail } = await made();
  const reads = [readOwner, readFenced, readTaken] as const;
  expect(reads.map((read) => read(place))).toEqual([undefined, undefined, undefined]);
  await writeOwner(place, { home: "a", take: { epoch: 1, id: "t" }, wished: null });
  await writeFenced(place, { at: "", owner: "b", epoch: 2 });
  await writeTaken(place, { from: "b", at: "", seq: 1, epoch: 2 });
  expect(reads.map((read) => read(place) !== undefined)).toEqual([true, true, true]);
  fail();
  for (const read of [...reads, readUnclaimed]) expect(() => read(place)).toThrow("EIO");
});

test("ID1 a disk that fails once while the identity is read makes no other home of it", async () => {
  const { disk, place, fail } = await made();
  await keepIdentity(place, new SimRandom(1), NOW);
  const id = idOf(place);
  fail();
  expect(() => idOf(place)).toThrow("EIO");
  expect(await keepIdentity(place, new SimRandom(2), NOW).catch((error: Error) => error.message)).toContain("EIO");
  disk.fault = undefined;
  expect(await keepIdentity(place, new SimRandom(2), NOW)).toBeUndefined();
  expect(idOf(place)).toBe(id);
});
