// A journal on a simulated disk; tests/sim/journal-life.ts crashes its user at every call.
import { expect, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { nothing } from "../../../tests/sim/survive.ts";
import { simWorld } from "../../../tests/sim/world.ts";
import { isJournalInUse, JOURNAL_BYTES, Journal, makeJournal, readJournal } from "./journal.ts";

const PATH = "/j/0001.journal";

async function fresh() {
  const disk = new SimDisk();
  disk.makeDirectory("/j");
  await disk.syncDirectory("/");
  await makeJournal(disk, PATH);
  return { disk, world: simWorld(1, disk) };
}

function opened(world: ReturnType<typeof simWorld>, use: number): Journal {
  const journal = Journal.open(world, { path: PATH, use });
  if (journal === undefined) throw new Error("it can be used");
  return journal;
}

test("J1 each record costs one write and one flush, and is there after a power cut; the file never grows", async () => {
  const { disk, world } = await fresh();
  const journal = opened(world, 1);
  const calls: string[] = [];
  disk.onCall = ({ operation }) => void calls.push(operation);
  for (const n of [1, 2, 3]) expect(await journal.append({ n, text: "tab\t, newline\n" })).toBe(true);
  expect(calls.filter((call) => call !== "size")).toEqual(Array(3).fill(["write", "datasyncBlocking"]).flat());
  const after = disk.powerCut(nothing);
  const records = [1, 2, 3].map((n) => ({ n, text: "tab\t, newline\n" }));
  expect(readJournal(after, PATH)).toEqual({ use: 1, records });
  expect(after.stat(PATH)?.size).toBe(JOURNAL_BYTES);
});

test("J2 J3 what is torn, or of an earlier use, is passed over", async () => {
  const { disk, world } = await fresh();
  const first = opened(world, 1);
  for (const n of [1, 2, 3]) await first.append({ n });
  first.close();
  const second = opened(world, 2);
  await second.append({ n: 4 });
  expect(readJournal(disk, PATH)).toEqual({ use: 2, records: [{ n: 4 }] });
  disk.rot(PATH, 14, 1);
  expect(readJournal(disk, PATH)).toEqual({ use: 1, records: [{ n: 2 }, { n: 3 }] });
});

test("J4 it is used by one process at a time, and only if it is as that one was told", async () => {
  const { disk, world } = await fresh();
  const first = opened(world, 1);
  await first.append({ n: 1 });
  expect(isJournalInUse(disk, PATH)).toBe(true);
  expect(Journal.open(world, { path: PATH, use: 2 })).toBeUndefined();
  first.close();
  expect(isJournalInUse(disk, PATH)).toBe(false);
  expect(Journal.open(world, { path: PATH, use: 1 })).toBeUndefined(); // Somebody was here since.
  expect(Journal.open(world, { path: "/j/0002.journal", use: 1 })).toBeUndefined();
  expect(opened(world, 2).hasRoom(JOURNAL_BYTES)).toBe(true);
});

test("J5 after a failed flush, and when it is full, it takes nothing more", async () => {
  const { disk, world } = await fresh();
  const journal = opened(world, 1);
  expect(await journal.append({ much: "x".repeat(JOURNAL_BYTES) })).toBe(false);
  expect(await journal.append({ n: 1 })).toBe(true);
  disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
  await expect(journal.append({ n: 2 })).rejects.toThrow("EIO");
  disk.fault = () => undefined;
  expect([await journal.append({ n: 3 }), journal.hasRoom(1)]).toEqual([false, false]);
});
