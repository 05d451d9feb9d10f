// What may be started by a home in a fleet, and until when.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { SimProcesses } from "../../../tests/sim/processes.ts";
import { readLease } from "../../home/fleet-files.ts";
import { RUN } from "../../home/layout.ts";
import type { DaemonPorts } from "../ports.ts";
import { Lease, leasedWorld } from "./lease.ts";

const TAKE = { home: "home", epoch: 3, id: "take" };

function leased(leaseMs = 3_000) {
  const [clock, disk, processes] = [new SimClock(), new SimDisk(), new SimProcesses()];
  for (const path of ["/h", `/h/${RUN}`]) disk.makeDirectory(path);
  const place = { disk, clock, processes, home: "/h" };
  const lease = new Lease(place, leaseMs);
  const started: string[] = [];
  const start = (what: string) => () => {
    started.push(what);
    return {};
  };
  const kinds = ["pty", "pipes", "detached", "told", "watched"] as const;
  const children = Object.fromEntries(kinds.map((kind) => [kind, start(kind)]));
  const post = async () => void started.push("post");
  const world = leasedWorld({ ...place, children, httpClient: { post } } as unknown as DaemonPorts["world"], lease);
  const calls = [...kinds.map((kind) => () => (world.children[kind] as () => unknown)())];
  return { clock, place, lease, started, world, calls };
}

test("LE1 a lease lasts from when its renewal was sent, also while the machine sleeps", () => {
  const { clock, place, lease } = leased();
  expect([lease.isHeld, lease.left]).toEqual([false, 0]);
  clock.advance(1_000);
  lease.renewed(TAKE, 400);
  expect([lease.left, readLease(place)?.until]).toEqual([2_400, 3_400]);
  clock.sleep(2_399);
  expect(lease.isHeld).toBe(true);
  clock.sleep(1);
  expect(lease.isHeld).toBe(false);
  lease.renewed(TAKE, 100); // An answer that comes late says nothing new.
  expect(lease.isHeld).toBe(false);
});

test("LE3 LE4 without a lease nothing is started, no request is sent, and no holder gets an order", async () => {
  const { clock, lease, started, world, calls } = leased();
  for (const call of calls) expect(call).toThrow("without a lease: EAGAIN");
  expect(async () => await world.httpClient.post({} as never, {} as never)).toThrow("without a lease");
  expect([started, world.mayStart?.()]).toEqual([[], false]);
  lease.renewed(TAKE, clock.sinceBoot());
  for (const call of calls) call();
  await world.httpClient.post({} as never, {} as never);
  expect([started.length, world.mayStart?.()]).toEqual([6, true]);
});

test("a home that nobody takes by himself has a lease that does not end", () => {
  const { clock, place, lease } = leased();
  lease.endless(TAKE);
  clock.sleep(1e9);
  expect([lease.isHeld, readLease(place)?.until]).toEqual([true, Number.MAX_SAFE_INTEGER]);
});
