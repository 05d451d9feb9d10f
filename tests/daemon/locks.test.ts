// One daemon per home, whatever happens to its locks and its socket.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, processes } from "./home.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];

/** The newest file of the write-ahead log. */
function walOf(home: DaemonHome): string {
  const names = readdirSync(home.file("wal")).filter((name) => name.endsWith(".wal"));
  return home.file(`wal/${names.sort().at(-1)}`);
}

test("a stale lock whose pid now belongs to another process keeps no daemon out", async () => {
  const home = newHome();
  mkdirSync(home.file("run"));
  const startTime = processes.startTime(process.pid);
  const record = { pid: process.pid, startTime, bootId: processes.bootId(), at: "" };
  writeFileSync(home.file("run/daemon.lock"), JSON.stringify(record)); // A record, but no process that holds the lock.
  const daemon = await home.live();
  expect(JSON.parse(home.text("run/daemon.lock"))).toMatchObject({ pid: daemon.process.pid });
});

test("of several daemons that start at once one stays, and the others exit with 73", async () => {
  const home = newHome();
  const racers = [1, 2, 3, 4].map(() => home.start());
  await until(
    "all but one have left",
    () => racers.filter(({ process: { exitCode } }) => exitCode === null).length === 1,
    () => racers.filter(({ process: { exitCode } }) => exitCode === null).length,
  );
  const winner = racers.find(({ process: { exitCode } }) => exitCode === null);
  if (winner === undefined) throw new Error("one stays");
  await home.isLive(winner);
  expect(racers.flatMap(({ process: { exitCode } }) => exitCode ?? []).sort()).toEqual([73, 73, 73]);
});

test("a socket deleted under the daemon comes back by itself, and so does all of run/, with its lock", async () => {
  const home = newHome();
  const daemon = await home.live();
  unlinkSync(home.file("run/daemon.sock"));
  await home.isLive(daemon);
  rmSync(home.file("run"), { recursive: true });
  await home.isLive(daemon);
  await until(
    "the lock is back",
    () => existsSync(home.file("run/daemon.lock")),
    () => `${home.file("run/daemon.lock")} exists: ${existsSync(home.file("run/daemon.lock"))}`,
  );
  expect(await home.start().process.exited).toBe(73);
  await home.is(await home.open("one", SLEEP), "running"); // Also without the program that was in run/bin.
});

test("run/ is removed while the daemon cannot see it: a second one writes nothing, and the first continues", async () => {
  const home = newHome();
  const first = await home.live();
  first.process.kill("SIGSTOP"); // As long as it does not put its lock back, nothing in run/ says that it is there.
  rmSync(home.file("run"), { recursive: true });
  const wal = readFileSync(walOf(home));
  const second = home.start();
  expect(await second.process.exited).toBe(73);
  expect(second.said()).toContain(`wal.lock is held by process ${first.process.pid}`);
  expect(readFileSync(walOf(home))).toEqual(wal);
  expect(existsSync(home.file("run"))).toBe(false);
  first.process.kill("SIGCONT");
  await home.isLive(first);
  await home.is(await home.open("one", SLEEP), "running");
});

test("a removed lock of the log is taken again", async () => {
  const home = newHome();
  const first = await home.live();
  rmSync(home.file("wal.lock"));
  await until(
    "it is back",
    () => home.text("wal.lock") !== "",
    () => home.text("wal.lock"),
  );
  expect(JSON.parse(home.text("wal.lock"))).toMatchObject({ pid: first.process.pid });
  await home.isLive(first);
});

test("a daemon whose home was taken over exits, and leaves the successor's socket alone", async () => {
  const home = newHome();
  const first = await home.live();
  first.process.kill("SIGSTOP"); // It does not see what happens.
  rmSync(home.file("run"), { recursive: true });
  rmSync(home.file("wal.lock"));
  const second = await home.live();
  first.process.kill("SIGCONT");
  expect(await first.process.exited).toBe(73);
  expect(first.said()).toContain(`process ${second.process.pid} has taken this home over`);
  await home.isLive(second);
});
