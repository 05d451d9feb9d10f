// Claims about what the watchdog leaves on disk: the last crash, what the operator wants; and about a disk that does
// not take it.

import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { CRASH_DETECTED, CrashReason, crashRecord, lastCrashPath, readLastCrash } from "../../src/home/last-crash.ts";
import { readWanted, wantedPath, writeWanted } from "../../src/home/wanted.ts";
import { makeDirectories } from "../../src/log/file/file.ts";
import { readJson } from "../../src/log/file/json-file.ts";
import { CrashRecorder } from "../../src/watchdog/crash-record.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { put } from "../world/places.ts";

const HOME = "/h";
const NOW = Date.UTC(2026, 1, 27);

function setUp(disk = new SimDisk()) {
  const troubles: string[] = [];
  const published: unknown[] = [];
  const complain = (fault: Fault) => void troubles.push(fault.code);
  const bus = { publish: (topic: string, payload: unknown) => void published.push([topic, payload]) };
  return { disk, troubles, published, complain, bus };
}

const facts = { name: "daemon", pid: 12, reason: CrashReason.SIGNAL };
const killed = crashRecord(facts, { kind: "signalled", signal: "SIGKILL" }, NOW);

test("WD-6(a,b) a crash is published with all its facts, and the file tells the next launch the same", async () => {
  const { disk, bus, published, complain } = setUp();
  expect(await new CrashRecorder({ disk, home: HOME }, complain, bus).record(killed)).toBe(true);
  const time = new Date(NOW).toISOString();
  const expected = { name: "daemon", pid: 12, exitCode: null, signal: "SIGKILL", reason: "SIGNAL", time } as const;
  expect(published).toEqual([[CRASH_DETECTED, expected]]);
  expect(CRASH_DETECTED).toBe("recovery.crash.detected");
  expect(readLastCrash(disk, HOME)).toEqual({
    ...expected,
    programs: { daemon: expected },
    history: [expected],
  });
});

test("WD-6(c) without a bus the file is enough; for an exit it has the code", async () => {
  const { disk, complain } = setUp();
  const crash = crashRecord({ ...facts, reason: CrashReason.EXIT_CODE }, { kind: "exited", code: 3 }, NOW);
  await new CrashRecorder({ disk, home: HOME }, complain).record(crash);
  expect(readLastCrash(disk, HOME)).toMatchObject({ exitCode: 3, signal: null, reason: "EXIT_CODE" });
});

test("WD-6(b) a later crash of another program leaves the record of each, also for the next watchdog", async () => {
  const { disk, complain } = setUp();
  makeDirectories(disk, `${HOME}/recovery`);
  put(disk, lastCrashPath(HOME), JSON.stringify({ v: 1, ...killed })); // As Holdfast 0.1 wrote it.
  const page = { ...killed, name: "web", pid: 13, time: new Date(NOW + 1).toISOString() };
  await new CrashRecorder({ disk, home: HOME }, complain).record(page);
  const program = { ...killed, name: "api", pid: 14, time: new Date(NOW + 2).toISOString() };
  await new CrashRecorder({ disk, home: HOME }, complain).record(program);
  expect(readLastCrash(disk, HOME)).toEqual({
    ...program,
    programs: { daemon: killed, web: page, api: program },
    history: [killed, page, program],
  });
  const again = { ...page, pid: 15, time: new Date(NOW + 3).toISOString() };
  await new CrashRecorder({ disk, home: HOME }, complain).record(again);
  expect(readLastCrash(disk, HOME)?.programs).toEqual({ daemon: killed, web: again, api: program });
});

test("R2 of programs that nobody watches any more only so many records are kept", async () => {
  const { disk, complain } = setUp();
  const recorder = new CrashRecorder({ disk, home: HOME }, complain);
  for (let one = 0; one < 300; one += 1) {
    await recorder.record({ ...killed, name: `p${one}`, time: new Date(NOW + one).toISOString() });
  }
  const kept = Object.keys(readLastCrash(disk, HOME)?.programs ?? {});
  expect([kept.length, kept.includes("p299"), kept.includes("p43")]).toEqual([256, true, false]);
});

test("R2 the last crashes of all programs are kept, newest last, also by the next watchdog", async () => {
  const { disk, complain } = setUp();
  const at = (one: number) => ({ ...killed, pid: one, time: new Date(NOW + one).toISOString() });
  const first = new CrashRecorder({ disk, home: HOME }, complain);
  for (let one = 0; one < 150; one += 1) await first.record(at(one));
  const next = new CrashRecorder({ disk, home: HOME }, complain);
  for (let one = 150; one < 250; one += 1) await next.record({ ...at(one), name: "web" });
  const kept = readLastCrash(disk, HOME)?.history ?? [];
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([200, at(50), { ...at(249), name: "web" }]);
});

