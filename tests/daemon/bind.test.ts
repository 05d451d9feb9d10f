// DS-3, with a simulated clock.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { bindRetrying } from "../../src/daemon/bind.ts";
import { SimClock } from "../sim/clock.ts";
import { SimRandom } from "../sim/random.ts";

function site(failures: number) {
  const clock = new SimClock();
  const tries: number[] = [];
  const faults: Fault[] = [];
  const bind = async () => {
    tries.push(clock.elapsed());
    if (tries.length <= failures) throw new Fault({ code: "EADDRINUSE", operation: "listen", path: "/s" });
  };
  const outcome = bindRetrying({ clock, random: new SimRandom(1) }, bind, (fault) => void faults.push(fault));
  const pass = async () => {
    for (let i = 0; i < 10; i += 1) {
      await clock.settle();
      clock.advance((clock.nextTimer ?? clock.elapsed()) - clock.elapsed());
    }
  };
  return { clock, tries, faults, outcome, pass };
}

test("a free socket is bound at once", async () => {
  const { outcome, tries, clock } = site(0);
  expect(await outcome).toBeUndefined();
  expect([tries, clock.pendingTimers]).toEqual([[0], 0]);
});

test("DS-3(a,b) a socket that cannot be bound is tried six times with growing pauses, then given up with the reason", async () => {
  const { outcome, tries, faults, pass, clock } = site(100);
  await pass();
  expect((await outcome)?.code).toBe("EADDRINUSE");
  expect([tries.length, faults.length, clock.pendingTimers]).toEqual([6, 6, 0]);
  const pauses = tries.slice(1).map((at, n) => at - (tries[n] ?? 0));
  for (const [n, pause] of pauses.entries()) {
    expect(pause).toBeLessThanOrEqual(1000 * 2 ** n);
    expect(pause).toBeGreaterThanOrEqual(800 * 2 ** n);
  }
});

test("DS-3(a) a socket that becomes free in the meantime is bound", async () => {
  const { outcome, tries, faults, pass } = site(3);
  await pass();
  expect(await outcome).toBeUndefined();
  expect([tries.length, faults.length]).toEqual([4, 3]);
});

test("an error that is not a Fault is a bug and is not retried", async () => {
  const clock = new SimClock();
  const bug = bindRetrying(
    { clock, random: new SimRandom(1) },
    () => Promise.reject(new TypeError("bug")),
    () => undefined,
  );
  expect(bug).rejects.toThrow("bug");
});
