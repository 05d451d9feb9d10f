// The health of a home, with real processes, without a daemon.
import { afterEach, expect, test } from "bun:test";
import { cleanUp, cleanups, host, newHome, world } from "../../tests/web/host.ts";
import { put } from "../../tests/world/places.ts";
import { diskUsage, diskUsageWithin } from "../home/disk-usage.ts";
import type { DoctorCheck, WebHealth, WebUsage } from "../wire/page/messages.ts";

afterEach(cleanUp);

/** A process that looks like a program of this home. */
function started(name: string): number {
  const child = Bun.spawn(["sleep", "1000"], { argv0: name });
  cleanups.push(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  return child.pid;
}

test("WH2 web.health has disk, log, programs, holders of this home and their memory, also without a daemon", async () => {
  const home = newHome();
  world.disk.makeDirectory(`${home}/wal`);
  put(world.disk, `${home}/wal/00000001.wal`, "12345");
  const other = newHome();
  for (const name of [`${home}/run/bin/holder-1.js`, `${home}/run/bin/orders-1.js`, `${other}/run/bin/holder-1.js`])
    started(name);
  const watchdog = world.processes.pid;
  const who = { pid: watchdog, startTime: world.processes.startTime(watchdog), bootId: world.processes.bootId() };
  put(world.disk, `${home}/run/watchdog.lock`, JSON.stringify(who));
  const tab = await (await host(home)).tab();
  const answer = await tab.call("web.health");
  const found = (answer.ok ? answer.value : {}) as WebHealth;
  expect(found).toMatchObject({
    log: { bytes: 5, files: 1 },
    programs: [
      { name: "watchdog", pid: watchdog, memory: expect.any(Number) },
      { name: "daemon", pid: null, memory: null },
      { name: "web", pid: null, memory: null },
    ],
    holders: { many: 2 },
  });
  expect(found.disk.freeBytes).toBeGreaterThan(0);
  expect(found.holders.memory).toBeGreaterThan(0);
});

test("web.usage counts by kind, and DU3 not more files than it may", async () => {
  const home = newHome();
  world.disk.makeDirectory(`${home}/wal`);
  for (let one = 0; one < 30; one += 1) put(world.disk, `${home}/wal/${one}.wal`, "123");
  const tab = await (await host(home)).tab();
  const answer = await tab.call("web.usage");
  const { kinds, isWhole } = (answer.ok ? answer.value : {}) as WebUsage;
  expect([kinds.find(({ kind }) => kind === "write-ahead log"), isWhole]).toEqual([
    { kind: "write-ahead log", files: 30, bytes: 90 },
    true,
  ]);
  let rests = 0;
  const rest = async () => {
    rests += 1;
  };
  const bounded = await diskUsageWithin(world.disk, home, { most: 10, rest });
  expect([bounded.isWhole, bounded.kinds.reduce((sum, { files }) => sum + files, 0)]).toEqual([false, 10]);
  for (let one = 30; one < 1000; one += 1) put(world.disk, `${home}/wal/${one}.wal`, "");
  expect((await diskUsageWithin(world.disk, home, { most: 5000, rest })).kinds).toEqual(diskUsage(world.disk, home));
  expect(rests).toBe(10); // After every 100 files.
});

test("web.doctor has the checks of the command", async () => {
  const tab = await (await host()).tab();
  const answer = await tab.call("web.doctor");
  const { checks } = (answer.ok ? answer.value : { checks: [] }) as { checks: DoctorCheck[] };
  const names = checks.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["runtime", "locks", "room", "log"]));
  expect(checks.every(({ status }) => ["ok", "warning", "problem"].includes(status))).toBe(true);
});
