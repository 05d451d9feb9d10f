// The lease of a home whose log is not appended to.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { SimProcesses } from "../../../tests/sim/processes.ts";
import type { Database } from "../../fleet/database.ts";
import { Holding } from "./holding.ts";
import { Lease } from "./lease.ts";

test("HL1 from the take until the log is open, the lease is renewed well before it ends, and not after that", async () => {
  const clock = new SimClock();
  const world = { disk: new SimDisk(), clock, processes: new SimProcesses(), home: "/h" };
  const lease = new Lease(world, 3_000);
  const calls: number[] = [];
  const call = async () => {
    calls.push(clock.elapsed());
    return { kind: "done", value: 7, isDoubtful: calls.length === 3 };
  };
  const holding = new Holding({ database: { call } as unknown as Database, clock, lease, leaseMs: 3_000 });
  const take = { home: "h", epoch: 1, id: "t" };
  lease.renewed(take, clock.sinceBoot());
  holding.start(take);
  const left: number[] = [];
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1_000);
    await new Promise<void>((go) => queueMicrotask(go));
    await Promise.resolve();
    left.push(lease.left);
  }
  expect(calls).toHaveLength(10);
  expect(left.every((ms) => ms >= 2_000)).toBe(true);
  expect(left[2]).toBe(2_000); // What was in doubt renews nothing.
  holding.stop();
  clock.advance(10_000);
  expect([calls.length, lease.left]).toEqual([10, 0]);
});
