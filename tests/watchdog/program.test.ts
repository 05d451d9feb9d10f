// Claims about the watchdog's program on a simulated machine: what it starts, watches, and starts again.

import { expect, test } from "bun:test";
import { cells, unreachable } from "../../src/base/machine.ts";
import { readLastCrash } from "../../src/home/last-crash.ts";
import { WATCHDOG_SOCKET } from "../../src/home/layout.ts";
import { readSafeMode } from "../../src/home/safe-mode.ts";
import { partMachine } from "../../src/watchdog/watched-program-table.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE, SAFE_MODE_VARIABLE } from "../../src/wire/heartbeat.ts";
import type { Ending } from "../../src/world/children.ts";
import { comeUp, DAEMON_SPEC, HOME, Machine, PROGRAM_SPEC, WEB_SPEC } from "./machine.ts";

const killed: Ending = { kind: "signalled", signal: "SIGKILL" };
const SOCKET = `${HOME}/${WATCHDOG_SOCKET}`;
const exited = (code: number): Ending => ({ kind: "exited", code });

test("WD-8(a,b,d,e) daemon, page and a user's program are started, and each is restarted when it dies", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, WEB_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  expect(machine.names).toBe("daemon web program");
  await comeUp(machine);
  await comeUp(machine, "web");
  for (const name of ["web", "program", "daemon"]) await machine.end(machine.last(name).who, killed);
  expect(machine.names).toBe("daemon web program web program daemon");
  expect(machine.last("web").command.env).toEqual({ PATH: "/bin", [HEARTBEAT_VARIABLE]: "2000" });
});

test("WD-8(e) a program that was live is restarted at once; others wait 0.1, 0.2, 0.4 s, with jitter that only shortens", async () => {
  const machine = new Machine();
  machine.run([WEB_SPEC]);
  await machine.settle();
  await comeUp(machine, "web");
  await machine.end(machine.last("web").who, killed);
  expect(machine.started.length).toBe(2);
  for (const [failure, most] of [100, 200, 400, 800].entries()) {
    await machine.end(machine.last("web").who, exited(1));
    await machine.pass(most * 0.79, 1000);
    expect(machine.started.length).toBe(2 + failure);
    await machine.pass(most * 0.21, 1000);
    expect(machine.started.length).toBe(3 + failure);
  }
  await machine.pass(10);
});

test("WD-8(e) a program that lived for a second is forgiven; one that keeps dying right after going live waits", async () => {
  const machine = new Machine();
  machine.run([PROGRAM_SPEC]);
  await machine.settle();
  for (let life = 0; life < 10; life += 1) {
    await machine.pass(1000);
    await machine.end(machine.last("program").who, killed);
    expect(machine.started.length).toBe(life + 2);
  }
  for (let life = 0; life < 3; life += 1) await machine.end(machine.last("program").who, killed);
  expect(machine.started.length).toBe(11);
  await machine.pass(100);
  expect(machine.started.length).toBe(12);
});

test("WD-8(e) a program that cannot be started counts as a crash, retried with backoff", async () => {
  const machine = new Machine();
  machine.world.children.missing = true;
  machine.run([PROGRAM_SPEC]);
  await machine.pass(1000);
  expect(machine.said.some((text) => text.includes("ENOENT"))).toBe(true);
  expect(readLastCrash(machine.world.disk, HOME)).toMatchObject({
    name: "program",
    exitCode: 127,
    reason: "EXIT_CODE",
  });
  machine.world.children.missing = false;
  await machine.pass(2000);
  expect(machine.names).toBe("program");
});

test("T4 a daemon that finds no room for its process is no crash, however often: it starts when there is room", async () => {
  const machine = new Machine();
  machine.world.children.full = true;
  machine.run([DAEMON_SPEC]);
  await machine.pass(60_000);
  expect(machine.said.filter((text) => text.includes("EAGAIN")).length).toBeGreaterThan(5);
  expect(readLastCrash(machine.world.disk, HOME)).toBeUndefined();
  machine.world.children.full = false;
  await machine.pass(75_000);
  expect([machine.names, machine.last().command.env[SAFE_MODE_VARIABLE]]).toEqual(["daemon", undefined]);
});

test("WD-2(c) a child's exit is noticed at once, without a missed heartbeat", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  await comeUp(machine);
  const before = machine.world.clock.elapsed();
  await machine.end(machine.last().who, killed);
  expect(machine.started.length).toBe(2);
  expect(machine.world.clock.elapsed()).toBe(before);
});

