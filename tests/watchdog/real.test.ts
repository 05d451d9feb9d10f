// Claims about the watchdog's real program with real processes, signals and files.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { WATCHDOG_SOCKET } from "../../src/home/layout.ts";
import { writeWanted } from "../../src/home/wanted.ts";
import { SAFE_MODE_VARIABLE, SETTINGS_VARIABLE } from "../../src/wire/heartbeat.ts";
import { identify } from "../../src/world/process.ts";
import { waitsInLine } from "../../src/world/real/identities.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { until } from "../until.ts";
import { processes, realHomes } from "./real-home.ts";

const newHome = realHomes();
/** So that a test may kill as often as it likes. */
const NO_LOOP = { crashes: 1000 };

function summary(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  console.log(`${what}: median ${median.toFixed(1)} ms, max ${(sorted.at(-1) ?? 0).toFixed(1)} ms of ${times.length}`);
}

test("WD-8(a,e) a daemon killed with -9 is live again at once, ten times in a row", async () => {
  const home = newHome();
  home.watchdog(NO_LOOP);
  let who = await home.daemon();
  const times: number[] = [];
  for (let kill = 0; kill < 10; kill += 1) {
    const start = performance.now();
    processes.kill(who, "SIGKILL");
    who = await home.daemon(who);
    times.push(performance.now() - start);
  }
  summary("daemon killed to live again", times);
  expect(home.json("recovery/last-crash.json")).toMatchObject({ name: "daemon", signal: "SIGKILL", reason: "SIGNAL" });
});

test("WD-8(d,e) a user's program killed with -9 is back at once, ten times in a row", async () => {
  const home = newHome();
  const lives = join(home.path, "lives");
  const argv = ["sh", "-c", `echo $$ >> ${lives}; exec sleep 1000`];
  const watchdog = home.watchdog({ ...NO_LOOP, programs: { sleeper: { argv } } });
  const found = () => (existsSync(lives) ? readFileSync(lives, "utf8") : "").matchAll(/^(\d+)\n/gm);
  const pids = () => [...found()].map((line) => Number(line[1]));
  await until(
    "its first life",
    () => pids().length === 1,
    () => pids().length,
  );
  const times: number[] = [];
  for (let life = 1; life <= 10; life += 1) {
    const start = performance.now();
    const who = identify(processes, pids().at(-1) ?? -1);
    if (who !== undefined) processes.kill(who, "SIGKILL");
    await until(
      "the next life",
      () => pids().length === life + 1,
      () => pids().length,
    );
    times.push(performance.now() - start);
  }
  summary("program killed to running again", times);
  await writeWanted(home.disk, home.path, "down");
  watchdog.kill("SIGTERM");
  expect(await watchdog.exited).toBe(0);
  expect(identify(processes, pids().at(-1) ?? -1)).toBeUndefined();
});

test("WD-2(a,d) a hung daemon is reported after 2 intervals, killed only after its limit, and replaced", async () => {
  const home = newHome();
  // Long enough that no daemon on a busy machine is silent for two intervals by itself.
  home.watchdog({ heartbeatMs: 1000, killAfterMs: 3000, graceMs: 200 });
  const who = await home.daemon();
  const start = performance.now();
  processes.kill(who, "SIGSTOP");
  await until(
    "the report",
    () => home.json("recovery/last-crash.json")?.["reason"] === "UNRESPONSIVE",
    () => home.json("recovery/last-crash.json")?.["reason"],
  );
  const reportedMs = performance.now() - start;
  expect(reportedMs).toBeGreaterThan(900);
  // Settled: nothing ends it; had it ended, it would stay so.
  expect(processes.alive(who)).toBe(true);
  await until(
    "the end",
    () => !processes.alive(who),
    () => processes.alive(who),
  );
  const endedMs = performance.now() - start;
  expect(endedMs).toBeGreaterThan(2900);
  await home.daemon(who);
  console.log(
    `hung daemon (interval 1 s): reported after ${reportedMs.toFixed(0)} ms, ended after ${endedMs.toFixed(0)} ms`,
  );
  const crash = { reason: "UNRESPONSIVE", signal: "SIGKILL", pid: who.pid };
  expect(home.json("recovery/last-crash.json")).toMatchObject(crash);
  expect(home.json("recovery/crash-history.json")?.["crashes"]).toHaveLength(1);
});

