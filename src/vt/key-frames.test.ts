// Tests of key frames: a past screen is the same with and without them, and one that does not fit its tape is not used.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { SimDisk } from "../../tests/sim/disk.ts";
import { Tape } from "../log/tape/tape.ts";
import { describe } from "./describe.ts";
import { FollowedTape, pastScreen } from "./follow.ts";

const size = { cols: 40, rows: 8 };
const LIMITS = { segmentBytes: 1 << 20, maxBytes: 64 << 20 };
const MB = 1 << 20;
const clock = new SimClock();

/** Lines that can be told from each other, with colours, and now and then a full-screen program. */
function output(bytes: number, word = "line"): Buffer {
  const lines: string[] = [];
  for (let length = 0, n = 0; length < bytes; n += 1) {
    const colour = `\u001b[3${n % 8}m${word} ${String(n).padStart(6, "0")}\u001b[m ${"x".repeat(n % 50)}\r\n`;
    const screen =
      n % 5000 === 4000 ? "\u001b[?1047h\u001b[2J\u001b[3;5Hfull" : n % 5000 === 4500 ? "\u001b[?1047l" : "";
    lines.push(`${colour}${screen}`);
    length += colour.length + screen.length;
  }
  return Buffer.from(lines.join("")).subarray(0, bytes);
}

function tapeOf(disk: SimDisk, bytes: Uint8Array, limits = LIMITS): void {
  const tape = Tape.open(disk, "/t/tape", limits);
  for (let at = 0; at < bytes.length; at += MB / 2) tape.append(bytes.subarray(at, at + MB / 2));
  tape.close();
}

const frames = (disk: SimDisk): string[] => disk.list("/t/keyframes").sort();

async function followed(disk: SimDisk, leaveFrames: boolean, until?: number): Promise<FollowedTape> {
  const tape = new FollowedTape({ disk, clock }, "/t", { size, leaveFrames });
  await tape.catchUp(until);
  return tape;
}

/** All but the scrollback, of which a key frame has only the end. */
function shown(tape: FollowedTape) {
  const { behind: _, ...screen } = describe(tape.emulator);
  return screen;
}

async function past(disk: SimDisk, until: number, reach?: number) {
  const tape = await pastScreen({ disk, clock }, { directory: "/t", size }, until, reach);
  return { screen: shown(tape), exact: tape.exact };
}

async function whole(disk: SimDisk, until: number) {
  return shown(await followed(disk, false, until));
}

/** A tape of some megabytes with its key frames, for tests that do not change it. */
async function recorded(bytes = 4 * MB) {
  const disk = new SimDisk();
  tapeOf(disk, output(bytes));
  await followed(disk, true);
  return disk;
}

test("following a tape leaves a key frame for each megabyte, and a past screen from one is exact", async () => {
  const disk = await recorded();
  expect(frames(disk).length).toBe(3);
  await followed(disk, true);
  expect(frames(disk).length).toBe(3);
  for (const until of [100, MB + 12_345, 3 * MB + 7, 9 * MB]) {
    const { screen, exact } = await past(disk, until);
    expect([exact, screen]).toEqual([true, await whole(disk, until)]);
  }
});

test("with a bounded reach, a past screen far from everything known is made of the tape before it, and says so", async () => {
  const disk = new SimDisk();
  tapeOf(disk, output(4 * MB));
  const bounded = await past(disk, 3 * MB, MB);
  expect([bounded.exact, bounded.screen.lines]).toEqual([false, (await whole(disk, 3 * MB)).lines]);
  expect(frames(disk)).toEqual([]);
  await followed(disk, true);
  expect((await past(disk, 3 * MB, 2 * MB)).exact).toBe(true);
});

test("a key frame that is torn, damaged, misnamed or of other bytes is not used", async () => {
  const disk = await recorded(3 * MB);
  const [first = "", second = ""] = frames(disk);
  const path = `/t/keyframes/${second}`;
  const file = disk.open(path, "read");
  const good = new Uint8Array(file.size());
  file.read(good, 0);
  const changed = (at: number) => good.map((byte, index) => (index === at ? byte ^ 1 : byte));
  const expected = await whole(disk, 3 * MB);
  const bad = [good.subarray(0, 30), good.subarray(0, -1), changed(20), changed(good.length - 5), new Uint8Array(900)];
  for (const bytes of bad) {
    disk.plant(path, bytes);
    expect((await past(disk, 3 * MB)).screen).toEqual(expected);
  }
  disk.plant(path, good);
  disk.plant(`/t/keyframes/${first}`, good);
  disk.plant("/t/keyframes/0000000001100000.vt", good);
  expect((await past(disk, 1_200_000)).screen).toEqual(await whole(disk, 1_200_000));
});

test("after a power cut took the tape's end and other bytes came there, the old key frame is not used", async () => {
  const disk = await recorded(3 * MB);
  const old = disk.list("/t/tape").sort().at(-1) ?? "";
  disk.unlink(`/t/tape/${old}`);
  tapeOf(disk, output(MB, "other"));
  expect(frames(disk).length).toBe(3);
  expect((await past(disk, 3 * MB)).screen).toEqual(await whole(disk, 3 * MB));
});

test("they are dropped with the tape, and never more than one for each megabyte of it", async () => {
  const disk = new SimDisk();
  const limits = { segmentBytes: MB / 2, maxBytes: 2 * MB };
  const tape = new FollowedTape({ disk, clock }, "/t", { size, leaveFrames: true });
  for (let round = 0; round < 4; round += 1) {
    tapeOf(disk, output(2 * MB), limits);
    tape.look();
    await tape.catchUp();
  }
  const offsets = frames(disk).map((name) => Number(name.slice(0, 16)));
  expect(offsets.length).toBeGreaterThan(0);
  expect(offsets.length).toBeLessThanOrEqual(3);
  expect((await past(disk, 8 * MB)).exact).toBe(true);
});

test("a disk that refuses key frames, and a screen that would take much room, only cost time", async () => {
  const disk = new SimDisk();
  tapeOf(disk, output(2 * MB));
  disk.fault = ({ path }) => (path.includes("keyframes") ? { kind: "fail", code: "ENOSPC" } : undefined);
  await followed(disk, true);
  disk.fault = undefined;
  expect(frames(disk)).toEqual([]);
  const large = new SimDisk();
  const row = Array.from({ length: 500 }, (_, x) => `\u001b[38;2;${x % 250};1;2mx`).join("");
  tapeOf(large, Buffer.from(`${row}\r\n`.repeat(170)));
  const world = { disk: large, clock };
  await new FollowedTape(world, "/t", { size: { cols: 500, rows: 100 }, leaveFrames: true }).catchUp();
  expect(frames(large)).toEqual([]);
});
