// Claims about what the watchdog tells the daemon, for its bus: crashes, and that safe mode was entered.

import { expect, test } from "bun:test";
import { encodeHeartbeat } from "../../src/wire/heartbeat.ts";
import type { Ending } from "../../src/world/children.ts";
import { type Caller, comeUp, DAEMON_SPEC, Machine, PROGRAM_SPEC, WEB_SPEC } from "./machine.ts";

const killed: Ending = { kind: "signalled", signal: "SIGKILL" };

function told({ heard }: Caller): string[] {
  return heard.flatMap((message) =>
    message.type === "news" ? [`${message.topic} ${message.data["name"] ?? message.data["reason"]}`] : [],
  );
}

test("WD-6(a) crashes of the page and of programs are sent to the daemon at once, with all their facts", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, WEB_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  const daemon = await comeUp(machine);
  await comeUp(machine, "web");
  const { pid } = machine.last("web").who;
  await machine.end(machine.last("web").who, killed);
  await machine.end(machine.last("program").who, { kind: "exited", code: 3 });
  expect(told(daemon)).toEqual(["recovery.crash.detected web", "recovery.crash.detected program"]);
  const time = new Date(machine.world.clock.now()).toISOString();
  const data = { name: "web", pid, exitCode: null, signal: "SIGKILL", reason: "SIGNAL", time };
  expect(daemon.heard[0]).toEqual({ type: "news", topic: "recovery.crash.detected", data });
});

test("WD-6(a) a silent page is reported to the daemon as UNRESPONSIVE", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, WEB_SPEC]);
  await machine.settle();
  const daemon = await comeUp(machine);
  await comeUp(machine, "web");
  for (let beat = 0; beat < 3; beat += 1) {
    await machine.pass(1900);
    await daemon.say({ type: "beat" });
  }
  expect(daemon.heard).toMatchObject([{ topic: "recovery.crash.detected", data: { reason: "UNRESPONSIVE" } }]);
});

test("WD-6(a) SM-4(a) crashes of the daemon and safe mode wait for the next daemon that is live, and are reported once", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, WEB_SPEC]);
  await machine.settle();
  for (let crash = 1; crash <= 3; crash += 1) {
    await machine.end(machine.last().who, { kind: "exited", code: 1 });
    await machine.pass(500);
  }
  const { who } = machine.last();
  machine.lock("daemon", who);
  const daemon = await machine.call("daemon", who);
  await machine.pass(1000);
  expect(daemon.heard).toEqual([]); // It recovers, and its clients are not back yet.
  await daemon.say({ type: "live" });
  const crashes = Array.from({ length: 3 }, () => "recovery.crash.detected daemon");
  const entered = "recovery.safemode.entered daemon crashed 3 times within 60 s, most recently by exit code 1";
  expect(told(daemon)).toEqual([...crashes, entered]);
  await daemon.hangUp();
  const again = await machine.call("daemon", who, true);
  expect(again.heard).toEqual([]);
});

test("NW1 nobody else gets them: neither a rival daemon, nor the page, nor a daemon that does not ask", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, WEB_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  const page = await comeUp(machine, "web");
  const rival = await machine.call("daemon", machine.world.processes.spawn(), true);
  const { who } = machine.last();
  const old = await machine.call("stranger", who);
  await old.raw(Buffer.from(encodeHeartbeat({ type: "hello", name: "daemon", ...who, live: true })).toString());
  await machine.end(machine.last("program").who, killed);
  expect([page.heard, rival.heard, old.heard]).toEqual([[], [], []]);
});

test("NW2 while no daemon is there, the last crashes are kept, and not all of them", async () => {
  const machine = new Machine();
  machine.run([DAEMON_SPEC, PROGRAM_SPEC]);
  await machine.settle();
  for (let crash = 0; crash < 40; crash += 1) {
    await machine.pass(1000);
    await machine.end(machine.last("program").who, { kind: "exited", code: crash + 1 });
  }
  const daemon = await comeUp(machine);
  expect(daemon.heard.length).toBe(32);
  expect(daemon.heard.at(-1)).toMatchObject({ data: { exitCode: 40 } });
});
