// Claims about how the watchdog's program ends: one per home, what the operator wants, and what is left behind.
import { expect, test } from "bun:test";
import { writeWanted } from "../../src/home/wanted.ts";
import type { Ending } from "../../src/world/children.ts";
import { comeUp, DAEMON_SPEC, HOME, Machine, PROGRAM_SPEC, WEB_SPEC } from "./machine.ts";

const exited = (code: number): Ending => ({ kind: "exited", code });

test("WD-7 a watchdog asked to exit leaves the processes running, and no timer behind", async () => {
  const machine = new Machine();
  const { told, over } = machine.run([DAEMON_SPEC, WEB_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  const caller = await comeUp(machine);
  await machine.pass(1000);
  told();
  expect(await over).toBe("ended");
  await caller.say({ type: "beat" });
  expect(machine.world.clock.pendingTimers).toBe(0);
  expect(machine.world.processes.signals).toEqual([]);
  expect(machine.world.sockets.listening.size).toBe(0);
});

test("a second watchdog exits at once, because of the lock or the socket that answers", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  expect(await machine.run([DAEMON_SPEC]).over).toBe("another");
  machine.world.disk.unlink(`${HOME}/run/watchdog.lock`);
  expect(await machine.run([DAEMON_SPEC]).over).toBe("another");
  expect(machine.names).toBe("daemon");
});

test("a watchdog asked to exit while the operator wants down stops everything, the daemon last", async () => {
  const machine = new Machine();
  const { told, over } = machine.run([DAEMON_SPEC, WEB_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  const pids = ["program", "web", "daemon"].map((name) => machine.last(name).who.pid);
  await writeWanted(machine.world.disk, HOME, "down");
  told();
  expect(await over).toBe("ended");
  expect(machine.world.processes.signals).toEqual(pids.map((pid) => ({ pid, signal: "SIGTERM" })));
  expect(machine.published).toEqual([]);
  expect(machine.world.clock.pendingTimers).toBe(0);
});

test("down during a restart: what waits to be restarted is not, and the rest is stopped", async () => {
  const machine = new Machine();
  const { over } = machine.run([DAEMON_SPEC, WEB_SPEC]);
  await machine.settle();
  await machine.end(machine.last().who, exited(1));
  await writeWanted(machine.world.disk, HOME, "down");
  await machine.pass(500);
  expect(await over).toBe("ended");
  expect(machine.names).toBe("daemon web");
});

test("down between an exit and its immediate restart: nothing is started", async () => {
  const machine = new Machine();
  const { over } = machine.run([DAEMON_SPEC]);
  await machine.settle();
  await comeUp(machine);
  await writeWanted(machine.world.disk, HOME, "down");
  await machine.end(machine.last().who, { kind: "signalled", signal: "SIGTERM" });
  expect(await over).toBe("ended");
  expect(machine.names).toBe("daemon");
  expect(machine.published).toEqual([]);
});

test("a client that changed what the operator wants can make the watchdog check it", async () => {
  const machine = new Machine();
  const { over } = machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await comeUp(machine);
  await caller.say({ type: "look" });
  expect(machine.world.processes.signals).toEqual([]);
  await writeWanted(machine.world.disk, HOME, "down");
  await caller.say({ type: "look" });
  expect(await over).toBe("ended");
});

test("a program that does not stop is killed after its time, but not while it waits for the disk", async () => {
  const machine = new Machine();
  const { told, over } = machine.run([DAEMON_SPEC], { stopMs: 1000 });
  await machine.settle();
  const { who } = machine.last();
  machine.world.processes.kill(who, "SIGSTOP");
  machine.world.processes.stall(who.pid);
  await writeWanted(machine.world.disk, HOME, "down");
  told();
  await machine.pass(20_000);
  expect(machine.world.processes.signals.map(({ signal }) => signal)).toEqual(["SIGSTOP", "SIGTERM"]);
  machine.world.processes.stall(who.pid, false);
  await machine.pass(500);
  expect(await over).toBe("ended");
});