test("WD-5(b) a child whose connection closes before its exit is known is still judged by its exit", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await comeUp(machine);
  const child = machine.last();
  machine.world.processes.exit(child.who.pid); // A zombie: it has exited, and its parent does not know yet.
  await caller.hangUp();
  expect(machine.published).toEqual([]);
  await machine.end(child.who, exited(6));
  expect(readLastCrash(machine.world.disk, HOME)).toMatchObject({ exitCode: 6, reason: "EXIT_CODE" });
});

test("WD-6(a,b) each crash is on the bus and in the file before the daemon restarts", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const { pid } = machine.last().who;
  await comeUp(machine);
  const { children, disk } = machine.world;
  const start = children.watched.bind(children);
  const knownAtStart: unknown[] = [];
  children.watched = (...words) => {
    knownAtStart.push([machine.published.length, readLastCrash(disk, HOME)?.exitCode]);
    return start(...words);
  };
  await machine.end(machine.last().who, exited(9));
  expect(knownAtStart).toEqual([[1, 9]]);
  const time = new Date(machine.world.clock.now()).toISOString();
  const crash = { name: "daemon", pid, exitCode: 9, signal: null, reason: "EXIT_CODE", time };
  expect(machine.published).toEqual([["recovery.crash.detected", crash]]);
  expect<unknown>(readLastCrash(machine.world.disk, HOME)).toEqual({
    ...crash,
    programs: { daemon: crash },
    history: [crash],
  });
});

test("WD-2(a,d) a hung daemon is reported after two intervals, killed after 30 s, restarted, and counts as one crash", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  await comeUp(machine);
  const { who } = machine.last();
  machine.world.processes.kill(who, "SIGSTOP");
  await machine.pass(4000);
  expect(machine.published).toMatchObject([["recovery.crash.detected", { reason: "UNRESPONSIVE", signal: null }]]);
  await machine.pass(30_500);
  expect(machine.started.length).toBe(1);
  await machine.pass(1000);
  expect(machine.world.processes.signals.map(({ signal }) => signal)).toEqual(["SIGSTOP", "SIGTERM", "SIGKILL"]);
  expect(machine.started.length).toBe(2);
  expect(machine.published[1]?.[1]).toMatchObject({ reason: "UNRESPONSIVE", signal: "SIGKILL" });
  expect(machine.published.length).toBe(2);
});

test("WD-2(a) a daemon that hung and beats again is no longer silent: its later exit is judged by itself", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await comeUp(machine);
  await machine.pass(5000);
  await caller.say({ type: "beat" });
  await machine.end(machine.last().who, exited(4));
  expect(machine.published.map(([, crash]) => (crash as { reason: string }).reason)).toEqual([
    "UNRESPONSIVE",
    "EXIT_CODE",
  ]);
});

test("WD-5(a) clean exits are neither crashes nor a loop: ten in a minute leave no record and no safe mode", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  for (let life = 0; life < 10; life += 1) {
    await comeUp(machine);
    await machine.pass(1500);
    await machine.end(machine.last().who, exited(0));
  }
  expect(machine.started.length).toBe(11);
  expect(machine.published).toEqual([]);
  expect(readSafeMode(machine.world.disk, HOME).active).toBe(false);
});

test("losing a race is not a crash: the winner is adopted, and no third one is started", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const winner = machine.world.processes.spawn();
  machine.lock("daemon", winner);
  await machine.end(machine.last().who, exited(ANOTHER_RUNS));
  await machine.pass(200);
  await machine.call("daemon", winner, true);
  expect(machine.names).toBe("daemon");
  expect(machine.published).toEqual([]);
  await machine.pass(3000);
  await machine.end(winner, killed);
  await machine.pass(500);
  expect(machine.names).toBe("daemon daemon");
});

test("every cell of the part's table is legal or refused, and every state is reachable", () => {
  expect(unreachable(partMachine)).toEqual([]);
  for (const { state, event, next } of cells(partMachine))
    expect(partMachine.next(state, event).ok).toBe(next !== undefined);
});

test("WD-9(c) a socket that cannot be bound is logged and retried; children are started in the meantime", async () => {
  const machine = new Machine();
  machine.world.sockets.refused = "ENOSPC";
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  expect(machine.names).toBe("daemon");
  machine.world.sockets.refused = undefined;
  await machine.pass(2000);
  expect(machine.world.sockets.listening.has(SOCKET)).toBe(true);
});

test("a socket removed under us is back within 2 s, and an existing one is left alone", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const accept = machine.world.sockets.listening.get(SOCKET);
  await machine.pass(4000);
  expect(machine.world.sockets.listening.get(SOCKET)).toBe(accept);
  machine.world.sockets.listening.clear();
  await machine.pass(2000);
  expect(machine.world.sockets.listening.has(SOCKET)).toBe(true);
});
