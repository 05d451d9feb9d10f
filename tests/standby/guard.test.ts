// The real standby program as the guard of a home with real holders: the lease ends, is renewed, and is lost.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../until.ts";
import { HeldHome, isStopped, lives } from "./held-home.ts";
import { StandbyProgram } from "./program.ts";

let held: HeldHome;
let standby: StandbyProgram;
const PROGRAM = "echo $$ >>$OUT; sleep 1006 & echo $! >>$OUT; wait";
const LONG_MS = 600_000;

afterEach(async () => {
  await standby.kill();
  await held.end();
});

/** No database answers at this address: the guard needs none. */
async function begun(leaseMs: number) {
  held = new HeldHome();
  const programs = [...(await held.agent(PROGRAM, 2)), ...(await held.attempt(PROGRAM, 2))];
  const terminal = await held.terminal(PROGRAM, 2);
  held.lease(leaseMs);
  const homes = join(held.home, "homes");
  standby = new StandbyProgram(held.home, { url: "postgres://x@127.0.0.1:1/x", lease_s: 3, homes });
  standby.start();
  return { programs, terminal };
}

async function all(what: string, pids: readonly number[], is: (pid: number) => boolean): Promise<void> {
  await until(
    what,
    () => pids.every(is),
    () => [pids.map((pid) => [pid, is(pid)]), standby.said],
  );
}

async function says(words: string): Promise<void> {
  await until(
    `it says ${words}`,
    () => standby.said.includes(words),
    () => standby.said,
  );
}

test("programs of agents and steps stop when the lease ends, go on when it is renewed, and die when it is lost", async () => {
  const { programs, terminal } = await begun(LONG_MS);
  await until(
    "it runs",
    () => standby.status()?.["guard"] === "running",
    () => standby.said,
  );
  held.lease(200);
  await all("they are stopped", programs, isStopped);
  await says("4 programs of agents and steps are stopped");
  expect(terminal.map(isStopped)).toEqual([false, false]);
  held.lease(LONG_MS);
  await all("they go on", programs, (pid) => !isStopped(pid));
  await says("4 programs go on");
  held.lease(0);
  await all("they are stopped again", programs, isStopped);
  held.fence();
  await all("they are dead", programs, (pid) => !lives(pid));
  await says("another host has this home: 4 programs of agents and steps are killed");
  await until(
    "that is its state",
    () => standby.status()?.["guard"] === "ended",
    () => standby.status(),
  );
  expect(terminal.map((pid) => lives(pid) && !isStopped(pid))).toEqual([true, true]);
});

test("SP4 a standby that is killed while programs are stopped has a successor that continues them", async () => {
  const { programs } = await begun(0);
  await all("they are stopped", programs, isStopped);
  await standby.kill();
  held.lease(LONG_MS);
  expect(programs.map(isStopped)).toEqual(programs.map(() => true));
  standby.start();
  await all("they go on", programs, (pid) => !isStopped(pid));
  await standby.kill();
  held.lease(0);
  standby.start();
  await all("they are stopped again", programs, isStopped);
  expect(await standby.kill("SIGTERM")).toBe(0);
  held.fence();
  standby.start();
  await all("they are dead", programs, (pid) => !lives(pid));
});

test("SP1 a second one on the same home leaves, and its exit is no crash", async () => {
  await begun(LONG_MS);
  await until(
    "it runs",
    () => standby.status()?.["guard"] === "running",
    () => standby.said,
  );
  const second = new StandbyProgram(held.home, { url: "postgres://x@127.0.0.1:1/x", homes: join(held.home, "homes") });
  second.start();
  await until(
    "it says why",
    () => second.said.includes("standby.lock is held by process"),
    () => second.said,
  );
  expect(await second.ended()).toBe(73);
});
