// Claims about crash loops and safe mode.
import { expect, test } from "bun:test";
import type { Fault } from "../../src/base/fault.ts";
import { offTexts, readSafeMode, SafeMode, safeModeOff, safeModePath } from "../../src/home/safe-mode.ts";
import { makeDirectories } from "../../src/log/file/file.ts";
import { readJson } from "../../src/log/file/json-file.ts";
import { CrashLoopDetector, crashHistoryPath } from "../../src/watchdog/crash-loop.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { nothing } from "../sim/survive.ts";
import { put } from "../world/places.ts";

const HOME = "/h";

function setUp(disk = new SimDisk()) {
  const clock = new SimClock();
  const troubles: string[] = [];
  const published: (readonly [string, unknown])[] = [];
  const complain = (fault: Fault) => void troubles.push(fault.code);
  const bus = { publish: (topic: string, payload: unknown) => void published.push([topic, payload]) };
  const place = { disk, clock, home: HOME };
  const mode = () => new SafeMode(place, complain, bus);
  const detector = (limits?: { crashes: number; windowMs: number }) => new CrashLoopDetector(place, complain, limits);
  return { disk, clock, troubles, published, place, mode, detector };
}

/** Crashes at these seconds; returns whether that is a loop right after the last one. */
async function loops(seconds: readonly number[], limits?: { crashes: number; windowMs: number }): Promise<boolean> {
  const { clock, detector } = setUp();
  const watched = detector(limits);
  const start = clock.now();
  for (const second of seconds) {
    clock.advance(start + second * 1000 - clock.now());
    await watched.recordCrash(clock.now());
  }
  return watched.isLooping();
}

test("SM-1(a,c) three crashes within 60 s are a loop; two are not, nor are three over more than 60 s", async () => {
  expect(await loops([0, 1, 2])).toBe(true);
  expect(await loops([0, 30, 60])).toBe(true);
  expect(await loops([0, 59])).toBe(false);
  expect(await loops([0, 30, 60.001])).toBe(false);
  expect(await loops([0, 100, 200, 300])).toBe(false);
  expect(await loops([0, 100, 110, 120])).toBe(true);
});

test("SM-1(b) threshold and window are configurable", async () => {
  expect(await loops([0, 1, 2, 3], { crashes: 5, windowMs: 60_000 })).toBe(false);
  expect(await loops([0, 9], { crashes: 2, windowMs: 10_000 })).toBe(true);
  expect(await loops([0, 11], { crashes: 2, windowMs: 10_000 })).toBe(false);
});

test.each(["EIO", "ENOMEM"])(
  "S4 %s while the file is looked at changes nothing, and is thrown to no one",
  async (code) => {
    const { disk, clock, mode } = setUp();
    const known = mode();
    expect(known.isActive()).toBe(false);
    disk.fault = ({ path }) => (path === safeModePath(HOME) ? { kind: "fail", code } : undefined);
    clock.advance(1000);
    expect(known.isActive()).toBe(false);
    expect(mode().isActive()).toBe(true); // Nothing is known: the side on which nothing is lost (S2).
    disk.fault = undefined;
    await known.enter("a test");
    disk.fault = ({ path }) => (path === safeModePath(HOME) ? { kind: "fail", code } : undefined);
    clock.advance(1000);
    expect(known.state).toMatchObject({ active: true, reason: "a test" });
  },
);

test("a mode that is only guessed, since the file cannot be read, is not passed on to another program", async () => {
  const { disk, clock, mode } = setUp();
  disk.fault = ({ path }) => (path === safeModePath(HOME) ? { kind: "fail", code: "EIO" } : undefined);
  const watchdog = mode();
  expect([watchdog.isActive(), watchdog.reason]).toEqual([true, undefined]);
  disk.fault = undefined;
  await watchdog.enter("a test");
  expect(watchdog.reason).toBe("a test");
  put(disk, safeModePath(HOME), "\0");
  clock.advance(1000);
  expect([watchdog.isActive(), watchdog.reason]).toEqual([true, undefined]);
});

