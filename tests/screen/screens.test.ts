// The daemon's side and the real program: asked, killed, stuck, idle, flooded.

import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { plainRestoreBanner } from "../../src/core/terminal/screen.ts";
import { Screens } from "../../src/daemon/terminal/screens.ts";
import type { CrashRecord } from "../../src/home/last-crash.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realClock } from "../../src/world/real/clock.ts";
import type { Self } from "../../src/world/self.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { everything } from "./compare.ts";
import { removeHomes, TapeHome } from "./tapes.ts";

const size = { cols: 40, rows: 10 };
const open: Screens[] = [];
const crashes: CrashRecord[] = [];

afterEach(() => {
  for (const screens of open.splice(0)) screens.close();
  crashes.length = 0;
  removeHomes();
});

type Start = readonly [string, ...string[]];

function screensOf(home: TapeHome, start: Start = ours("src/screen/main.ts"), answerMs?: number, env = {}): Screens {
  const self: Self = {
    command: () => start,
    lasting: () => start,
    files: () => [],
    binary: () => undefined,
    holder: async () => undefined,
    capacity: () => ({ cores: 1, memoryBytes: 0 }),
    environment: () => ({ PATH: "/usr/bin:/bin", HOME: home.path, ...env }),
    collect: () => undefined,
  };
  const world = { children: realChildren(), clock: realClock(), self, home: home.path };
  const screens = new Screens(world, (crash) => void crashes.push(crash), answerMs);
  open.push(screens);
  return screens;
}

