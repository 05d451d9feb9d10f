// The user's programs in the configuration: from the file to the watchdog, which watches, restarts, lists and stops
// them.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realProcesses } from "../../src/world/real/process.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

const processes = realProcesses();

afterEach(endAll);

function configured(home: Home, ...lines: readonly string[]): void {
  writeFileSync(join(home.path, "config.toml"), ["[web]", "enabled = false", ...lines, ""].join("\n"));
}

/** Every pid it ever had, in order. */
function livesOf(home: Home, name: string): number[] {
  return linesIn(home, `lives-${name}`).map(Number);
}

/** Complete lines only: a file exists, empty, before its first line is written. */
function linesIn(home: Home, name: string): string[] {
  const path = join(home.path, name);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

/** By `recovery crashes`, in both forms. The program is restarted before its crash is on record. */
async function crashListed(home: Home, crash: { name: string; pid: number; signal: string; reason: string }) {
  const list = () => home.json("recovery", "crashes");
  await until("its crash is on record", async () => (await list()).length === 1, list);
  expect(await list()).toMatchObject([{ ...crash, exitCode: null }]);
  const [head, row] = (await home.ok("recovery", "crashes")).split("\n");
  expect([head, row]).toEqual([
    expect.stringMatching(/^TIME +PROGRAM +PID +HOW$/),
    expect.stringMatching(new RegExp(` ${crash.name} +${crash.pid} +${crash.signal}$`)),
  ]);
}

const PROGRAM = 'echo $$ >> "lives-$NAME"; exec sleep 1000';

const watched = (home: Home, name: string, script: string, ...more: readonly string[]) => [
  `[watch.${name}]`,
  `command = ["sh", "-c", ${JSON.stringify(script)}]`,
  `cwd = ${JSON.stringify(home.path)}`,
  `env = { NAME = "${name}" }`,
  ...more,
];

test("WD-8(d,e) DS-4(b) a watched program of the configuration runs, is listed, is restarted when killed, and stops with `down`", async () => {
  const home = new Home();
  configured(home, ...watched(home, "api", PROGRAM), ...watched(home, "job", PROGRAM));
  await home.ok("up");
  expect(await home.json("recovery", "crashes")).toEqual([]);
  await until(
    "both run",
    () => livesOf(home, "api").length === 1 && livesOf(home, "job").length === 1,
    () => [livesOf(home, "api").length, livesOf(home, "job").length],
  );
  const [first = 0] = livesOf(home, "api");
  const [job = 0] = livesOf(home, "job");
  await until(
    "the watchdog has noted them",
    async () => {
      const { programs } = await home.status();
      return (
        JSON.stringify(programs) ===
        JSON.stringify([
          { name: "api", pid: first },
          { name: "job", pid: job },
        ])
      );
    },
    () => home.status(),
  );
  expect(await home.ok("status")).toContain(`program    api, pid ${first}\n`);
  process.kill(first, "SIGKILL");
  await until(
    "it is back",
    () => livesOf(home, "api").length === 2,
    () => livesOf(home, "api").length,
  );
  await crashListed(home, { name: "api", pid: first, signal: "SIGKILL", reason: "SIGNAL" });
  const [, second = 0] = livesOf(home, "api");
  await until(
    "status knows",
    async () => (await home.status()).programs[0].pid === second,
    async () => (await home.status()).programs[0].pid,
  );
  expect(livesOf(home, "job")).toEqual([job]); // No other program was touched.
  expect((await home.status()).safeMode.active).toBe(false);
  await home.ok("down");
  // Settled: `down` returns when they are gone.
  for (const pid of [second, job]) expect(processes.startTime(pid)).toBeUndefined();
  expect(await home.ok("ls")).not.toContain("api");
});

test("the environment of a watched program is in no process list, and only that program gets it", async () => {
  const home = new Home();
  const script = `${PROGRAM.replace("exec", 'echo "$DB_PASSWORD" > told; exec')}`;
  configured(home, ...watched(home, "api", script).map((line) => line.replace("{ ", '{ DB_PASSWORD = "hunter2", ')));
  await home.ok("up");
  await until(
    "the program has written its variable",
    () => linesIn(home, "told").length === 1,
    () => linesIn(home, "told").length,
  );
  expect(linesIn(home, "told")).toEqual(["hunter2"]);
  const { watchdog, daemon } = await home.status();
  for (const { pid } of [watchdog, daemon]) {
    // Readable by everyone on the machine.
    // Settled: a process keeps the arguments it was started with.
    expect(readFileSync(`/proc/${pid}/cmdline`, "latin1")).not.toContain("hunter2");
  }
  // Settled: a process keeps the environment it was started with.
  expect(readFileSync(`/proc/${daemon.pid}/environ`, "latin1")).not.toContain("hunter2");
  process.kill(watchdog.pid, "SIGKILL"); // A restarted watchdog gets the same, by the same route.
  await until(
    "another watchdog runs",
    async () => {
      const { watchdog: next } = await home.status();
      return next.pid !== null && next.pid !== watchdog.pid;
    },
    () => home.status(),
  );
  const { watchdog: healed } = await home.status();
  // Settled: a process keeps the arguments it was started with.
  expect(readFileSync(`/proc/${healed.pid}/cmdline`, "latin1")).not.toContain("hunter2");
  expect((await home.status()).programs).toHaveLength(1);
});

test("a watched program that floods its stderr does not make the log grow without bound", async () => {
  const home = new Home();
  const loud = "head -c 20000000 /dev/zero | tr '\\000' x >&2; echo >&2; echo done > done; exec sleep 1000";
  configured(home, ...watched(home, "loud", loud));
  await home.ok("up");
  const log = join(home.path, "run/watchdog.log");
  await until(
    "it has printed everything",
    () => existsSync(join(home.path, "done")),
    () => `${join(home.path, "done")} exists: ${existsSync(join(home.path, "done"))}`,
  );
  await until(
    "the log is short again",
    () => statSync(log).size < 1 << 20,
    () => statSync(log).size,
  );
  expect(statSync(`${log}.1`).size).toBeLessThanOrEqual(8 << 20);
  process.kill((await home.status()).daemon.pid, "SIGKILL");
  await until(
    "it is still written to",
    () => readFileSync(log, "utf8").includes("daemon ("),
    () => readFileSync(log, "utf8"),
  );
  expect(readFileSync(log, "utf8").startsWith("\0")).toBe(false); // Its writers append, so there is no hole.
});

test("WD-8(d,e) a watched program that fails at once waits longer each time, and never triggers safe mode", async () => {
  const home = new Home();
  const script = 'read -r now rest < /proc/uptime; echo $now >> times; echo $$ >> "lives-$NAME"; exit 3';
  configured(home, ...watched(home, "bad", script));
  await home.ok("up");
  await until(
    "seven lives",
    () => livesOf(home, "bad").length >= 7,
    () => livesOf(home, "bad").length,
  );
  // Twice at once, then after 0.1, 0.2, 0.4 and 0.8 s, minus up to 20 % jitter. On a slow machine more, never less.
  const [first, , , , , , seventh] = linesIn(home, "times").map(Number);
  expect((seventh ?? 0) - (first ?? 0)).toBeGreaterThan(1.18); // The clock counts in hundredths.
  expect((await home.status()).safeMode.active).toBe(false);
  await home.ok("down");
  const lives = livesOf(home, "bad").length;
  expect(JSON.parse(readFileSync(join(home.path, "recovery/last-crash.json"), "utf8"))).toMatchObject({ name: "bad" });
  await home.ok("status");
  expect(livesOf(home, "bad").length).toBe(lives);
});

test("WD-2(a) a program that promised heartbeats and sends none is reported", async () => {
  const home = new Home();
  // The daemon's own silence on a busy machine would be reported instead.
  configured(home, "[daemon]", "heartbeat_ms = 60000", ...watched(home, "quiet", PROGRAM, "heartbeat_ms = 100"));
  await home.ok("up");
  const crash = join(home.path, "recovery/last-crash.json");
  await until(
    "the report",
    () => existsSync(crash) && livesOf(home, "quiet").length > 0,
    () => [`${crash} exists: ${existsSync(crash)}`, livesOf(home, "quiet").length],
  ); // It may be silent before it is running.
  const [pid] = livesOf(home, "quiet");
  expect(JSON.parse(readFileSync(crash, "utf8"))).toMatchObject({ name: "quiet", pid, reason: "UNRESPONSIVE" });
});

/** As documented in docs/FORMATS.md, in another program's code. */
const BEATING = `
const { readFileSync } = require("node:fs");
const env = process.env;
const startTime = Number(readFileSync("/proc/self/stat", "latin1").split(") ")[1].split(" ")[19]);
const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
const line = require("node:net").connect(env.HOLDFAST_HEARTBEAT_SOCKET);
line.write(JSON.stringify({ type: "hello", name: env.HOLDFAST_HEARTBEAT_NAME, pid: process.pid, startTime, bootId }) + "\\n");
setInterval(() => line.write('{"type":"beat"}\\n'), Number(env.HOLDFAST_HEARTBEAT_MS) / 2);
`;

test("WD-2(d) a program that sends heartbeats as documented is left alone, beside one that does not", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "beating.cjs"), BEATING);
  const script = `echo $$ >> "lives-$NAME"; exec ${process.execPath} beating.cjs`;
  const lines = ["[daemon]", "unresponsive_kill_s = 5"];
  const programs = [
    // Reported after four silent seconds: a start that takes half a second does not count as silence.
    watched(home, "well", script, "heartbeat_ms = 2000"),
    watched(home, "quiet", PROGRAM, "heartbeat_ms = 200"),
  ];
  configured(home, ...lines, ...programs.flat());
  await home.ok("up");
  await until(
    "the silent one was ended and started again",
    () => livesOf(home, "quiet").length === 2,
    () => livesOf(home, "quiet").length,
  );
  expect(livesOf(home, "well").length).toBe(1);
  expect(readFileSync(join(home.path, "run/watchdog.log"), "utf8")).not.toMatch(/well \(\d+\) is unresponsive/);
});