test("S5 asked at every decision, the file is looked at once a second; a change by hand, and one that cannot be read, is noticed by then", async () => {
  const { disk, clock, mode } = setUp();
  makeDirectories(disk, `${HOME}/recovery`);
  let looks = 0;
  disk.fault = ({ path }) => {
    if (path === safeModePath(HOME)) looks += 1;
    return undefined;
  };
  const daemon = mode();
  for (let decision = 0; decision < 1000; decision += 1) expect(daemon.isActive()).toBe(false);
  expect(looks).toBe(1);
  for (const [text, active] of [
    ['{"active":true}', true],
    ['{"active":false}', false],
    ["this is not JSON, but text", true],
  ] as const) {
    put(disk, safeModePath(HOME), text);
    clock.advance(1000);
    expect([text, daemon.isActive()]).toEqual([text, active]);
  }
  await daemon.exit(); // Our own change needs no look.
  expect(daemon.isActive()).toBe(false);
  put(disk, safeModePath(HOME), '{"active":true,"reason":"by hand"}');
  expect(await daemon.exit()).toBe(true); // Nor does it miss a change that has just been made.
  expect(readSafeMode(disk, HOME).active).toBe(false);
});

test("S2 a file that cannot be read, for whatever reason, reads as on", async () => {
  const { disk } = setUp();
  expect(readSafeMode(disk, HOME).active).toBe(false);
  makeDirectories(disk, `${HOME}/recovery`);
  put(disk, safeModePath(HOME), "{");
  expect(readSafeMode(disk, HOME)).toMatchObject({ active: true, reason: `${safeModePath(HOME)} cannot be read` });
  put(disk, safeModePath(HOME), '{"active":false}');
  disk.fault = ({ path }) => (path === safeModePath(HOME) ? { kind: "fail", code: "EACCES" } : undefined);
  expect(readSafeMode(disk, HOME).active).toBe(true);
});

test("SM-1(a) a loop is over when its window has passed", async () => {
  const { clock, detector } = setUp();
  const watched = detector();
  for (let crash = 0; crash < 3; crash += 1) await watched.recordCrash(clock.now());
  expect(watched.isLooping()).toBe(true);
  clock.advance(60_001);
  expect(watched.isLooping()).toBe(false);
});

test("SM-2(a,b) a loop is detected across restarts, and across a power cut", async () => {
  const { disk, clock, detector, place } = setUp();
  await detector().recordCrash(clock.now());
  await detector().recordCrash(clock.now());
  expect(detector().isLooping()).toBe(false);
  await detector().recordCrash(clock.now());
  expect(detector().isLooping()).toBe(true);
  const after = new CrashLoopDetector({ ...place, disk: disk.powerCut(nothing) }, () => undefined);
  expect(after.isLooping()).toBe(true);
});

test("SM-2(c) a corrupt history counts as empty, and is rewritten", async () => {
  const bad = ["", "{", "[1,2,3]", '{"crashes":7}', '{"crashes":["a",null,{}]}', "\0\0\0\0"];
  for (const text of bad) {
    const { disk, clock, detector } = setUp();
    disk.makeDirectory(HOME);
    disk.makeDirectory(`${HOME}/recovery`);
    put(disk, crashHistoryPath(HOME), text);
    const watched = detector();
    expect(watched.isLooping()).toBe(false);
    await watched.recordCrash(clock.now());
    expect(readJson(disk, crashHistoryPath(HOME))).toEqual({ v: 1, crashes: [clock.now()] });
  }
});

test("the history stays short, however many crashes there are", async () => {
  const { disk, clock, detector } = setUp();
  const watched = detector();
  for (let crash = 0; crash < 100; crash += 1) await watched.recordCrash(clock.now() + crash);
  const found = readJson(disk, crashHistoryPath(HOME))?.["crashes"];
  expect(Array.isArray(found) ? found.length : 0).toBe(3);
});

test("SM-1(a) a clock that was set back does not make a loop forever", async () => {
  const { clock, detector } = setUp();
  for (let crash = 0; crash < 3; crash += 1) await detector().recordCrash(clock.now());
  clock.jump(-7 * 86_400_000);
  expect(detector().isLooping()).toBe(false);
});

test("WD-9(c) a full disk costs only the history after a restart", async () => {
  const { disk, clock, troubles, detector } = setUp();
  disk.capacity = 0;
  const watched = detector();
  for (let crash = 0; crash < 3; crash += 1) expect(await watched.recordCrash(clock.now())).toBe(false);
  expect(watched.isLooping()).toBe(true);
  expect(detector().isLooping()).toBe(false);
  expect(troubles).toEqual(["ENOSPC", "ENOSPC", "ENOSPC"]);
});

test("SM-3(a,f) entering lists providers and background checkpoints as off, and nothing that does not exist; the mode outlives every process, and exit ends it", async () => {
  const { disk, mode } = setUp();
  expect(mode().isActive()).toBe(false);
  expect(await mode().enter("three crashes")).toBe(true);
  expect(mode().isActive()).toBe(true);
  expect(mode().state).toMatchObject({
    reason: "three crashes",
    off: ["providers", "background-checkpoints"],
  });
  expect(readSafeMode(disk.powerCut(nothing), HOME).active).toBe(true);
  expect(await mode().exit()).toBe(true);
  expect(mode().isActive()).toBe(false);
  expect(readSafeMode(disk.powerCut(nothing), HOME).active).toBe(false);
});

