// Claims about how soon something is started again.
import { expect, test } from "bun:test";
import { PACE, Pace } from "../../src/watchdog/pace.ts";

const crash = (liveMs: number | "never") => ({ liveMs, crashed: true });

test("WD-8(e) what never was live waits longer each time, up to a minute; what was live for a second is forgiven", () => {
  const pace = new Pace(PACE);
  const waits = Array.from({ length: 12 }, (_, second) => pace.waitMs(crash("never"), second * 1000, 0));
  expect(waits.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(waits.at(-1)).toBe(60_000);
  expect(pace.waitMs(crash(1000), 20_000, 0)).toBe(0);
  expect(pace.waitMs(crash("never"), 30_000, 0)).toBe(100);
});

test("WD-8(e) what dies right after it was live comes back at once twice, then waits; a minute later it is calm again", () => {
  const pace = new Pace(PACE);
  expect([0, 1, 2, 3].map((at) => pace.waitMs(crash(5), at, 0))).toEqual([0, 0, 100, 200]);
  expect(pace.waitMs(crash(5), 60_004, 0)).toBe(0);
});

test("WD-8(e) a graceful end that nobody asked for, right after it was live, does not spin", () => {
  const pace = new Pace();
  const end = { liveMs: 5, crashed: false };
  expect([0, 1, 2].map((at) => pace.waitMs(end, at, 0))).toEqual([100, 200, 400]);
  expect(pace.waitMs({ ...end, liveMs: 5000 }, 9000, 0)).toBe(0);
});

test("WD-8(e) chance only shortens a wait", () => {
  const waits = [0, 0.5, 0.999].map((chance) => new Pace().waitMs(crash("never"), 0, chance));
  expect(waits).toEqual([100, 90, 80]);
});