test("relative paths in the environment are made absolute for Holdfast, which runs elsewhere; options of the engine stay behind", async () => {
  const home = new Home();
  mkdirSync(join(home.path, "there"));
  const lines = ["[daemon]", "heartbeat_ms = 333", "[web]", "enabled = false", ...watched(home, "api", PROGRAM)];
  writeFileSync(join(home.path, "there/own.toml"), lines.join("\n"));
  // Some of them replace functions of a program: what a repository sets in a shell must not reach the daemon.
  const env = { HOLDFAST_CONFIG: "own.toml", HOLDFAST_HOME: "..", BUN_JSC_logGC: "0" };
  expect((await home.at("there", env, "up")).code).toBe(0);
  const { watchdog, daemon } = await home.status();
  for (const { pid } of [watchdog, daemon]) {
    const given = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(given).toContain(`HOLDFAST_CONFIG=${home.path}/there/own.toml`);
    expect(given).toContain(`HOLDFAST_HOME=${home.path}`);
    expect(given).not.toContain("BUN_JSC_logGC=0");
  }
  // Settled: a process keeps the environment it was started with.
  expect(readFileSync(`/proc/${daemon.pid}/environ`, "utf8")).toContain("HOLDFAST_HEARTBEAT_MS=333");
});

/** From then on its exit is noticed. */
async function isAdopted(home: Home, daemon: number): Promise<void> {
  const log = () => linesIn(home, "run/watchdog.log").join("\n");
  await until("the daemon is adopted", () => log().includes(`daemon (${daemon}): adopted`), log);
}