test("WD-8(a,e) a watchdog killed with -9 and restarted adopts the daemon, which does not notice, and still watches it", async () => {
  const home = newHome();
  // Long enough that no daemon on a busy machine is silent for two intervals: its end would count as unresponsive.
  const settings = { ...NO_LOOP, heartbeatMs: 20_000 };
  const first = home.watchdog(settings);
  const who = await home.daemon();
  first.kill("SIGKILL");
  await first.exited;
  const second = home.watchdog(settings);
  await until(
    "the adoption",
    () => home.said(`watchdog ${second.pid}: daemon (${who.pid}): live`),
    () => home.log,
  );
  // Settled: nothing ends it; had it ended, it would stay so.
  expect(processes.alive(who)).toBe(true);
  const start = performance.now();
  processes.kill(who, "SIGKILL");
  await home.daemon(who);
  console.log(`adopted daemon killed to live again: ${(performance.now() - start).toFixed(1)} ms`);
  expect(home.json("recovery/last-crash.json")).toMatchObject({ pid: who.pid, reason: "SIGNAL", signal: null });
});

test("WD-8(a,e) watchdog and daemon restart each other: each is killed in turn, and neither is ever duplicated", async () => {
  const home = newHome();
  home.watchdog({ ...NO_LOOP, heal: true });
  let daemon = await home.daemon();
  let watchdog = await home.newWatchdog();
  const times: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    processes.kill(watchdog, "SIGKILL");
    watchdog = await home.newWatchdog(watchdog);
    times.push(performance.now() - start);
    await until(
      "the adoption",
      () => home.said(`watchdog ${watchdog.pid}: daemon (${daemon.pid}): live`),
      () => home.said(`watchdog ${watchdog.pid}: daemon (${daemon.pid}): live`),
    );
    processes.kill(daemon, "SIGKILL");
    daemon = await home.daemon(daemon);
  }
  summary("watchdog killed to a new one", times);
  expect(home.log.match(/: started/g)?.length).toBe(4);
});

test("WD-8(a) of six watchdogs started at once one stays, five exit with 0, and there is one daemon", async () => {
  const home = newHome();
  const racers = Array.from({ length: 6 }, () => home.watchdog());
  const left = (): number => racers.filter((racer) => racer.exitCode !== null).length;
  await until(
    "five have left",
    () => left() === 5,
    () => left(),
  );
  await home.daemon();
  expect(racers.map((racer) => racer.exitCode).toSorted()).toEqual([0, 0, 0, 0, 0, null]);
  expect(home.log.match(/daemon \(\d+\): started/g)?.length).toBe(1);
});

test("SM-5 the third kill within 60 s leads to safe mode within 5 s, and the new daemon knows it", async () => {
  const home = newHome();
  home.watchdog();
  let who = await home.daemon();
  let start = 0;
  for (let kill = 1; kill <= 3; kill += 1) {
    expect(home.json("recovery/safe-mode.json")).toBeUndefined();
    start = performance.now();
    processes.kill(who, "SIGKILL");
    who = await home.daemon(who);
  }
  const tookMs = performance.now() - start;
  console.log(`third crash to a live daemon in safe mode: ${tookMs.toFixed(0)} ms`);
  expect(tookMs).toBeLessThan(5000);
  expect(home.json("recovery/safe-mode.json")).toMatchObject({
    active: true,
    off: expect.arrayContaining(["providers"]),
  });
  // Settled: a process keeps the environment it was started with.
  expect(readFileSync(`/proc/${who.pid}/environ`, "utf8")).toContain(`${SAFE_MODE_VARIABLE}=daemon crashed 3 times`);
});

test("SM-2(b) crashes under watchdogs that are themselves killed add up to a loop", async () => {
  const home = newHome();
  let who: { pid: number } | undefined;
  for (let life = 1; life <= 3; life += 1) {
    const watchdog = home.watchdog();
    const daemon = await home.daemon(who);
    await until(
      "adopted or started",
      () => home.said(`watchdog ${watchdog.pid}: daemon (${daemon.pid}): live`),
      () => home.said(`watchdog ${watchdog.pid}: daemon (${daemon.pid}): live`),
    );
    processes.kill(daemon, "SIGKILL");
    who = daemon;
    await home.daemon(daemon);
    expect(home.json("recovery/safe-mode.json")?.["active"]).toBe(life === 3 ? true : undefined);
    watchdog.kill("SIGKILL");
    await watchdog.exited;
  }
});