test("SM-3(g) the file is the mode: a change by the operator in another program applies here", async () => {
  const { clock, mode } = setUp();
  const watchdogs = mode();
  await watchdogs.enter("a loop");
  await mode().exit();
  clock.advance(1000); // S5
  expect(watchdogs.isActive()).toBe(false);
});

test("SM-3(a) WD-9(c) a mode that cannot be written is in force anyway, until another one is written", async () => {
  const { clock, disk, troubles, mode } = setUp();
  const watchdogs = mode();
  disk.capacity = 0;
  expect(await watchdogs.enter("a loop")).toBe(false);
  expect(troubles).toEqual(["ENOSPC"]);
  expect(watchdogs.isActive()).toBe(true);
  expect(await watchdogs.enter("a loop")).toBe(false);
  disk.capacity = Number.POSITIVE_INFINITY;
  const daemons = mode();
  await daemons.enter("as I was told");
  await daemons.exit();
  clock.advance(1000); // S5
  expect(watchdogs.isActive()).toBe(false);
});

test("SM-3(f) a write that the disk refused is retried by the next call, and reported once", async () => {
  const { disk, published, mode } = setUp();
  const daemons = mode();
  await daemons.enter("a loop");
  disk.capacity = 0;
  expect(await daemons.exit()).toBe(false);
  expect(await daemons.exit()).toBe(false);
  expect(readSafeMode(disk, HOME).active).toBe(true);
  disk.capacity = Number.POSITIVE_INFINITY;
  expect(await daemons.exit()).toBe(true);
  expect(readSafeMode(disk.powerCut(nothing), HOME).active).toBe(false);
  expect(published.map(([topic]) => topic)).toEqual(["recovery.safemode.entered", "recovery.safemode.exited"]);
});

test("SM-3(f) a failed exit is forgotten once another process has entered again", async () => {
  const { clock, disk, mode } = setUp();
  const daemons = mode();
  await daemons.enter("a loop");
  disk.capacity = 0;
  await daemons.exit();
  disk.capacity = Number.POSITIVE_INFINITY;
  const operators = mode();
  await operators.exit();
  await clock.advance(1000);
  await operators.enter("another loop");
  expect(await daemons.enter("the same")).toBe(true);
  expect(readSafeMode(disk, HOME)).toMatchObject({ active: true, reason: "another loop" });
});

test("SM-3(f) an existing but unreadable file means safe mode, and exit repairs it", async () => {
  const { disk, mode } = setUp();
  disk.makeDirectory(HOME);
  disk.makeDirectory(`${HOME}/recovery`);
  put(disk, safeModePath(HOME), "\0\0\0\0\0\0\0\0");
  expect(mode().state).toMatchObject({ active: true, reason: `${safeModePath(HOME)} cannot be read` });
  expect(await mode().exit()).toBe(true);
  expect(mode().isActive()).toBe(false);
});

test("SM-4(a,b) entering and leaving are published, each once", async () => {
  const { clock, published, mode } = setUp();
  await mode().exit();
  await mode().enter("a loop");
  await mode().enter("another reason");
  clock.advance(1000);
  await mode().exit();
  await mode().exit();
  expect(published.map(([topic]) => topic)).toEqual(["recovery.safemode.entered", "recovery.safemode.exited"]);
  expect(published[0]?.[1]).toMatchObject({ reason: "a loop" });
});

test("SM-3(f) the file has everything a banner needs: what is off, why, and since when", async () => {
  const { disk, clock, mode } = setUp();
  await mode().enter("daemon crashed 3 times");
  expect(readJson(disk, safeModePath(HOME))).toEqual({
    v: 1,
    active: true,
    reason: "daemon crashed 3 times",
    since: new Date(clock.now()).toISOString(),
    off: safeModeOff(disk, HOME),
  });
  expect(offTexts(safeModeOff(disk, HOME))).toHaveLength(2);
});

test("SM-3(c) the tunnel is among what is off in a home that is enrolled at a relay, and in no other", () => {
  const { disk } = setUp();
  expect(safeModeOff(disk, HOME)).not.toContain("tunnel");
  makeDirectories(disk, `${HOME}/tunnel`, HOME);
  put(disk, `${HOME}/tunnel/identity.json`, "{}");
  expect(safeModeOff(disk, HOME)).toContain("tunnel");
  expect(offTexts(["tunnel"])).toEqual([expect.stringContaining("relay")]);
});
