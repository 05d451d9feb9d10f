// The daemon as a real process: it comes up, dies, comes back, and no running program notices.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { allRows } from "../../src/wire/rpc/page.ts";
import { until } from "../until.ts";
import { daemonHomes, killIfThere, processes } from "./home.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];

test("a killed daemon comes back and adopts: the same child, the same holder, and its exit is still noticed", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", ["sh", "-c", "read line; exit 7"]);
  const before = await home.is(id, "running");
  await home.kill(first);
  await home.live();
  expect((await home.listed(id)).state).toEqual(before);
  const { cause, items } = await home.report();
  expect(cause).toBe("daemon crash");
  expect(items).toMatchObject([{ what: "terminal", id, name: "one", fate: "back as it was" }]);
  await home.must("terminal.signal", { id, signal: "SIGTERM" });
  expect(await home.is(id, "ended")).toMatchObject({ code: null, signal: "SIGTERM" });
});

test("an exit while the daemon is down is recorded, with its code", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", ["sh", "-c", "until [ -e go ]; do sleep 0.01; done; exit 7"]);
  await home.is(id, "running");
  await home.kill(first);
  writeFileSync(home.file("go"), "");
  await until(
    "the exit is on disk",
    () => home.exit(id) !== undefined,
    () => home.exit(id),
  );
  await home.live();
  expect((await home.listed(id)).state).toMatchObject({ kind: "ended", code: 7, signal: null });
  expect((await home.report()).items).toMatchObject([{ id, fate: "back as it was" }]);
  await home.must("terminal.remove", { id });
  await home.must("terminal.new", home.wish("one", SLEEP)); // The name is free again.
});

test("a list of one contains only that one, and no list in pages asks a holder", async () => {
  const home = newHome();
  await home.live();
  const id = await home.open("one", ["sh", "-c", "echo said; sleep 1000"]);
  await home.open("two", SLEEP);
  await until(
    "it has said something",
    async () => (await home.listed(id)).bytes > 0,
    async () => (await home.listed(id)).bytes,
  );
  const [one, ...others] = await home.must("terminal.list", { id });
  expect(one).toMatchObject({ id, name: "one" });
  expect(one?.bytes).toBeGreaterThan(0);
  expect(others).toEqual([]);
  const all = await home.must("terminal.list", { brief: true });
  const holders = all.flatMap(({ state }) => (state.kind === "running" ? [state.holder] : []));
  for (const holder of holders) process.kill(holder, "SIGSTOP"); // They could not answer.
  const client = await home.client();
  const rows = client && (await allRows(client, "terminal.list", {}));
  for (const holder of holders) process.kill(holder, "SIGCONT");
  expect(rows?.ok === true && rows.value.map(({ name, bytes, clients }) => ({ name, bytes, clients }))).toEqual([
    { name: "one", bytes: "said\r\n".length, clients: 0 },
    { name: "two", bytes: 0, clients: 0 },
  ]);
});

test("DS-4(a) a clean shutdown leaves children running, records that it was clean, and loses nothing", async () => {
  const home = newHome();
  const first = await home.live();
  expect((await home.report()).cause).toBe("clean start");
  const id = await home.open("one", SLEEP);
  const before = await home.is(id, "running");
  expect(await home.stop(first)).toBe(0);
  expect(existsSync(home.file("run/daemon.sock"))).toBe(false);
  expect(existsSync(home.file("recovery/clean-shutdown.json"))).toBe(true);
  const second = await home.live();
  expect((await home.report()).cause).toBe("clean start");
  expect((await home.listed(id)).state).toEqual(before);
  expect(existsSync(home.file("recovery/clean-shutdown.json"))).toBe(false); // Valid for one start.
  await home.kill(second);
  await home.live();
  expect((await home.report()).cause).toBe("daemon crash");
});

test("a clean shutdown followed by a reboot is not a machine crash, and the terminals that went down with it come back", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", SLEEP);
  const { pid, holder } = await home.is(id, "running");
  expect(await home.stop(first)).toBe(0);
  for (const name of ["recovery/last-boot.json", "recovery/clean-shutdown.json", "recovery/recovery-state.json"])
    writeFileSync(home.file(name), home.text(name).replaceAll(processes.bootId(), "the boot before"));
  for (const who of [holder, pid]) killIfThere(who);
  await until(
    "no process is left",
    () => [holder, pid].every((who) => processes.startTime(who) === undefined),
    () => [holder, pid],
  );
  await home.live();
  const { cause, items } = await home.report();
  expect({ cause, items }).toMatchObject({ cause: "machine restart", items: [{ id, fate: "restarted" }] });
});

