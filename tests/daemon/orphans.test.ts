// Orphans on a real machine: processes that terminals left behind when their holder died are stopped, and no others.
import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, killIfThere, processes } from "./home.ts";

const newHome = daemonHomes();

/** Sleepers identified only by their path: they have neither our marker nor any other variable. */
function nap(home: DaemonHome): string {
  copyFileSync("/bin/sleep", home.file("nap"));
  return home.file("nap");
}

function napping(home: DaemonHome): number[] {
  return home.ours().filter((pid) => home.commandOf(pid).startsWith(home.file("nap")));
}

/** Kills the holder and the program of a terminal, as a machine out of memory would. */
async function killBoth({ pid, holder }: { pid: number; holder: number }): Promise<void> {
  for (const who of [holder, pid]) killIfThere(who);
  await until(
    "both are gone",
    () => [holder, pid].every((who) => processes.startTime(who) === undefined),
    () => [holder, pid],
  );
}

function seenAt(home: DaemonHome, id: string): number {
  return Number(JSON.parse(home.text("run/seen.json") || "{}").seen?.[id] ?? 0);
}

/** A job may ignore the hangup of its terminal, and clear its environment. */
const job = (path: string) => `env -i ${path} 1000 &`;

test("100 orphans without marker and parent are ours by their session, if they were there when it was last seen", async () => {
  const home = newHome();
  const first = await home.live();
  const path = nap(home);
  const many = `trap '' HUP; i=0; while [ $i -lt 100 ]; do ${job(path)} i=$((i+1)); done`;
  const late = `until [ -e go ]; do sleep 0.01; done; ${job(path)} wait`;
  const id = await home.open("many", ["sh", "-c", `${many}; ${late}`]);
  const running = await home.is(id, "running");
  await until(
    "a hundred programs sleep",
    () => napping(home).length === 100,
    () => napping(home).length,
  );
  const now = processes.ticks();
  await until(
    "the daemon has seen the terminal since",
    () => seenAt(home, id) > now,
    () => seenAt(home, id),
  );
  const before = napping(home);
  await home.kill(first);
  writeFileSync(home.file("go"), "");
  const doubtful = await until(
    "another program naps",
    () => napping(home).find((pid) => !before.includes(pid)),
    () => napping(home),
  );
  await killBoth(running);
  expect(napping(home).length).toBe(101);
  // As similar to ours as possible, but never below a terminal of ours.
  const stranger = Bun.spawn([path, "1000"], { env: {} });
  await home.live();
  expect(napping(home).sort()).toEqual([doubtful, stranger.pid].sort());
  const items = (await home.report()).items.filter(({ what }) => what === "process");
  expect(items.filter(({ fate }) => fate === "could not").length).toBe(100);
  expect(items.filter(({ fate }) => fate === "needs you")).toMatchObject([{ next: `ps -fp ${doubtful}` }]);
  stranger.kill("SIGKILL");
});

test("an orphan whose terminal was lost while the daemon ran is known by that terminal's program, and stopped before the restart", async () => {
  const home = newHome();
  await home.live();
  const path = nap(home);
  const id = await home.open("one", ["sh", "-c", `trap '' HUP; ${job(path)} exec sleep 1000`]);
  const running = await home.is(id, "running");
  await until(
    "it naps",
    () => napping(home).length === 1,
    () => napping(home).length,
  );
  const now = processes.ticks();
  await until(
    "the daemon has seen the terminal since",
    () => seenAt(home, id) > now,
    () => seenAt(home, id),
  );
  await killBoth(running);
  await until(
    "it is started again",
    async () => (await home.listed(id)).generation === 2,
    async () => (await home.listed(id)).generation,
  );
  expect(napping(home)).toEqual([]);
});

test("processes left by a terminal that ended normally are not orphans: its user wanted them", async () => {
  const home = newHome();
  const first = await home.live();
  const path = nap(home);
  const id = await home.open("one", ["sh", "-c", `trap '' HUP; ${path} 1000 & exec setsid ${path} 1000 & exit 0`]);
  await home.is(id, "ended");
  await until(
    "both nap",
    () => napping(home).length === 2,
    () => napping(home).length,
  );
  await home.kill(first);
  await home.live();
  expect(napping(home).length).toBe(2);
  expect((await home.report()).items).toEqual([]);
});
