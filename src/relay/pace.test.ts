// Turns and limits, with a clock that the test moves.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { AddressLimit, Pacer } from "./pace.ts";

async function settle(clock: SimClock): Promise<void> {
  await new Promise<void>((done) => clock.soon(done));
}

test("PC1 no second has more than 20 turns, also after a timer that came late", async () => {
  const clock = new SimClock();
  const pacer = new Pacer(clock);
  const turns: number[] = [];
  for (let count = 0; count < 100; count += 1) void pacer.next().then(() => turns.push(clock.elapsed()));
  clock.advance(700); // The loop was busy: timers of all this time are due at once.
  for (let count = 0; count < 6_000 && turns.length < 100; count += 1) {
    await settle(clock);
    clock.advance(1);
  }
  expect(turns).toHaveLength(100);
  for (const from of turns)
    expect(turns.filter((at) => at >= from && at <= from + 1000).length).toBeLessThanOrEqual(20);
  expect((turns.at(-1) ?? 0) - (turns[0] ?? 0)).toBeLessThan(6_000);
  expect(pacer.isFull).toBe(false);
});

test("PC2 an address has its own limit; those of one IPv6 network share it, and IPv4 is IPv4 in either form", () => {
  const clock = new SimClock();
  const limit = new AddressLimit(clock, 2, 1000);
  const counted = (...addresses: readonly string[]) => addresses.map((address) => limit.count(address));
  expect(counted("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2")).toEqual([true, true, false, true]);
  expect(counted("::ffff:10.0.0.1", "2001:db8::1", "2001:db8::2:2", "2001:db8::3", "2001:db8:1::1")).toEqual([
    false,
    true,
    true,
    false,
    true,
  ]);
  expect(limit.isOver("10.0.0.1")).toBe(true);
  clock.advance(1001);
  expect(limit.isOver("10.0.0.1")).toBe(false);
  expect(counted("10.0.0.1", "2001:db8::9")).toEqual([true, true]);
});