test("DS-4(a) a command in progress when the signal arrives is acknowledged and durable, or neither", async () => {
  const home = newHome();
  const first = await home.live();
  const client = await home.client();
  const asked = Array.from({ length: 20 }, (_, n) => client?.call("terminal.new", home.wish(`t${n}`, SLEEP)));
  const stopped = home.stop(first);
  const answers = await Promise.all(asked);
  expect(await stopped).toBe(0);
  await home.live();
  const names = new Set((await home.must("terminal.list", {})).map(({ name }) => name));
  for (const answer of answers) if (answer?.ok === true) expect(names).toContain(answer.value.name);
});

test("socket, token, report and state are accessible only to their owner", async () => {
  const home = newHome();
  await home.live();
  const names = ["run/daemon.sock", "run/token", "recovery/recovery-state.json", "recovery/last-boot.json"];
  expect(names.map((name) => statSync(home.file(name)).mode & 0o777)).toEqual(names.map(() => 0o600));
  expect(JSON.parse(readFileSync(home.file("recovery/recovery-state.json"), "utf8"))).toMatchObject({ stage: "LIVE" });
});

test("a second daemon on one home exits with 73 and disturbs nothing", async () => {
  const home = newHome();
  const first = await home.live();
  const second = home.start();
  expect(await second.process.exited).toBe(73);
  expect(second.said()).toContain(`held by process ${first.process.pid}`);
  expect((await home.isLive(first)).daemon.pid).toBe(first.process.pid);
});

test("DS-1(b) an invalid configuration ends the daemon with file, line, key and the expected value", async () => {
  const home = newHome();
  const config = home.file("config.toml");
  writeFileSync(config, '[daemon]\n\nheartbeat_ms = "fast"\n');
  const daemon = home.start({ HOLDFAST_CONFIG: config });
  expect(await daemon.process.exited).toBe(1);
  expect(daemon.said()).toContain(`${config}:3:`);
  expect(daemon.said()).toContain("daemon.heartbeat_ms");
  expect(daemon.said()).toMatch(/whole number|100/);
});

test("the size of the log's files, and the space set aside for a full disk, are as configured", async () => {
  const home = newHome();
  const config = home.file("config.toml");
  writeFileSync(config, "[log]\nsegment_bytes = 3145728\nballast_bytes = 65536\n");
  const daemon = await home.live({ HOLDFAST_CONFIG: config });
  const sizes = () => readdirSync(home.file("wal")).map((name) => statSync(home.file(`wal/${name}`)).size);
  expect([statSync(home.file("ballast")).size, ...sizes()]).toEqual([65_536, 3_145_728]);
  await home.stop(daemon);
});

test("an unreadable configuration is reported in one line, without a stack", async () => {
  const home = newHome();
  mkdirSync(home.file("config.toml"));
  const daemon = home.start({ HOLDFAST_CONFIG: home.file("config.toml") });
  expect(await daemon.process.exited).toBe(1);
  expect(daemon.said().trim().split("\n").length).toBe(1);
});

test("DS-3(a) a socket that cannot be bound does not delay recovery, and is bound once the path is free", async () => {
  const home = newHome();
  mkdirSync(home.file("run/daemon.sock"), { recursive: true });
  const daemon = home.start();
  await until(
    "recovery is over",
    () => home.text("recovery/recovery-state.json").includes('"LIVE"'),
    () => home.text("recovery/recovery-state.json"),
  );
  await until(
    "it said what is wrong",
    () => daemon.said().includes("the socket cannot be bound"),
    () => daemon.said(),
  );
  expect(await home.client()).toBeUndefined();
  rmSync(home.file("run/daemon.sock"), { recursive: true });
  await home.isLive(daemon);
});

test("status is answered during recovery, and changes are refused with a request to retry", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", SLEEP);
  const { holder } = await home.is(id, "running");
  await home.kill(first);
  process.kill(holder, "SIGSTOP"); // RESTORING waits for its answer.
  const second = home.start();
  await until(
    "it is restoring",
    async () => {
      const status = await home.ask("status", {});
      return status?.ok === true && status.value.recovery.stage === "RESTORING";
    },
    () => home.ask("status", {}),
  );
  const refused = await home.ask("terminal.new", home.wish("two", SLEEP));
  expect(refused).toMatchObject({ ok: false, error: { code: "not-live" } });
  process.kill(holder, "SIGCONT");
  await home.isLive(second);
  await home.open("two", SLEEP);
});

