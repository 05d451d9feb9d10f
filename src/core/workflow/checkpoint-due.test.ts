import { expect, test } from "bun:test";
import { checkpointDueMs } from "./checkpoint-due.ts";

const since = { lastBytes: 1000, tailBytes: 10, tailMs: 0, atRest: false };
const LARGE = 1 << 20;

test("UC-3 P1 P2 a small checkpoint follows within 100 ms, and at once where the run rests", () => {
  expect(checkpointDueMs(since)).toBe(100);
  expect(checkpointDueMs({ ...since, tailMs: 70 })).toBe(30);
  expect(checkpointDueMs({ ...since, tailMs: 700 })).toBe(0);
  expect(checkpointDueMs({ ...since, lastBytes: LARGE, atRest: true })).toBe(0);
  expect(checkpointDueMs({ ...since, tailBytes: 0, atRest: true })).toBeUndefined();
});

test("UC-3 P3 a large one is written when the log has outgrown it, or at an interval", () => {
  expect(checkpointDueMs({ ...since, lastBytes: LARGE })).toBe(30_000);
  expect(checkpointDueMs({ ...since, lastBytes: LARGE, tailBytes: LARGE })).toBe(0);
});

test("UC-9 P3 ten thousand steps write less than twice as much for checkpoints as for the log", () => {
  let [state, tail, written, log] = [0, 0, 0, 0];
  let last = 0;
  for (let step = 0; step < 10_000; step += 1) {
    state += 270;
    tail += 600;
    log += 600;
    if (checkpointDueMs({ lastBytes: last, tailBytes: tail, tailMs: 0, atRest: false }) !== 0) continue;
    [last, tail] = [state, 0];
    written += state;
  }
  expect(written / log).toBeLessThan(2);
});