/** The screen programs that live and were started for this home. */
function programs(home: TapeHome): number[] {
  const mine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${home.path}\0`);
    } catch {
      return false; // It has just gone.
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && mine(name))
    .map(Number);
}

test("snapshots of many terminals are made in one call, and again from the output since", async () => {
  const home = new TapeHome();
  const ids = Array.from({ length: 25 }, (_, n) => `t${n}`);
  for (const id of ids) home.append(id, `\u001b]2;${id}\u0007hello \u001b[1;31m${id}`);
  const screens = screensOf(home);
  const first = await screens.snapshot(ids.map((id) => ({ id, size })));
  expect([...first.keys()].sort()).toEqual([...ids].sort());
  expect(first.get("t7")).toMatchObject({ ...size, title: "t7", exact: true, alternate: false });
  home.append("t7", "\u001b[?1049h…more");
  const [second] = [...(await screens.snapshot([{ id: "t7", size }])).values()];
  const fresh = new Emulator(size, 0);
  fresh.xterm.write(second?.vt ?? "");
  const reference = new Emulator(size, 0);
  reference.feed(Buffer.from("\u001b]2;t7\u0007hello \u001b[1;31mt7\u001b[?1049h…more"));
  expect(everything(fresh)).toEqual(everything(reference));
  expect(second?.offset).toBe(reference.offset);
  expect(programs(home)).toHaveLength(1);
});

test("cells show the content of the screen, and a terminal without a tape is empty", async () => {
  const home = new TapeHome();
  home.append("a", "\u001b[38;2;1;2;3mx\u001b[m 漢");
  const screens = screensOf(home);
  const cells = await screens.cells({ id: "a", size });
  if (!cells.ok) throw new Error(cells.error.message);
  expect(cells.value.lines[0]?.slice(0, 4)).toEqual([
    { ch: "x", width: 1, fg: "#010203", bg: "", flags: "" },
    { ch: " ", width: 1, fg: "", bg: "", flags: "" },
    { ch: "漢", width: 2, fg: "", bg: "", flags: "" },
    { ch: "", width: 0, fg: "", bg: "", flags: "" },
  ]);
  const [nothing] = [...(await screens.snapshot([{ id: "none", size }])).values()];
  expect(nothing).toMatchObject({ offset: 0, exact: true });
});

test("WD-8(c) killed in the middle, it is started again, every request is answered, and the crash is reported", async () => {
  const home = new TapeHome();
  const ids = Array.from({ length: 8 }, (_, n) => `t${n}`);
  for (const id of ids) home.append(id, "line of a flood\r\n".repeat(60_000));
  const screens = screensOf(home);
  const made = screens.snapshot(ids.map((id) => ({ id, size })));
  await until(
    "the program",
    () => programs(home).length === 1,
    () => programs(home).length,
  );
  const [pid = 0] = programs(home);
  process.kill(pid, "SIGKILL");
  expect((await made).size).toBe(ids.length);
  expect(crashes).toMatchObject([{ name: "screen", pid, signal: "SIGKILL", reason: "SIGNAL" }]);
});

test("a request of which it dies twice is given up, and the others are answered", async () => {
  const home = new TapeHome();
  const program = `for await (const line of console) {
    const { n, op } = JSON.parse(line);
    if (op === "farewell") process.kill(process.pid, "SIGKILL");
    await Bun.write(Bun.stdout, JSON.stringify({ n, ok: true, value: { n } }) + "\\n");
  }`;
  const screens = screensOf(home, [process.execPath, "-e", program]);
  const dies = screens.farewell({ id: "a", size, message: "gone" });
  const lives = screens.cells({ id: "b", size });
  expect(await dies).toBe(plainRestoreBanner("gone"));
  expect(await lives).toMatchObject({ ok: true, value: { n: 2 } });
});

test("WD-8(c) one that says nothing any more is killed, its request refused in the end, and it is reported as unresponsive", async () => {
  const home = new TapeHome();
  const screens = screensOf(home, ["sleep", "1000"], 50);
  expect(await screens.cells({ id: "a", size })).toMatchObject({ ok: false, error: { code: "screen.died" } });
  expect(crashes.map(({ reason }) => reason)).toEqual(["UNRESPONSIVE", "UNRESPONSIVE"]);
  await until(
    "its end",
    () => programs(home).length === 0,
    () => programs(home).length,
  );
});

test("one that cannot be started is a refusal, and so is asking after the end", async () => {
  const home = new TapeHome();
  const screens = screensOf(home, ["/nowhere/at/all"]);
  expect(await screens.cells({ id: "a", size })).toMatchObject({ ok: false, error: { code: "screen.start" } });
  screens.close();
  expect(await screens.cells({ id: "a", size })).toMatchObject({ ok: false, error: { code: "screen.closed" } });
  expect((await screens.snapshot([{ id: "a", size }])).size).toBe(0);
});

test("it exits when idle, and when its input is closed, which is no crash; a later request starts it again", async () => {
  const home = new TapeHome();
  home.append("a", "still here");
  const screens = screensOf(home, undefined, undefined, { HOLDFAST_SCREEN_IDLE_MS: "30" });
  for (let life = 0; life < 2; life += 1) {
    expect((await screens.snapshot([{ id: "a", size }])).size).toBe(1);
    await until(
      "the idle one's end",
      () => programs(home).length === 0,
      () => programs(home).length,
    );
  }
  const other = screensOf(home);
  await other.snapshot([{ id: "a", size }]);
  other.close();
  await until(
    "the closed one's end",
    () => programs(home).length === 0,
    () => programs(home).length,
  );
});

test("one that is never asked ends too", async () => {
  const child = Bun.spawn(ours("src/screen/main.ts"), {
    stdio: ["pipe", "ignore", "inherit"],
    env: { HOLDFAST_SCREEN_IDLE_MS: "30" },
  });
  expect(await child.exited).toBe(0);
});

test("lines that are not requests are refused, or skipped if there is no way to answer", async () => {
  const home = new TapeHome();
  const child = Bun.spawn(ours("src/screen/main.ts"), { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write(
    'nonsense\n{"no":"number"}\n{"n":1,"op":"snapshot"}\n{"n":2,"op":"dance","directory":"/x","size":{"cols":9,"rows":9}}\n',
  );
  child.stdin.write(`${JSON.stringify({ n: 3, op: "cells", directory: home.directory("a"), size })}\n`);
  await child.stdin.end();
  const answers = (await new Response(child.stdout).text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.map(({ n, ok }) => [n, ok])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ]);
  expect(await child.exited).toBe(0);
});