test("`up` starts a watchdog for a daemon that answers although its lock is missing", async () => {
  const home = new Home();
  configured(home);
  await home.ok("up");
  const before = await home.status();
  process.kill(before.watchdog.pid, "SIGSTOP");
  rmSync(join(home.path, "run/watchdog.lock"));
  rmSync(join(home.path, "run/watchdog.sock"));
  rmSync(join(home.path, "run/daemon.lock")); // The daemon takes the lock again within two seconds.
  await home.ok("up");
  await until(
    "a second watchdog",
    async () => (await home.status()).watchdog.pid !== null,
    async () => (await home.status()).watchdog.pid,
  );
  process.kill(before.watchdog.pid, "SIGCONT");
  await until(
    "the first has left",
    () => processes.startTime(before.watchdog.pid) === undefined,
    () => processes.startTime(before.watchdog.pid),
  );
  await isAdopted(home, before.daemon.pid);
});

test("run/ is removed and a second watchdog starts before the first notices: one remains, and nothing runs twice", async () => {
  const home = new Home();
  configured(home, ...watched(home, "api", PROGRAM));
  await home.ok("up");
  await until(
    "it runs",
    () => livesOf(home, "api").length === 1,
    () => livesOf(home, "api").length,
  );
  const before = await home.status();
  process.kill(before.watchdog.pid, "SIGSTOP");
  rmSync(join(home.path, "run"), { recursive: true });
  await home.ok("up");
  await until(
    "a second watchdog",
    async () => {
      const { pid } = (await home.status()).watchdog;
      return pid !== null && pid !== before.watchdog.pid;
    },
    () => home.status(),
  );
  process.kill(before.watchdog.pid, "SIGCONT");
  await until(
    "the first has left",
    () => processes.startTime(before.watchdog.pid) === undefined,
    () => processes.startTime(before.watchdog.pid),
  );
  await until(
    "one program is left",
    () => {
      return livesOf(home, "api").filter((pid) => processes.startTime(pid) !== undefined).length === 1;
    },
    () => livesOf(home, "api"),
  );
  await isAdopted(home, before.daemon.pid);
  const left = livesOf(home, "api").find((pid) => processes.startTime(pid) !== undefined);
  // The daemon's lock, which `status` reads if it gets no answer in time, and the program's note are written again.
  const after = await until(
    "status shows the same daemon, and the program that is left",
    async () => {
      const shown = await home.status();
      return shown.daemon.pid === before.daemon.pid && shown.programs[0]?.pid === left && shown;
    },
    () => home.status(),
  );
  expect(existsSync(join(home.path, "recovery/crash-history.json"))).toBe(false); // Losing a race is not a crash.
  process.kill(after.daemon.pid, "SIGKILL");
  await until(
    "the daemon is back",
    async () => (await home.status()).recovery.stage === "LIVE",
    async () => (await home.status()).recovery.stage,
  );
  await until(
    "the crash is counted once",
    () => {
      const path = join(home.path, "recovery/crash-history.json");
      return existsSync(path) && JSON.parse(readFileSync(path, "utf8")).crashes.length === 1;
    },
    () => home.status(),
  );
});
