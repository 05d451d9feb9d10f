import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realDisk } from "../../world/real/disk.ts";
import { segmentPath } from "./segments.ts";
import { TapeStates } from "./tape-states.ts";

const scratch = mkdtempSync(join(tmpdir(), "hfts-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;

/** A tape with a segment of ten bytes, its directory changed at second 100, and how often it was listed. */
function tapeAt(now: () => number) {
  made += 1;
  const directory = join(scratch, String(made));
  mkdirSync(directory);
  let lists = 0;
  const disk = realDisk();
  const counted = {
    ...disk,
    list: (path: string) => {
      lists += 1;
      return disk.list(path);
    },
  };
  const put = (start: number, bytes: number, at: number) => {
    writeFileSync(segmentPath(directory, start), "x".repeat(bytes));
    utimesSync(segmentPath(directory, start), at, at);
  };
  put(0, 10, 90);
  utimesSync(directory, 100, 100);
  const states = new TapeStates(counted, { now });
  return { directory, put, states, lists: () => lists };
}

const at = (seconds: number) => new Date(seconds * 1000).toISOString();

test("a tape that grows in the same segment is listed once", () => {
  const { directory, put, states, lists } = tapeAt(() => 200_000);
  expect(states.of(directory)).toEqual({ end: 10, writtenAt: at(90) });
  put(0, 25, 150);
  utimesSync(directory, 100, 100);
  expect(states.of(directory)).toEqual({ end: 25, writtenAt: at(150) });
  expect(lists()).toBe(1);
});

test("TS1 a new segment is seen, also one that began while the time of the system stood still", () => {
  let now = 200_000;
  const { directory, put, states } = tapeAt(() => now);
  states.of(directory);
  put(10, 5, 160);
  expect(states.of(directory)).toEqual({ end: 15, writtenAt: at(160) });

  now = 100_500;
  const other = tapeAt(() => now);
  other.states.of(other.directory);
  other.put(10, 5, 100);
  utimesSync(other.directory, 100, 100);
  expect(other.states.of(other.directory)).toEqual({ end: 15, writtenAt: at(100) });
});

test("TS2 an empty segment that is filled later counts from then on", () => {
  const { directory, put, states } = tapeAt(() => 200_000);
  put(10, 0, 95);
  utimesSync(directory, 100, 100);
  expect(states.of(directory)).toEqual({ end: 10, writtenAt: at(90) });
  put(10, 7, 170);
  utimesSync(directory, 100, 100);
  expect(states.of(directory)).toEqual({ end: 17, writtenAt: at(170) });
});

test("a tape without segments, or without a directory, is empty", () => {
  const { states } = tapeAt(() => 200_000);
  expect(states.of(join(scratch, "none"))).toEqual({ end: 0, writtenAt: null });
});