test("RS-4(a) a recovery resumed at a later stage still connects to its holders", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", SLEEP);
  await home.is(id, "running");
  await home.kill(first);
  const path = home.file("recovery/recovery-state.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"LIVE"', '"RECONCILING"'));
  await home.live();
  const { cause, items } = await home.report();
  expect({ cause, fates: items.map(({ fate }) => fate) }).toEqual({ cause: "daemon crash", fates: ["back as it was"] });
  await home.must("terminal.signal", { id, signal: "SIGKILL" });
  expect(await home.is(id, "ended")).toMatchObject({ signal: "SIGKILL" });
});

test("RS-5(a) a failed stage stays failed across a crash; down and up start over", async () => {
  const home = newHome();
  await home.kill(await home.live());
  const path = home.file("recovery/recovery-state.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"LIVE"', '"RESTORATION_FAILED"'));
  const failed = home.start();
  await until(
    "it waits for the operator",
    () => failed.said().includes("holdfast recovery retry"),
    () => failed.said(),
  );
  expect(await home.must("status", {})).toMatchObject({ recovery: { stage: "RESTORATION_FAILED" } });
  expect(await home.must("recovery.retry", {})).toEqual({ stage: "LIVE" });
  await home.kill(failed);
  writeFileSync(path, readFileSync(path, "utf8").replace('"LIVE"', '"RESTORATION_FAILED"'));
  const again = home.start();
  await until(
    "it waits for the operator",
    () => again.said().includes("holdfast recovery retry"),
    () => again.said(),
  );
  expect(await home.stop(again)).toBe(0);
  await home.live();
});

test("SM-3(e,g) SM-4(b) the daemon comes up in safe mode if the watchdog requests it, and the operator ends it", async () => {
  const home = newHome();
  await home.live({ HOLDFAST_SAFE_MODE: "three crashes" });
  expect(await home.must("status", {})).toMatchObject({ safeMode: { active: true, reason: "three crashes" } });
  const client = await home.client();
  const heard: string[] = [];
  if (client !== undefined) client.onNotice = ({ topic }) => void heard.push(topic);
  await client?.call("subscribe", { topics: ["recovery.*"] });
  expect(await home.must("safe-mode.exit", {})).toEqual({ active: false });
  await until(
    "it is on the bus",
    () => heard.includes("recovery.safemode.exited"),
    () => heard,
  );
  expect(await home.must("status", {})).toMatchObject({ safeMode: { active: false } });
});

test("SM-3(f) safe mode is not reported over if the disk refuses its end", async () => {
  const home = newHome();
  await home.live();
  mkdirSync(home.file("recovery/safe-mode.json/in-the-way"), { recursive: true }); // No file can be put in its place.
  expect(await home.ask("safe-mode.exit", {})).toMatchObject({ ok: false, error: { code: "disk" } });
  rmSync(home.file("recovery/safe-mode.json"), { recursive: true });
  expect(await home.must("safe-mode.exit", {})).toEqual({ active: false });
});

test("WD-6(c) the watchdog's record of a crash is read at the next launch and reported exactly once", async () => {
  const home = newHome();
  await home.kill(await home.live());
  const crash = { v: 1, name: "daemon", pid: 7, exitCode: null, signal: "SIGKILL", reason: "SIGNAL" };
  const record = { ...crash, time: new Date().toISOString() };
  writeFileSync(home.file("recovery/last-crash.json"), JSON.stringify(record));
  const second = await home.live();
  expect(await home.report()).toMatchObject({ cause: "daemon crash", crash: record });
  await home.kill(second);
  await home.live();
  expect(await home.report()).toMatchObject({ cause: "daemon crash", crash: null }); // Nobody saw this one.
});

test("DS-2(b) a daemon whose storage cannot be opened exits with an error that says what is wrong and what can be done", async () => {
  const home = newHome();
  const before = await home.live();
  await home.open("one", ["sleep", "1000"]);
  await home.kill(before);
  renameSync(home.file("wal"), home.file("wal-kept"));
  writeFileSync(home.file("wal"), "in the way");
  const daemon = home.start();
  expect(await daemon.process.exited).toBe(1);
  expect(daemon.said()).toMatch(/the storage cannot be opened: .*\/wal.*: ENOTDIR\. .*holdfast (?:doctor|log verify)/);
  expect(readFileSync(home.file("wal"), "utf8")).toBe("in the way"); // Nothing was repaired by force.
  rmSync(home.file("wal"));
  renameSync(home.file("wal-kept"), home.file("wal"));
  await home.live();
  expect(await home.must("terminal.list", {})).toMatchObject([{ name: "one" }]);
});
