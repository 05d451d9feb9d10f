import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { put } from "../../tests/world/places.ts";
import { type Seen, tapeTroubles, troublesOf } from "./troubles.ts";

const FINE: Seen = { watchdog: { pid: 1 }, daemon: { pid: 2 }, web: { pid: 3 }, recovery: { stage: "LIVE" } };
const CRASH = { name: "web", pid: 3, exitCode: 1, signal: null, reason: "EXIT_CODE", time: "2026-01-01T00:00:00.000Z" };

/** The words of the troubles of a home that should be `wanted`. */
function wordsOf(seen: Partial<Seen>, { wanted = "up", watched = true, crash = false } = {}): string[] {
  const disk = new SimDisk();
  for (const directory of ["/h", "/h/recovery", "/h/run"]) disk.makeDirectory(directory);
  put(disk, "/h/recovery/wanted.json", JSON.stringify({ v: 1, wanted }));
  put(disk, "/h/run/watchdog.log", "first\nthe storage cannot be opened: EIO\n");
  if (crash) put(disk, "/h/recovery/last-crash.json", JSON.stringify({ v: 1, ...CRASH }));
  const found = troublesOf({ disk, home: "/h" }, { ...FINE, ...seen }, watched);
  return found.map(({ what, next }) => `${what} → ${next}`);
}

const SILENT = { recovery: { stage: null } };
const NOBODY = { pid: null };

test("a home where all is well, and one that is down as requested, have no trouble", () => {
  expect(wordsOf({})).toEqual([]);
  expect(wordsOf({ ...SILENT, daemon: NOBODY, watchdog: NOBODY, web: NOBODY }, { wanted: "down" })).toEqual([]);
  expect(wordsOf({ recovery: { stage: "RESTORING" } })).toEqual([]);
});

test("TR4 safe mode, also while no daemon answers; on a home that is down it is none", () => {
  const safe = { safeMode: { active: true, reason: "the daemon crashed 3 times" } };
  const words =
    "parts of Holdfast are off: it is in safe mode, because the daemon crashed 3 times" +
    " → holdfast logs, then: holdfast safe-mode exit";
  expect(wordsOf(safe)).toEqual([words]);
  expect(wordsOf({ ...SILENT, ...safe })).toEqual([words, expect.stringContaining("kill -9 2")]);
  expect(wordsOf({ ...SILENT, ...safe, daemon: NOBODY }, { wanted: "down" })).toEqual([]);
  expect(wordsOf({ safeMode: { active: false, reason: null } })).toEqual([]);
});

test("a recovery that stopped, whatever is wanted", () => {
  for (const wanted of ["up", "down"])
    expect(wordsOf({ recovery: { stage: "RESTORATION_FAILED" } }, { wanted })).toEqual([
      "the recovery has stopped (RESTORATION_FAILED) → holdfast recovery retry",
    ]);
});

test("TR1 no daemon answers: with its last message, or how to end it; but not if it is only being started", () => {
  expect(wordsOf({ ...SILENT, daemon: NOBODY })).toEqual([
    expect.stringMatching(/^no daemon answers.* The last message: the storage cannot be opened: EIO → holdfast logs$/),
  ]);
  expect(wordsOf(SILENT)).toEqual([expect.stringContaining("kill -9 2")]);
  expect(wordsOf({ ...SILENT, daemon: NOBODY, watchdog: NOBODY }, { watched: false })).toEqual([]);
});

test("TR3 output of running terminals that is not recorded; those that are starting are in the daemon's report", () => {
  const listed = [
    { name: "a", state: { kind: "running" }, trouble: "EIO" },
    { name: "b", state: { kind: "running" } },
    { name: "c", state: { kind: "starting" }, trouble: "EAGAIN" },
  ];
  expect(tapeTroubles(listed)).toEqual([{ what: "the output of a is not recorded: EIO", next: "holdfast history a" }]);
});

test("TR2 a daemon without a watchdog, a page that crashed and is not back, and what the daemon reports", () => {
  expect(wordsOf({ watchdog: NOBODY })).toEqual([expect.stringContaining("the watchdog is not running")]);
  expect(wordsOf({ web: NOBODY })).toEqual([]);
  expect(wordsOf({}, { crash: true })).toEqual([]);
  expect(wordsOf({ web: NOBODY }, { crash: true })).toEqual([
    "the page is not running: it ended with exit code 1 at 2026-01-01T00:00:00.000Z → holdfast logs",
  ]);
  expect(wordsOf({ troubles: [{ what: "a", next: "b" }] })).toEqual(["a → b"]);
});