test("a daemon that dies before it is live waits longer each time; down ends that, with nothing left running", async () => {
  const home = newHome();
  const watchdog = home.watchdog({}, { FAKE_DAEMON: "dies" });
  await until(
    "safe mode",
    () => home.json("recovery/safe-mode.json")?.["active"],
    () => home.json("recovery/safe-mode.json")?.["active"],
  );
  await writeWanted(home.disk, home.path, "down");
  watchdog.kill("SIGTERM");
  expect(await watchdog.exited).toBe(0);
  expect(home.holder("daemon")).toBeUndefined();
  expect(home.log.trim().endsWith(": left")).toBe(true);
});

test("down stops daemon and watchdog cleanly: both exit with 0, no crash is recorded, and nothing is restarted", async () => {
  const home = newHome();
  const watchdog = home.watchdog({ heal: true });
  const who = await home.daemon();
  await writeWanted(home.disk, home.path, "down");
  watchdog.kill("SIGTERM");
  expect(await watchdog.exited).toBe(0);
  // Settled: the watchdog exits after its daemon.
  expect(processes.alive(who)).toBe(false);
  expect(home.said(`daemon (${who.pid}): exited 0`)).toBe(true);
  expect(home.json("recovery/last-crash.json")).toBeUndefined();
  expect([home.holder("watchdog"), home.holder("daemon")]).toEqual([undefined, undefined]);
});

test("SIGTERM while up is wanted leaves the daemon running", async () => {
  const home = newHome();
  const watchdog = home.watchdog();
  const who = await home.daemon();
  watchdog.kill("SIGTERM");
  expect(await watchdog.exited).toBe(0);
  // Settled: nothing ends it; had it ended, it would stay so.
  expect(processes.alive(who)).toBe(true);
});

test("WD-9(b,d) garbage on the real socket and removed directories are harmless", async () => {
  const home = newHome();
  home.watchdog(NO_LOOP);
  const who = await home.daemon();
  const closed = Promise.withResolvers<void>();
  const events = { bytes: () => undefined, closed: closed.resolve };
  const caller = await realSockets().connect(join(home.path, WATCHDOG_SOCKET), events);
  caller.send(Buffer.from('{"type":"hello"}\n\0\xff\n{\n{"type":"bye","code":0}\n', "latin1"));
  for (let chunk = 0; chunk < 40; chunk += 1) caller.send(Buffer.alloc(64 << 10, 65));
  await closed.promise;
  rmSync(join(home.path, "recovery"), { recursive: true, force: true });
  processes.kill(who, "SIGKILL");
  const next = await home.daemon(who);
  rmSync(join(home.path, WATCHDOG_SOCKET));
  await until(
    "the socket is back",
    () => existsSync(join(home.path, WATCHDOG_SOCKET)),
    () => `${join(home.path, WATCHDOG_SOCKET)} exists: ${existsSync(join(home.path, WATCHDOG_SOCKET))}`,
  );
  expect(home.json("recovery/last-crash.json")).toMatchObject({ pid: who.pid });
  // Settled: nothing ends it; had it ended, it would stay so.
  expect(processes.alive(next)).toBe(true);
});

test("the watchdog reports what is wrong with its arguments, and exits with 2", async () => {
  for (const [words, settings] of [
    [[], "{}"],
    [["relative"], "{}"],
    [["/tmp"], "{"],
    [["/tmp"], '{"daemon":[]}'],
  ] as const) {
    const entry = join(import.meta.dir, "../../src/watchdog/main.ts");
    const env = { ...process.env, [SETTINGS_VARIABLE]: settings };
    const child = Bun.spawn([process.execPath, entry, ...words], { env, stderr: "pipe" });
    expect((await child.stderr.text()).length).toBeGreaterThan(30);
    expect(await child.exited).toBe(2);
  }
});

test("WD-2(e) waiting for the disk means state D in any thread; a running or a missing process does not wait", () => {
  expect(waitsInLine("12 (a b) D) D 1 2 3")).toBe(true);
  expect(waitsInLine("12 (D) S 1 2 3")).toBe(false);
  expect(processes.waitsForDisk(process.pid)).toBe(false);
  expect(processes.waitsForDisk(2 ** 22 + 1)).toBe(false);
});
