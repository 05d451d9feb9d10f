// Claims about the core: who is silent, who is gone, who is ended, and who is left alone.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readAll } from "../../scripts/files.ts";
import { CrashReason } from "../../src/home/last-crash.ts";
import { Watchdog, type WatchdogLimits } from "../../src/watchdog/watchdog.ts";
import { SimClock } from "../sim/clock.ts";
import { SimProcesses } from "../sim/processes.ts";
import { importsOf } from "../tidy/rooms.ts";

/** A clock that can be stopped with its owner: time passes, and overdue timers fire when it wakes. */
class StoppableClock extends SimClock {
  #later: ((fn: () => void) => void) | undefined;

  stopFor(ms: number): void {
    const overdue: (() => void)[] = [];
    this.#later = (fn) => void overdue.push(fn);
    this.advance(ms);
    this.#later = undefined;
    for (const fn of overdue) fn();
  }

  override after(ms: number, fn: () => void): () => void {
    let off = false;
    const run = () => void (off || fn());
    const cancel = super.after(ms, () => (this.#later === undefined ? run() : this.#later(run)));
    return () => {
      off = true;
      cancel();
    };
  }
}

function setUp(limits: Partial<WatchdogLimits> = {}) {
  const clock = new StoppableClock();
  const processes = new SimProcesses();
  const watchdog = new Watchdog({ clock, processes }, limits);
  const reports: string[] = [];
  watchdog.onCrashDetected((name, pid, reason) => void reports.push(`${name} ${pid} ${reason}`));
  const who = processes.spawn();
  const signals = () => processes.signals.map(({ signal }) => signal);
  return { time: clock, processes, watchdog, reports, who, signals };
}

test("WD-1(a) a process that sends its heartbeats is never reported", () => {
  const { time, watchdog, reports, who } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  for (let beat = 0; beat < 100; beat += 1) {
    time.advance(2000);
    watchdog.receiveHeartbeat("daemon");
  }
  expect(reports).toEqual([]);
});

test("WD-1(b) WD-2(a,b) a silent process is UNRESPONSIVE, not gone: after exactly two intervals of 2000 ms, and once", () => {
  const { time, watchdog, reports, who } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  time.advance(3999);
  expect(reports).toEqual([]);
  time.advance(1);
  expect(reports).toEqual([`daemon ${who.pid} UNRESPONSIVE`]);
  time.advance(20_000);
  expect(reports.length).toBe(1);
});

test("WD-2(a,b) a process that is gone is HEARTBEAT_TIMEOUT within two intervals of its last heartbeat", () => {
  const { time, watchdog, reports, who, processes } = setUp();
  watchdog.registerProcess("web", who.pid, 500);
  time.advance(400);
  watchdog.receiveHeartbeat("web");
  processes.exit(who.pid);
  time.advance(999);
  expect(reports).toEqual([]);
  time.advance(1);
  expect(reports).toEqual([`web ${who.pid} HEARTBEAT_TIMEOUT`]);
  expect(time.pendingTimers).toBe(0);
});

test("WD-2(a) an unrelated process with a reused pid does not count as the process", () => {
  const { time, watchdog, reports, who, processes } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  processes.exit(who.pid);
  processes.reap(who.pid);
  processes.spawn(who.pid);
  time.advance(60_000);
  expect(reports).toEqual([`daemon ${who.pid} HEARTBEAT_TIMEOUT`]);
  expect(processes.signals).toEqual([]);
});

test("WD-2(a) a process that was gone before it was registered is reported like any other", () => {
  const { time, watchdog, reports } = setUp();
  watchdog.registerProcess("daemon", 99_999, 100);
  time.advance(200);
  expect(reports).toEqual(["daemon 99999 HEARTBEAT_TIMEOUT"]);
});

test("WD-2(a) a heartbeat ends a silence; the next silence is reported again", () => {
  const { time, watchdog, reports, who } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  time.advance(5000);
  watchdog.receiveHeartbeat("daemon");
  time.advance(3999);
  expect(reports.length).toBe(1);
  time.advance(1);
  expect(reports.length).toBe(2);
});

test("WD-2(d) a silent process is killed only after 30 s: SIGTERM first, SIGKILL 5 s later", () => {
  const { time, watchdog, who, processes, signals } = setUp();
  processes.kill(who, "SIGSTOP");
  watchdog.registerProcess("daemon", who.pid);
  time.advance(29_999);
  expect(signals()).toEqual(["SIGSTOP"]);
  time.advance(1);
  expect(signals()).toEqual(["SIGSTOP", "SIGTERM"]);
  time.advance(4999);
  expect(signals()).toEqual(["SIGSTOP", "SIGTERM"]);
  time.advance(1);
  expect(signals()).toEqual(["SIGSTOP", "SIGTERM", "SIGKILL"]);
});

test("WD-2(d) a process that ends on SIGTERM is reported as gone and not signalled again", () => {
  const { time, watchdog, reports, who, signals } = setUp({ killAfterMs: 6000 });
  watchdog.registerProcess("daemon", who.pid);
  time.advance(60_000);
  expect(signals()).toEqual(["SIGTERM"]);
  expect(reports).toEqual([`daemon ${who.pid} UNRESPONSIVE`, `daemon ${who.pid} HEARTBEAT_TIMEOUT`]);
});

test("WD-2(e) a process that waits for the disk is never killed, and gets its whole time again when the disk is back", () => {
  const { time, watchdog, reports, who, processes, signals } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  processes.stall(who.pid);
  time.advance(600_000);
  expect(signals()).toEqual([]);
  expect(reports).toEqual([`daemon ${who.pid} UNRESPONSIVE`]);
  processes.stall(who.pid, false);
  time.advance(29_000);
  expect(signals()).toEqual([]);
  time.advance(1000);
  expect(signals()).toEqual(["SIGTERM"]);
});

test("WD-2(e) a stall that begins between SIGTERM and SIGKILL delays the SIGKILL", () => {
  const { time, watchdog, who, processes, signals } = setUp();
  processes.kill(who, "SIGSTOP");
  watchdog.registerProcess("daemon", who.pid);
  time.advance(31_000);
  processes.stall(who.pid);
  time.advance(60_000);
  expect(signals()).toEqual(["SIGSTOP", "SIGTERM"]);
});

test("WD-2(a) if we were stopped for an hour, nothing is reported, and every process has two intervals to beat", () => {
  for (const before of [0, 900, 1900, 3999]) {
    const { time, watchdog, reports, who } = setUp();
    watchdog.registerProcess("daemon", who.pid);
    time.advance(before);
    time.stopFor(3_600_000);
    time.advance(3999);
    expect(reports).toEqual([]);
  }
});

test("WD-2(a) a pause of ours shorter than an interval causes no false report, at any of 40 moments", () => {
  const interval = 2000;
  for (let at = 0; at < interval; at += 50) {
    for (const pause of [300, 1000, 1999]) {
      const { time, watchdog, reports, who } = setUp();
      watchdog.registerProcess("daemon", who.pid);
      time.advance(at);
      time.stopFor(pause); // The sender is stopped with us, and its beat is late by the pause.
      time.advance(interval - at);
      watchdog.receiveHeartbeat("daemon");
      expect({ at, pause, reports }).toEqual({ at, pause, reports: [] });
    }
  }
});

test("WD-2(a,b) a clock set by hours, in either direction, changes nothing", () => {
  const { time, watchdog, reports, who } = setUp();
  watchdog.registerProcess("daemon", who.pid);
  for (const jump of [6, -12, 300]) {
    time.jump(jump * 3_600_000);
    time.advance(1900);
    watchdog.receiveHeartbeat("daemon");
  }
  expect(reports).toEqual([]);
  time.advance(4000);
  expect(reports.length).toBe(1);
});

test("WD-3 there are four reasons, and they cannot be changed", () => {
  expect(Object.values(CrashReason).sort()).toEqual(["EXIT_CODE", "HEARTBEAT_TIMEOUT", "SIGNAL", "UNRESPONSIVE"]);
  expect(Object.isFrozen(CrashReason)).toBe(true);
});

test("WD-7 unregistering leaves no timer, and registering again leaves one", () => {
  const { time, watchdog, reports, who } = setUp();
  for (const name of ["daemon", "web", "daemon", "daemon"]) watchdog.registerProcess(name, who.pid);
  watchdog.receiveHeartbeat("daemon");
  expect(time.pendingTimers).toBe(2);
  watchdog.unregister("daemon");
  watchdog.unregister("web");
  watchdog.unregister("web");
  expect(time.pendingTimers).toBe(0);
  time.advance(100_000);
  expect(reports).toEqual([]);
});

test("WD-9(b) a heartbeat of an unknown process is ignored", () => {
  const { time, watchdog } = setUp();
  watchdog.receiveHeartbeat("nobody");
  expect(time.pendingTimers).toBe(0);
});

test("WD-9(a) the core has under 200 lines, and the whole program uses no package", () => {
  const core = readFileSync(`${import.meta.dir}/../../src/watchdog/watchdog.ts`, "utf8");
  expect(core.split("\n").length).toBeLessThan(200);
  const sources = readAll("src/watchdog/**/*.ts").concat(
    readAll("src/wire/heartbeat*.ts"),
    readAll("src/home/*.ts"),
    readAll("src/log/**/*.ts"),
  );
  const packages = sources
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap(({ text }) => importsOf(text))
    .filter(({ from }) => !from.startsWith("."));
  expect(packages).toEqual([]);
});
