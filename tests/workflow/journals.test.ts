// Claims and exits of steps in journals: what a crash leaves of them, and when a journal is used again.
import { expect, test } from "bun:test";
import { Journals } from "../../src/daemon/workflow/journals.ts";
import { claim, recordExit } from "../../src/holder/records.ts";
import { readClaim, readExit } from "../../src/home/held/holder-files.ts";
import { journalPath, restoreFiles } from "../../src/home/held/journals.ts";
import { Journal } from "../../src/log/file/journal.ts";
import { attemptAt, exitOf, HOME, homeWithJournal, journalCrashes } from "../sim/journal-life.ts";
import { nothing } from "../sim/survive.ts";
import { simWorld } from "../sim/world.ts";
import { Story, shell } from "./stories.ts";

const PATH = journalPath(HOME, 1);

test("a holder with a journal, crashed at every call: what was started is claimed, what was told is there", async () => {
  expect(await journalCrashes()).toBeGreaterThan(500);
});

async function used() {
  const disk = await homeWithJournal();
  const world = { ...simWorld(1, disk), home: HOME };
  const journal = Journal.open(world, { path: PATH, use: 1 });
  const place = { ...world, directory: attemptAt(1), journal };
  disk.makeDirectory(place.directory);
  return { disk, world, journal, place };
}

test("E3 claim and exit are two flushes; their files are gone with the machine, and made again, durably", async () => {
  const { disk, world, place } = await used();
  const calls: string[] = [];
  disk.onCall = ({ operation }) => void calls.push(operation);
  expect([await claim(place, 1), await claim(place, 1)]).toEqual([true, false]);
  await recordExit(place, exitOf(1), false);
  expect(calls.filter((call) => /sync/i.test(call)).length).toBe(2);
  expect([readClaim(place)?.by, readExit(place)?.code]).toEqual(["holder", 1]);
  const next = disk.powerCut(nothing);
  const files = { disk: next, directory: place.directory };
  expect([readClaim(files), readExit(files)]).toEqual([undefined, undefined]);
  world.processes.reboot();
  expect(await restoreFiles({ ...world, disk: next }, () => false)).toBe(0);
  expect(await restoreFiles({ ...world, disk: next }, () => true)).toBe(2);
  const last = { disk: next.powerCut(nothing), directory: place.directory };
  expect([readClaim(last)?.by, readExit(last)?.code]).toEqual(["holder", 1]);
});

test("JL3 within a boot a claim without its file was withdrawn, and is not made again; an exit is", async () => {
  const { disk, world, place } = await used();
  disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
  await expect(claim(place, 1)).rejects.toThrow("EIO");
  disk.fault = () => undefined;
  expect([disk.list(place.directory), await restoreFiles(world, () => true)]).toEqual([[], 0]);
  const other = { ...place, journal: undefined };
  expect(await claim(other, 1)).toBe(true); // By the next holder, which has another journal.
});

test("E3 if the journal fails at the exit, that is a file, durable with the name of its directory", async () => {
  const { disk, place } = await used();
  await claim(place, 1);
  disk.fault = ({ operation }) => (operation === "datasyncBlocking" ? { kind: "fail", code: "EIO" } : undefined);
  await recordExit(place, exitOf(1), false);
  expect(readExit({ disk: disk.powerCut(nothing), directory: place.directory })?.code).toBe(1);
});

test("JN1 JN2 a journal is used again when its holder is gone, and no attempt in it is open by the log", async () => {
  const { world, journal, place } = await used();
  await claim(place, 1);
  const story = new Story([shell("a"), shell("b")]);
  const known = { run: true, whole: true };
  const ports = { run: () => (known.run ? story.run : undefined), isWhole: () => known.whole };
  const next = async () => (await new Journals(world, ports).take())?.path.slice(-12, -8);
  expect(await next()).toBe("0002"); // JN2
  journal?.close();
  expect(await next()).toBe("0002"); // JN1: its attempt runs.
  known.run = false;
  expect(await next()).toBe("0002"); // The run may still be read.
  story.say({ kind: "attempt-ended", attempt: "r1.1", code: 0, signal: null, output: { text: "", bytes: 0 } });
  Object.assign(known, { run: true, whole: false });
  expect(await next()).toBe("0002"); // It was set aside: it may be further than we know.
  known.whole = true;
  expect(await new Journals(world, ports).take()).toEqual({ path: PATH, use: 2 });
});

test("JN2 no journal is given to two holders, and one that was given back is used again", async () => {
  const { world, journal } = await used();
  journal?.close();
  const journals = new Journals(world, { run: () => undefined, isWhole: () => true });
  const taken = await Promise.all([journals.take(), journals.take(), journals.take()]);
  expect(new Set(taken.map((one) => one?.path)).size).toBe(3);
  if (taken[1] !== undefined) journals.giveBack(taken[1]);
  expect((await journals.take())?.path).toBe(taken[1]?.path ?? "");
});

test("JN3 without room for a journal there is none, and nothing fails", async () => {
  const { disk, world, journal } = await used();
  disk.capacity = disk.tree.used([]) + 1000;
  const journals = new Journals(world, { run: () => undefined, isWhole: () => true });
  expect(await journals.take()).toBeUndefined();
  disk.capacity = Number.POSITIVE_INFINITY;
  journal?.close();
  expect((await journals.take())?.path).toBe(PATH);
});
