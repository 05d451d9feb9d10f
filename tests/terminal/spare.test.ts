// The spare holder: a new terminal starts in a process that waited for it.
import { expect, test } from "bun:test";
import { readlinkSync } from "node:fs";
import { type DaemonHome, daemonHomes, processes, readProc } from "../daemon/home.ts";
import { until } from "../until.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];

function sparesOf(home: DaemonHome): number[] {
  return home.ours().filter((pid) => readProc(pid, "cmdline").includes(`\0${home.path}/---------/`));
}

function spareOf(home: DaemonHome, but?: number): Promise<number> {
  return until(
    "there is a spare",
    () => sparesOf(home).find((pid) => pid !== but),
    () => home.ours().map((pid) => readProc(pid, "cmdline")),
  );
}

async function opened(home: DaemonHome, name: string, argv: readonly string[] = SLEEP) {
  const id = await home.open(name, argv);
  const { holder } = await home.is(id, "running");
  return { id, holder };
}

async function gone(pid: number): Promise<void> {
  await until(
    `${pid} is gone`,
    () => !processes.isTaken(pid),
    () => readProc(pid, "stat"),
  );
}

test("a terminal starts in the spare, gets its secrets, and another spare takes its place", async () => {
  const home = newHome();
  await home.live();
  const first = await opened(home, "first");
  expect(first.holder).toBeGreaterThan(0);
  const spare = await spareOf(home);
  expect(readlinkSync(`/proc/${spare}/cwd`)).toBe("/"); // Settled: it was started like this.
  // Settled: so was this.
  expect(readProc(spare, "environ")).not.toContain("HOLDFAST_TERMINAL");

  const wish = home.wish("second", ["sh", "-c", `test "$API_TOKEN" = hunter2 && exec sleep 1000`]);
  const { id } = await home.must("terminal.new", { ...wish, env: { ...wish.env, API_TOKEN: "hunter2" } });
  expect((await home.is(id, "running")).holder).toBe(spare);
  expect(home.claim(id)).toMatchObject({ by: "holder", pid: spare });
  expect(readlinkSync(`/proc/${spare}/fd/0`)).toBe("/dev/null"); // Settled: it runs.
  // What runs in it is known by them (CA1 of home/callers.ts). Settled: it runs.
  expect(home.commandOf(spare)).toBe(home.commandOf(first.holder).replace(first.id, id));
  expect(readProc(spare, "environ")).not.toContain("hunter2"); // Settled: it runs.
  const next = await spareOf(home, spare);
  expect(sparesOf(home)).toEqual([next]);
});

test("a spare that was killed, or is stopped, does not keep a terminal from starting", async () => {
  const home = newHome();
  await home.live();
  await opened(home, "first");
  const killed = await spareOf(home);
  process.kill(killed, "SIGKILL");
  const second = await opened(home, "second");
  expect(second.holder).not.toBe(killed);
  const stopped = await spareOf(home, killed);
  process.kill(stopped, "SIGSTOP");
  const third = await opened(home, "third");
  expect(third.holder).not.toBe(stopped);
  await gone(stopped);
});

test("it ends with its daemon, however that ends, and the next one does not take it for anything", async () => {
  const home = newHome();
  const daemon = await home.live();
  const { id, holder } = await opened(home, "first");
  const spare = await spareOf(home);
  await home.kill(daemon);
  await gone(spare);
  const next = await home.live();
  expect(await home.is(id, "running")).toMatchObject({ holder });
  expect((await home.report()).items.filter(({ what }) => what === "process")).toEqual([]);
  expect(sparesOf(home)).toEqual([]); // Nothing was started since.
  await opened(home, "second");
  const last = await spareOf(home);
  await home.stop(next);
  await gone(last);
});
