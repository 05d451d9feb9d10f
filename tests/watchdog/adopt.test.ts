// Claims about processes that the watchdog did not start: found by lock, by note or by their call, watched, and never
// doubled.

import { expect, test } from "bun:test";
import { readLastCrash } from "../../src/home/last-crash.ts";
import { WATCHDOG_SOCKET } from "../../src/home/layout.ts";
import { writeWanted } from "../../src/home/wanted.ts";
import { notePathOf } from "../../src/home/watched.ts";
import { writeJson } from "../../src/log/file/json-file.ts";
import { lockPathOf } from "../../src/watchdog/specs.ts";
import type { Ending } from "../../src/world/children.ts";
import { put } from "../world/places.ts";
import { DAEMON_SPEC, HOME, Machine, PROGRAM_SPEC } from "./machine.ts";

const SOCKET = `${HOME}/${WATCHDOG_SOCKET}`;
const killed: Ending = { kind: "signalled", signal: "SIGKILL" };

/** An unwatched daemon that holds its lock. */
function orphan(machine: Machine) {
  const who = machine.world.processes.spawn();
  machine.lock("daemon", who);
  return who;
}

test("WD-8(a) a new watchdog adopts the running daemon by its lock, and starts no second one", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await machine.call("daemon", who, true);
  for (let beat = 0; beat < 10; beat += 1) {
    await machine.pass(1900);
    await caller.say({ type: "beat" });
  }
  expect(machine.names).toBe("");
  expect(machine.published).toEqual([]);
});

test("WD-2(b) WD-5(d) a closed socket is the end of an adopted daemon: noticed and restarted at once, and no silence", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await machine.call("daemon", who, true);
  await machine.end(who, killed);
  await caller.hangUp();
  expect(machine.names).toBe("daemon");
  expect(machine.world.clock.elapsed()).toBe(0);
  const crash = { pid: who.pid, reason: "SIGNAL", signal: null, exitCode: null };
  expect(readLastCrash(machine.world.disk, HOME)).toMatchObject(crash);
});

test("WD-2(b) a connection that closes just before its process is gone is followed closely", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const caller = await machine.call("daemon", who, true);
  await caller.hangUp();
  await machine.pass(20, 5);
  expect(machine.names).toBe("");
  await machine.end(who, killed);
  await machine.pass(5);
  expect(machine.names).toBe("daemon");
});

test("WD-2(a) a connection that closes while its process lives is not its end: it reconnects", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  await (await machine.call("daemon", who, true)).hangUp();
  await machine.pass(1500);
  const again = await machine.call("daemon", who, true);
  await machine.pass(1900);
  await again.say({ type: "beat" });
  expect(machine.names).toBe("");
  expect(machine.published).toEqual([]);
});

test("WD-5(a,b) an adopted daemon that announces how it exits is judged by that", async () => {
  for (const [code, crashes] of [
    [0, 0],
    [5, 1],
  ] as const) {
    const machine = new Machine();
    const who = orphan(machine);
    machine.run([DAEMON_SPEC]);
    await machine.settle();
    const caller = await machine.call("daemon", who, true);
    await machine.pass(1500);
    await caller.say({ type: "bye", code });
    await machine.end(who, { kind: "exited", code });
    await caller.hangUp();
    expect(machine.names).toBe("daemon");
    expect(machine.published.length).toBe(crashes);
  }
});

test("WD-2(a,d) an adopted daemon that never connects is unresponsive, and killed after its time", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  machine.world.processes.kill(who, "SIGSTOP");
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  await machine.pass(4000);
  expect(machine.published.length).toBe(1);
  await machine.pass(31_500);
  expect(machine.world.processes.startTime(who.pid)).toBeUndefined();
});

test("WD-8(a) a lock without a record of its holder is waited for: until the holder connects or the lock is free", async () => {
  for (const end of ["calls", "is free", "down"] as const) {
    const machine = new Machine();
    const who = orphan(machine);
    put(machine.world.disk, lockPathOf(HOME, "daemon"), "?".repeat(200));
    const { over } = machine.run([DAEMON_SPEC]);
    await machine.pass(1000);
    expect(machine.names).toBe("");
    if (end === "calls") await machine.call("daemon", who, true);
    if (end === "is free") await machine.end(who, killed);
    if (end === "down") await writeWanted(machine.world.disk, HOME, "down");
    await machine.pass(100);
    if (end === "down") await (await machine.call("stranger", who)).say({ type: "look" });
    expect(machine.names).toBe(end === "is free" ? "daemon" : "");
    if (end === "down") expect(await over).toBe("ended");
  }
});

test("WD-8(a) a daemon that connects while the next one waits for its start is adopted instead", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  await machine.end(machine.last().who, { kind: "exited", code: 1 });
  const other = machine.world.processes.spawn();
  await machine.call("daemon", other, true);
  await machine.pass(1000);
  expect(machine.names).toBe("daemon");
});

