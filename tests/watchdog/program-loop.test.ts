// Claims about the watchdog's program in a crash loop: safe mode is entered, announced and left.
import { expect, test } from "bun:test";
import { readSafeMode, SafeMode } from "../../src/home/safe-mode.ts";
import { readJson } from "../../src/log/file/json-file.ts";
import { PACE } from "../../src/watchdog/pace.ts";
import { SAFE_MODE_VARIABLE } from "../../src/wire/heartbeat.ts";
import type { Ending } from "../../src/world/children.ts";
import { comeUp, DAEMON_SPEC, HOME, Machine, PROGRAM_SPEC, WEB_SPEC } from "./machine.ts";

const killed: Ending = { kind: "signalled", signal: "SIGKILL" };
const exited = (code: number): Ending => ({ kind: "exited", code });

test("SM-4(a) SM-5 the third crash within 60 s enters safe mode before the daemon restarts, and the daemon knows it", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  for (let crash = 1; crash <= 3; crash += 1) {
    expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toBeUndefined();
    await comeUp(machine);
    const before = machine.world.clock.elapsed();
    await machine.end(machine.last().who, killed);
    if (crash === 3) await machine.pass(100);
    expect(machine.started.length).toBe(crash + 1);
    expect(machine.world.clock.elapsed() - before).toBeLessThan(5000);
  }
  const reason = "daemon crashed 3 times within 60 s, most recently by SIGKILL";
  expect(readSafeMode(machine.world.disk, HOME)).toMatchObject({ active: true, reason });
  expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toBe(reason);
  expect(machine.published.map(([topic]) => topic)).toContain("recovery.safemode.entered");
});

test("SM-4(a) the daemon is not restarted before safe mode is on disk", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const { promise: written, resolve } = Promise.withResolvers<void>();
  machine.world.disk.gate = ({ path }) => (path.includes("safe-mode") ? written : Promise.resolve());
  for (let crash = 1; crash <= 3; crash += 1) {
    await comeUp(machine);
    await machine.end(machine.last().who, killed);
  }
  await machine.pass(900);
  expect(machine.started.length).toBe(3);
  resolve();
  await machine.settle();
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(true);
  await machine.pass(100);
  expect(machine.started.length).toBe(4);
});

test("SM-5 three crashes before the daemon was ever live lead to safe mode within 5 s of the third", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  for (let crash = 1; crash <= 3; crash += 1) {
    await machine.end(machine.last().who, exited(1));
    await machine.pass(500);
  }
  expect(machine.started.length).toBe(4);
  expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toContain("exit code 1");
});

test("SM-5 WD-9(c) a disk that never answers, or is full, prevents neither safe mode nor a restart", async () => {
  for (const trouble of ["stalled", "full"] as const) {
    const machine = new Machine();
    machine.run([DAEMON_SPEC]);
    await machine.settle();
    if (trouble === "full") machine.world.disk.capacity = 0;
    else machine.world.disk.gate = () => new Promise<void>(() => undefined);
    for (let crash = 1; crash <= 3; crash += 1) {
      await machine.call("daemon", machine.last().who, true);
      await machine.end(machine.last().who, killed);
      await machine.pass(1500);
    }
    expect(machine.started.length).toBe(4);
    expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toContain("3 times");
  }
});

test("only the daemon leads to safe mode; a page or a user's program may die freely", async () => {
  const machine = new Machine();
  machine.run([WEB_SPEC, PROGRAM_SPEC]);
  for (let crash = 0; crash < 5; crash += 1) {
    await machine.settle();
    await machine.end(machine.last("web").who, killed);
    await machine.end(machine.last("program").who, killed);
    await machine.pass(3000);
  }
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(false);
});

test("SM-2(b) a loop continues across watchdogs: one crash under each of three is a loop", async () => {
  const machine = new Machine();
  for (let watchdog = 1; watchdog <= 3; watchdog += 1) {
    const { told, over } = machine.run([DAEMON_SPEC]);
    await machine.settle();
    await comeUp(machine);
    await machine.end(machine.last().who, killed);
    expect(readSafeMode(machine.world.disk, HOME).active).toBe(watchdog === 3);
    if (watchdog === 3) await machine.pass(100);
    await machine.world.processes.kill(machine.last().who, "SIGKILL");
    told();
    expect(await over).toBe("ended");
    machine.forgetWatchdog();
  }
});

test("SM-3(g) the operator ends it: the next daemon starts normally", async () => {
  const machine = new Machine();
  await new SafeMode({ ...machine.world, home: HOME }, () => undefined).enter("a loop");
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toBe("a loop");
  await comeUp(machine);
  await new SafeMode({ ...machine.world, home: HOME }, () => undefined).exit();
  await machine.end(machine.last().who, killed);
  expect(machine.last().command.env[SAFE_MODE_VARIABLE]).toBeUndefined();
});

test("SM-3(g) leaving safe mode resets the count of crashes: it takes three new ones to enter it again", async () => {
  const machine = new Machine();
  const { told, over } = machine.run([DAEMON_SPEC]);
  await machine.settle();
  const crash = async () => {
    await machine.end(machine.last().who, exited(1));
    await machine.pass(5000);
  };
  for (let count = 0; count < 3; count += 1) await crash();
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(true);
  await new SafeMode({ ...machine.world, home: HOME }, () => undefined).exit();
  await machine.pass(1);
  await crash();
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(false);
  expect(readJson(machine.world.disk, `${HOME}/recovery/crash-history.json`)?.["crashes"]).toHaveLength(1);
  await crash();
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(false);
  await crash();
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(true);
  told();
  await over;
});

test("C4 a safe mode that was left in the future, by a clock that was set back since, hides no loop", async () => {
  const machine = new Machine();
  await new SafeMode({ ...machine.world, home: HOME }, () => undefined).enter("a loop");
  await new SafeMode({ ...machine.world, home: HOME }, () => undefined).exit();
  machine.world.clock.jump(-86_400_000);
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  for (let count = 0; count < 3; count += 1) {
    await machine.end(machine.last().who, exited(1));
    await machine.pass(1000);
  }
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(true);
});

test("the drill's threshold is respected: with 100 allowed, ten kills are not a loop", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC], { pace: { ...PACE, crashLoop: { crashes: 100, windowMs: 60_000 } } });
  await machine.settle();
  for (let crash = 0; crash < 10; crash += 1) {
    await comeUp(machine);
    await machine.end(machine.last().who, killed);
  }
  expect(machine.started.length).toBe(11);
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(false);
});
