// What is drawn first, in which window, and from which files.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKPOINT_FACTS, CHECKPOINT_FILE, type CheckpointSession } from "../../core/terminal/checkpoint.ts";
import { CheckpointStore } from "../../log/checkpoint/store.ts";
import { Tape } from "../../log/tape/tape.ts";
import { realClock } from "../../world/real/clock.ts";
import { realDisk } from "../../world/real/disk.ts";
import { MAX_SINCE, REPLAY_BYTES, sightOf } from "./attach-view.ts";

const disk = realDisk();
const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true });
});

const WINDOW = { cols: 80, rows: 24 };
const ID = "t1";
const FIRST = { id: ID, generation: 1, restored: undefined };

/** A home with one tape of this length, and the window sizes at offsets. */
function homeWith(bytes: number, sizes: readonly (readonly [number, number])[] = [[0, 80]]): string {
  const home = mkdtempSync("/tmp/hfs-");
  homes.push(home);
  const directory = join(home, "terminals", ID);
  mkdirSync(join(directory, "tape"), { recursive: true });
  const lines = sizes.map(([offset, cols]) => `${JSON.stringify({ offset, cols, rows: 24 })}\n`);
  writeFileSync(join(directory, "sizes.jsonl"), lines.join(""));
  const tape = Tape.open(disk, join(directory, "tape"), { segmentBytes: 1 << 30, maxBytes: 1 << 30 });
  tape.append(Buffer.alloc(bytes, "a"));
  tape.close();
  return home;
}

const session = (offset: number, more: Partial<NonNullable<CheckpointSession["screen"]>> = {}, generation = 1) => ({
  sessionId: ID,
  terminalId: ID,
  laneId: "main",
  name: "t",
  workingDirectory: "/",
  environmentVariables: {},
  scrollbackSnapshot: "seen",
  multiplexerSessionName: null,
  shellCommand: "sh",
  argv: ["sh"],
  size: WINDOW,
  generation,
  policy: "auto",
  bootId: "b",
  screen: { offset, ...WINDOW, exact: true, at: "2026-01-01T00:00:00.000Z", title: "", alternate: false, ...more },
  foreground: null,
});

async function save(home: string, ...sessions: readonly object[]): Promise<void> {
  const path = join(home, CHECKPOINT_FILE);
  const keep = { backup: join(home, "recovery/checkpoint.backup.json") };
  const saved = await new CheckpointStore(disk, realClock(), { ...CHECKPOINT_FACTS, home, path, keep }).save(
    { sessions },
    0,
  );
  expect(saved.ok).toBe(true);
}

const LONG = 2 * REPLAY_BYTES;
const CUT = { from: LONG - REPLAY_BYTES, exact: false };
const seen = (home: string, terminal: Parameters<typeof sightOf>[2] = FIRST, window = WINDOW) =>
  sightOf(disk, home, terminal, window);

test("SI3 a short tape of one size is exact by itself, but not for another window", async () => {
  const home = homeWith(100);
  expect(await seen(home)).toEqual({ from: 0, exact: true });
  expect(await seen(home, FIRST, { cols: 81, rows: 24 })).toEqual({ from: 0, exact: false });
  // biome-ignore format: pairs
  expect(await seen(homeWith(100, [[0, 70], [50, 80]]))).toEqual({ from: 0, exact: false });
  expect(await seen(homeWith(100, []))).toEqual({ from: 0, exact: false });
});

test("SI1 SI2 a long tape is shown with the last snapshot, and the history before it", async () => {
  const home = homeWith(LONG);
  expect(await seen(home)).toEqual(CUT);
  await save(home, session(LONG - 10));
  expect(await seen(home)).toMatchObject({ from: LONG - REPLAY_BYTES, exact: true, screen: { vt: "seen" } });
  await save(home, session(5));
  expect(await seen(home)).toMatchObject({ from: 5, exact: true, screen: { offset: 5 } });
  writeFileSync(join(home, CHECKPOINT_FILE), "damaged"); // The previous one is used.
  expect(await seen(home)).toMatchObject({ exact: true, screen: { offset: LONG - 10 } });
});

test("SI4 no unsuitable snapshot is used: inexact, resized, of another terminal, old, damaged, large", async () => {
  const home = homeWith(LONG);
  for (const bad of [{ exact: false }, { cols: 81 }, { rows: 23 }, { offset: LONG + 1 }]) {
    await save(home, session(LONG - 10, bad));
    expect({ bad, ...(await seen(home)) }).toEqual({ bad, ...CUT });
  }
  await save(home, { ...session(9), terminalId: "another" });
  expect(await seen(home)).toEqual(CUT);
  const resized = homeWith(LONG, [[0, 80], [20, 70], [30, 80]]); // biome-ignore format: pairs
  await save(resized, session(15));
  expect(await seen(resized)).toEqual(CUT);
  await save(resized, session(30));
  expect(await seen(resized)).toMatchObject({ screen: { offset: 30 } });
  const old = homeWith(MAX_SINCE + 100);
  await save(old, session(99));
  expect(await seen(old)).toEqual({ from: MAX_SINCE + 100 - REPLAY_BYTES, exact: false });
  writeFileSync(join(home, CHECKPOINT_FILE), "damaged");
  writeFileSync(join(home, "recovery/checkpoint.backup.json"), "");
  expect(await seen(home)).toEqual(CUT);
  writeFileSync(join(home, CHECKPOINT_FILE), Buffer.alloc(9 << 20, " "));
  expect(await seen(home)).toEqual(CUT);
});

test("a screen of the previous generation is used only if the tape was complete at the next start", async () => {
  const home = homeWith(LONG);
  const boundary = LONG - 1000;
  const restored = (generation: number) => {
    const about = { argv: [], cwd: "/", typed: "", message: "", reason: "", notes: [], offset: boundary };
    return { id: ID, generation, restored: { ...about, screenAgeMs: null, evidence: null, at: "", accepted: false } };
  };
  await save(home, session(boundary));
  expect(await seen(home, restored(2))).toMatchObject({ screen: { offset: boundary } });
  expect(await seen(home, restored(3))).toEqual(CUT);
  await save(home, session(boundary + 1));
  expect(await seen(home, restored(2))).toEqual(CUT);
  await save(home, session(boundary + 1, {}, 2));
  expect(await seen(home, restored(2))).toMatchObject({ screen: { offset: boundary + 1 } });
});
