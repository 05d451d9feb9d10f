import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { Pauses, within } from "./wait.ts";

test("a promise has its time: in time its value, else undefined, and either way no timer is left", async () => {
  const clock = new SimClock();
  expect(await within(clock, 100, Promise.resolve("value"))).toBe("value");
  expect(clock.pendingTimers).toBe(0);
  expect(await within(clock, 100, Promise.reject(new Error("no"))).catch(String)).toBe("Error: no");
  expect(clock.pendingTimers).toBe(0);
  const late = within(clock, 100, new Promise(() => undefined));
  clock.advance(100);
  expect([await late, clock.pendingTimers]).toEqual([undefined, 0]);
});

test("pauses grow up to the longest, and end when the time is over; progress starts it again", async () => {
  const clock = new SimClock();
  const pauses = new Pauses(clock, { firstMs: 10, mostMs: 40, allMs: 100 });
  const next = async () => {
    const before = clock.elapsed();
    const more = pauses.next();
    while (clock.pendingTimers > 0) clock.advance(10);
    return (await more) ? clock.elapsed() - before : "over";
  };
  expect([await next(), await next(), await next(), await next(), await next()]).toEqual([10, 20, 40, 40, "over"]);
  pauses.extend();
  expect(await next()).toBe(40);
});