test("WD-2(a) heartbeats of a rival or of a dead process keep nothing alive", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const rival = await machine.call("daemon", machine.world.processes.spawn(), true);
  for (let beat = 0; beat < 4; beat += 1) {
    await machine.pass(1000);
    await rival.say({ type: "beat" });
  }
  expect(machine.published).toMatchObject([["recovery.crash.detected", { reason: "UNRESPONSIVE" }]]);
});

test("WD-9(b) garbage on the socket is harmless: bad lines, endless lines, beats of strangers, too many connections", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC]);
  await machine.settle();
  const { who } = machine.last();
  const good = await machine.call("daemon", who, true);
  const bad = await machine.call("nobody", who);
  for (const text of ["\n\n{\n", "\0\xff\n", '{"type":"beat"}\n', "x".repeat(3 << 20)]) await bad.raw(text);
  let cutOff = 0;
  const closed = () => {
    cutOff += 1;
  };
  const callers = Array.from({ length: 300 }, () =>
    machine.world.sockets.connect(SOCKET, { bytes: () => undefined, closed }),
  );
  await Promise.all(callers);
  await machine.settle();
  expect(cutOff).toBe(300 + 1 - 256);
  await machine.pass(1000);
  await good.say({ type: "beat" });
  await machine.pass(3000);
  expect(machine.published).toEqual([]);
  expect(machine.names).toBe("daemon");
});

test("WD-8(d,e) a user's program that outlived the watchdog is adopted by its record, and not started twice", async () => {
  const machine = new Machine();
  const { told, over } = machine.run([PROGRAM_SPEC]);
  await machine.settle();
  const { who } = machine.last("program");
  told();
  await over;
  machine.forgetWatchdog();
  machine.run([PROGRAM_SPEC]);
  await machine.pass(2000);
  expect(machine.names).toBe("program");
  await machine.end(who, killed);
  await machine.pass(250);
  expect(machine.names).toBe("program program");
});

test("WD-8(d) a record of another boot, or of a reused pid, is ignored", async () => {
  const machine = new Machine();
  const stranger = machine.world.processes.spawn();
  for (const wrong of [{ bootId: "before" }, { startTime: 1 }]) {
    await writeJson(machine.world.disk, notePathOf(HOME, "program"), { ...stranger, ...wrong });
    const { told, over } = machine.run([PROGRAM_SPEC]);
    await machine.settle();
    told();
    await over;
  }
  expect(machine.names).toBe("program program");
});

test("a watchdog that starts while down is wanted stops what it finds, and starts nothing", async () => {
  const machine = new Machine();
  const who = orphan(machine);
  await writeWanted(machine.world.disk, HOME, "down");
  const { over } = machine.run([DAEMON_SPEC, PROGRAM_SPEC]);
  await machine.pass(500);
  expect(await over).toBe("ended");
  expect(machine.names).toBe("");
  expect(machine.world.processes.signals).toEqual([{ pid: who.pid, signal: "SIGTERM" }]);
});

test("a watchdog whose socket another one has taken leaves: two would count every crash twice", async () => {
  const machine = new Machine();
  const { over } = machine.run([DAEMON_SPEC]);
  await machine.settle();
  let left: string | undefined;
  void over.then((how) => {
    left = how;
  });
  const nothing = () => undefined;
  machine.world.sockets.listening.set(`${HOME}/${WATCHDOG_SOCKET}`, () => ({ bytes: nothing, closed: nothing }));
  await machine.pass(2_500);
  expect(left).toBe("another");
  expect(machine.world.processes.signals).toEqual([]); // The other one adopts the daemon.
});

test("WD-5(d) a daemon that is killed is never HEARTBEAT_TIMEOUT: adopted or not, connected or not", async () => {
  for (const connected of [true, false]) {
    const machine = new Machine();
    const who = orphan(machine);
    machine.run([DAEMON_SPEC]);
    await machine.settle();
    if (connected) await machine.call("daemon", who, true);
    await machine.end(who, killed);
    await machine.pass(500);
    expect(readLastCrash(machine.world.disk, HOME)).toMatchObject({ name: "daemon", pid: who.pid, reason: "SIGNAL" });
  }
});

test("WD-2(a) a user's program that vanishes was not seen to end: it need not announce its exit", async () => {
  const machine = new Machine();
  const who = machine.world.processes.spawn();
  await writeJson(machine.world.disk, notePathOf(HOME, "program"), { v: 1, ...who });
  machine.run([PROGRAM_SPEC]);
  await machine.settle();
  await machine.end(who, { kind: "exited", code: 0 });
  await machine.pass(500);
  expect(readLastCrash(machine.world.disk, HOME)).toMatchObject({ pid: who.pid, reason: "HEARTBEAT_TIMEOUT" });
});
