// Real programs below real holders, stopped, continued and killed.
import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import { Freezer } from "../../src/standby/freezer.ts";
import type { Disk } from "../../src/world/disk.ts";
import { until } from "../until.ts";
import { HeldHome, isStopped, lives, processes } from "./held-home.ts";

let held: HeldHome;
afterEach(() => held.end());

/** A program with a child, one without an environment, and one that has left its session and its parent. */
const TREE = `echo $$ >>$OUT
  sleep 1000 & echo $! >>$OUT
  (env -i bash -c 'echo $$ >>'$OUT'; exec sleep 1001' &)
  (setsid bash -c 'echo $$ >>$OUT; exec sleep 1002' &)
  wait`;
/** One that has left all three is found if its holder takes orphans in, as those of agents do. */
const LEFT_ALL = `(env -i setsid bash -c 'echo $$ >>'$OUT'; exec sleep 1003' &)
  `;

async function all(what: string, pids: readonly number[], is: (pid: number) => boolean): Promise<void> {
  await until(
    what,
    () => pids.every(is),
    () => pids.map((pid) => [pid, is(pid)]),
  );
}

async function started() {
  held = new HeldHome();
  const programs = [...(await held.agent(LEFT_ALL + TREE, 5)), ...(await held.attempt(TREE, 4))];
  const terminal = await held.terminal("echo $$ >>$OUT; sleep 1004 & echo $! >>$OUT; wait", 2);
  const holders = [held.holderOf(programs[0] ?? 0), held.holderOf(programs[5] ?? 0), held.holderOf(terminal[0] ?? 0)];
  return { programs, others: [...terminal, ...holders], freezer: new Freezer(held.world) };
}

test("all programs of agents and steps are stopped and continued, and no terminal and no holder", async () => {
  const { programs, others, freezer } = await started();
  expect(freezer.isFrozen).toBe(false);
  expect(freezer.freeze()).toBeGreaterThanOrEqual(programs.length);
  await all("all are stopped", programs, isStopped);
  expect(others.map(isStopped)).toEqual(others.map(() => false));
  expect([freezer.isFrozen, freezer.freeze()]).toEqual([true, 0]);
  expect(freezer.goOn()).toBeGreaterThanOrEqual(programs.length);
  await all("all go on", programs, (pid) => !isStopped(pid) && lives(pid));
  expect([freezer.isFrozen, existsSync(join(held.home, "run/frozen.json"))]).toEqual([false, false]);
});

test("FZ2 another one finishes what one that died has begun: it continues, or it kills", async () => {
  const { programs, others, freezer } = await started();
  freezer.freeze();
  await all("all are stopped", programs, isStopped);
  const agents = programs.slice(0, 5);
  process.kill(held.holderOf(agents[0] ?? 0), "SIGKILL");
  const next = new Freezer(held.world);
  expect(next.isFrozen).toBe(true);
  expect(next.goOn()).toBeGreaterThanOrEqual(programs.length - 1);
  await all("all go on", programs, (pid) => !isStopped(pid));
  next.freeze();
  const last = new Freezer(held.world);
  expect(last.kill()).toBeGreaterThan(0);
  const isLost = (pid: number) => processes.kin(pid)?.argv.includes("1003") === true; // Its holder is dead.
  await all("all are gone", programs, (pid) => !lives(pid) || isLost(pid));
  await until(
    "there is nothing left to kill",
    () => last.kill() === 0,
    () => "some",
  );
  expect(last.isFrozen).toBe(false);
  expect(others.slice(0, 2).map(lives)).toEqual([true, true]);
});

test("FZ1 what was stopped before stays stopped", async () => {
  held = new HeldHome();
  const [parent = 0, child = 0] = await held.agent("echo $$ >>$OUT; sleep 1005 & echo $! >>$OUT; wait", 2);
  process.kill(child, "SIGSTOP");
  await all("the child is stopped", [child], isStopped);
  const freezer = new Freezer(held.world);
  freezer.freeze();
  await all("both are stopped", [parent, child], isStopped);
  expect(new Freezer(held.world).goOn()).toBe(1);
  await all("the parent goes on", [parent], (pid) => !isStopped(pid));
  expect(isStopped(child)).toBe(true);
});

test("FZ5 a full disk keeps nothing running, and what it could not record is on record when there is room", async () => {
  held = new HeldHome();
  const [parent = 0, child = 0] = await held.agent("echo $$ >>$OUT; sleep 1006 & echo $! >>$OUT; wait", 2);
  const place = { isFull: true };
  const freezer = new Freezer({ ...held.world, disk: fullDisk(held.world.disk, () => place.isFull) });
  freezer.freeze();
  await all("both are stopped", [parent, child], isStopped);
  expect([freezer.isFrozen, existsSync(join(held.home, "run/frozen.json"))]).toEqual([true, false]);
  place.isFull = false;
  freezer.freeze();
  expect(new Freezer(held.world).goOn()).toBe(2);
  await all("both go on", [parent, child], (pid) => !isStopped(pid));
});

/** No new file can be written on it while it is full. */
function fullDisk(disk: Disk, isFull: () => boolean): Disk {
  const open: Disk["open"] = (path, how) => {
    if (isFull() && how === "exclusive") throw new Fault({ code: "ENOSPC", operation: "write", path });
    return disk.open(path, how);
  };
  return new Proxy(disk, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === "open") return open;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("FZ3 a program that starts others all the time is stopped with all of them", async () => {
  held = new HeldHome();
  const [forking = 0] = await held.agent("echo $$ >>$OUT; while :; do sleep 1 & sleep 0.002; done");
  const freezer = new Freezer(held.world);
  freezer.freeze();
  await all("it is stopped", [forking], isStopped);
  await until(
    "nothing is found any more",
    () => freezer.freeze() === 0,
    () => "more",
  );
});