test("R2 records of an older home are its history, by time, and what is no record is left out", async () => {
  const { disk } = setUp();
  makeDirectories(disk, `${HOME}/recovery`);
  const web = { ...killed, name: "web", time: new Date(NOW - 1).toISOString() };
  const older = { v: 1, ...killed, programs: { daemon: killed, web } };
  put(disk, lastCrashPath(HOME), JSON.stringify(older));
  expect(readLastCrash(disk, HOME)?.history).toEqual([web, killed]);
  put(disk, lastCrashPath(HOME), JSON.stringify({ ...older, history: [7, null, web, { pid: 1 }] }));
  expect(readLastCrash(disk, HOME)?.history).toEqual([web]);
});

test("WD-6(b) of two simultaneous crashes the later one stays", async () => {
  const { disk, complain } = setUp();
  const recorder = new CrashRecorder({ disk, home: HOME }, complain);
  await Promise.all([recorder.record(killed), recorder.record({ ...killed, name: "web" })]);
  expect(readLastCrash(disk, HOME)?.name).toBe("web");
});

test("WD-6(b) a power cut at any moment leaves the old record or the new one, whole", async () => {
  const start = new SimDisk();
  const record = (disk: SimDisk, name: string) =>
    new CrashRecorder({ disk, home: HOME }, (fault) => expect(fault).toBeUndefined()).record({ ...killed, name });
  await record(start, "old");
  const seen = new Set<string>();
  const survived = await everyCrash({
    start,
    nothingPromised: ["old", "new"],
    live: async (disk, promised) => {
      await record(disk, "new");
      promised(["new"]);
    },
    check: async (disk, allowed) => {
      const name = readLastCrash(disk, HOME)?.name ?? "nothing";
      seen.add(name);
      expect(allowed).toContain(name);
      expect(await record(disk, "second life")).toBe(true);
    },
  });
  expect(survived).toBeGreaterThan(20);
  expect([...seen].sort()).toEqual(["new", "old"]);
});

test("WD-6(c) an unreadable record counts as none", () => {
  for (const text of ["", "{", "[]", '"x"', '{"name":"a","pid":1,"time":"t","reason":"BORED"}', '{"pid":"1"}']) {
    const { disk } = setUp();
    disk.makeDirectory(HOME);
    disk.makeDirectory(`${HOME}/recovery`);
    put(disk, lastCrashPath(HOME), text);
    expect(readLastCrash(disk, HOME)).toBeUndefined();
  }
});

test("WD-9(c) a full disk is logged, the bus is informed anyway, and writing works once there is room", async () => {
  const { disk, troubles, published, complain, bus } = setUp();
  const recorder = new CrashRecorder({ disk, home: HOME }, complain, bus);
  disk.capacity = 10;
  expect(await recorder.record(killed)).toBe(false);
  expect(troubles).toEqual(["ENOSPC"]);
  expect(published.length).toBe(1);
  disk.capacity = Number.POSITIVE_INFINITY;
  expect(await recorder.record(killed)).toBe(true);
});

test("WD-9(d) a removed directory is recreated", async () => {
  const { disk, complain } = setUp();
  const recorder = new CrashRecorder({ disk, home: HOME }, complain);
  await recorder.record(killed);
  disk.unlink(lastCrashPath(HOME));
  disk.removeDirectory(`${HOME}/recovery`);
  disk.removeDirectory(HOME);
  expect(await recorder.record(killed)).toBe(true);
  expect(readLastCrash(disk, HOME)?.pid).toBe(12);
});

test("a missing bus is logged; a bug of the bus is not hidden", async () => {
  const { disk, troubles, complain } = setUp();
  const gone = () => {
    throw new Fault({ code: "EPIPE", operation: "publish", path: "bus" });
  };
  expect(await new CrashRecorder({ disk, home: HOME }, complain, { publish: gone }).record(killed)).toBe(true);
  expect(troubles).toEqual(["EPIPE"]);
  const bug = () => {
    throw new TypeError("a bug");
  };
  expect(() => new CrashRecorder({ disk, home: HOME }, complain, { publish: bug }).record(killed)).toThrow("a bug");
});

test("a gigabyte file under our name is not read", () => {
  const { disk } = setUp();
  put(disk, "/big.json", `{"a":"${"x".repeat(2 << 20)}"}`);
  expect(readJson(disk, "/big.json")).toBeUndefined();
});

test("what the operator wants is durable; without a readable record it is up", async () => {
  const { disk } = setUp();
  expect(readWanted(disk, HOME)).toBe("up");
  await writeWanted(disk, HOME, "down");
  expect(readWanted(disk, HOME)).toBe("down");
  expect(readWanted(disk.powerCut(nothing), HOME)).toBe("down");
  await writeWanted(disk, HOME, "up");
  expect(readWanted(disk, HOME)).toBe("up");
  put(disk, wantedPath(HOME), "????????????????????????");
  expect(readWanted(disk, HOME)).toBe("up");
});

test("an order that the disk refuses is reported to its caller", async () => {
  const { disk } = setUp();
  disk.capacity = 5;
  await expect(writeWanted(disk, HOME, "down")).rejects.toMatchObject({ code: "ENOSPC" });
});
