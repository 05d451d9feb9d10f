// Claims about how soon a program is restarted.
import { expect, test } from "bun:test";
import { PACE, Pace } from "../../src/watchdog/pace.ts";

const crash = (liveMs: number | "never") => ({ liveMs, crashed: true });

test("WD-8(e) a program that never was live waits longer each time, up to a minute; one that was live for a second is forgiven", () => {
  const pace = new Pace(PACE);
  const waits = Array.from({ length: 12 }, (_, second) => pace.waitMs(crash("never"), second * 1000, 0));
  expect(waits.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(waits.at(-1)).toBe(60_000);
  expect(pace.waitMs(crash(1000), 20_000, 0)).toBe(0);
  expect(pace.waitMs(crash("never"), 30_000, 0)).toBe(100);
});

test("WD-8(e) a program that dies right after going live is restarted at once twice, then waits; a minute later the count is reset", () => {
  const pace = new Pace(PACE);
  expect([0, 1, 2, 3].map((at) => pace.waitMs(crash(5), at, 0))).toEqual([0, 0, 100, 200]);
  expect(pace.waitMs(crash(5), 60_004, 0)).toBe(0);
});

test("WD-8(e) an unrequested graceful exit right after going live does not cause a busy loop", () => {
  const pace = new Pace();
  const end = { liveMs: 5, crashed: false };
  expect([0, 1, 2].map((at) => pace.waitMs(end, at, 0))).toEqual([100, 200, 400]);
  expect(pace.waitMs({ ...end, liveMs: 5000 }, 9000, 0)).toBe(0);
});

test("WD-8(e) jitter only shortens a wait", () => {
  const waits = [0, 0.5, 0.999].map((chance) => new Pace().waitMs(crash("never"), 0, chance));
  expect(waits).toEqual([100, 90, 80]);
});
