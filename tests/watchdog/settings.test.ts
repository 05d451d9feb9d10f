// Claims about the settings that the watchdog is started with.
import { expect, test } from "bun:test";
import { BUN_FLAGS } from "../../src/base/bun.ts";
import { keepSettings, settingsText } from "../../src/home/watchdog-settings.ts";
import { readSettings, type Settings } from "../../src/watchdog/settings.ts";
import { HEARTBEAT_VARIABLE, SAFE_MODE_VARIABLE } from "../../src/wire/heartbeat.ts";
import { EARLY_COMPILERS, ENGINE_OPTIONS, LATE_COMPILERS, realSelf, type Self } from "../../src/world/self.ts";
import { SimDisk } from "../sim/disk.ts";
import { put } from "../world/places.ts";

const self: Self = {
  holder: async () => undefined,
  capacity: () => ({ cores: 1, memoryBytes: 0 }),
  command: (entry, ...args) => ["bun", entry, ...args],
  lasting: (entry, ...args) => ["bun", entry, ...args],
  files: () => [],
  binary: () => undefined,
  environment: () => ({ PATH: "/bin", [SAFE_MODE_VARIABLE]: "old", [HEARTBEAT_VARIABLE]: "1" }),
  collect: () => undefined,
};

function read(given: unknown): Settings {
  const settings = readSettings(self, "/h", JSON.stringify(given));
  if (!settings.ok) throw new Error(settings.error.message);
  return settings.value;
}

test("WD-1(b) without settings it watches daemon and page: every 2 s, killed after 30 s, three crashes in a minute", () => {
  const { specs, limits, pace, stopMs } = read({});
  expect(specs.map(({ name, command, essential }) => [name, command.argv.join(" "), essential])).toEqual([
    ["daemon", "bun src/daemon/main.ts /h", true],
    ["web", "bun src/web/main.ts /h", false],
  ]);
  expect(specs[0]?.shows).toEqual({ kind: "heartbeat", intervalMs: 2000, lock: "/h/run/daemon.lock" });
  expect(specs[0]?.command).toMatchObject({ cwd: "/h", env: { PATH: "/bin" } });
  expect([limits, pace.crashLoop, stopMs]).toEqual([
    { killAfterMs: 30_000, graceMs: 5_000 },
    { crashes: 3, windowMs: 60_000 },
    10_000,
  ]);
});

test("in a fleet it watches the standby program as well, whose crashes lead to no safe mode", () => {
  const { specs } = read({ standby: true, web: false });
  expect(specs.map(({ name, command, essential }) => [name, command.argv.join(" "), essential])).toEqual([
    ["daemon", "bun src/daemon/main.ts /h", true],
    ["standby", "bun src/standby/main.ts /h", false],
  ]);
  expect(specs[1]?.shows).toEqual({ kind: "heartbeat", intervalMs: 2000, lock: "/h/run/standby.lock" });
  expect(read({ standby: ["s", "x"], web: false }).specs[1]?.command.argv.join(" ")).toBe("s x");
});

test("what an earlier watchdog passed to the daemon is not passed on", () => {
  expect(read({}).specs.map(({ command }) => command.env)).toEqual([
    { PATH: "/bin", ...ENGINE_OPTIONS },
    { PATH: "/bin", ...ENGINE_OPTIONS, ...EARLY_COMPILERS }, // S6
  ]);
});

test("WD-1(b) WD-2(d) WD-8(d) SM-1(b) user's programs, commands and every limit can be set", () => {
  const programs = { mail: { argv: ["mbsync", "-a"], cwd: "/m", env: { A: "1" } }, top: { argv: ["top"] } };
  const numbers = { heartbeatMs: 50, killAfterMs: 60, graceMs: 70, stopMs: 80, crashes: 9, windowMs: 100 };
  const { specs, limits, pace, stopMs } = read({ daemon: ["d", "x"], web: false, programs, ...numbers });
  expect(specs.map(({ name, command }) => [name, command.argv.join(" "), command.cwd])).toEqual([
    ["daemon", "d x", "/h"],
    ["mail", "mbsync -a", "/m"],
    ["top", "top", "/h"],
  ]);
  expect(specs[1]?.command.env).toEqual({ PATH: "/bin", A: "1" });
  expect(specs[0]?.shows).toMatchObject({ intervalMs: 50 });
  expect([limits, pace.crashLoop, stopMs]).toEqual([
    { killAfterMs: 60, graceMs: 70 },
    { crashes: 9, windowMs: 100 },
    80,
  ]);
});

test("a wrong shape is refused, and named", () => {
  const wrong: readonly (readonly [text: string, named: string])[] = [
    ["{", "JSON"],
    ["[]", "the settings"],
    ['{"daemon":"bun"}', "daemon"],
    ['{"daemon":[]}', "daemon"],
    ['{"web":["a",1]}', "web"],
    ['{"standby":[]}', "standby"],
    ['{"standby":false}', "standby"],
    ['{"programs":[]}', "programs"],
    ['{"programs":{"a/b":{"argv":["x"]}}}', "a/b"],
    ['{"programs":{"a":{"argv":["x"],"cwd":1}}}', "programs.a.cwd"],
    ['{"programs":{"a":{"argv":["x"],"env":[]}}}', "programs.a.env"],
    ['{"heartbeatMs":0}', "heartbeatMs"],
    ['{"crashes":"3"}', "crashes"],
  ];
  for (const [text, named] of wrong) {
    const settings = readSettings(self, "/h", text);
    expect(settings.ok ? "" : settings.error.message).toContain(named);
  }
});

test("the last settings are used when none are given; unreadable ones are ignored", async () => {
  const disk = new SimDisk();
  expect(settingsText(disk, "/h", undefined)).toBe("{}");
  await keepSettings(disk, "/h", '{"crashes":9}');
  expect(settingsText(disk, "/h", undefined)).toBe('{"crashes":9}');
  expect(settingsText(disk, "/h", "{}")).toBe("{}");
  put(disk, "/h/run/watchdog.json", "\0\0\0\0\0");
  expect(settingsText(disk, "/h", undefined)).toBe("{}");
});

test("our own programs start from our installation, without settings that would make Bun do something else", () => {
  const [runtime, ...words] = realSelf().command("src/daemon/main.ts", "/h");
  expect(runtime).toBe(process.execPath);
  expect(words.slice(0, BUN_FLAGS.length)).toEqual([...BUN_FLAGS]);
  expect(words.slice(BUN_FLAGS.length).join(" ")).toEndWith("/src/daemon/main.ts /h");
  const ours = { BUN_OPTIONS: "", ...ENGINE_OPTIONS, ...LATE_COMPILERS, ...EARLY_COMPILERS };
  Object.assign(process.env, ours);
  const environment = realSelf().environment();
  for (const name of Object.keys(ours)) delete process.env[name];
  for (const name of Object.keys(ours)) expect(environment[name]).toBeUndefined();
  expect(environment["DO_NOT_TRACK"]).toBe("1");
});
