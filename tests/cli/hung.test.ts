// A daemon or a watchdog that runs but does not answer: every command terminates, and says what can be done.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll);

test("with a stopped daemon, every command ends with an answer from the disk or with a next step that works", async () => {
  const home = new Home();
  // Nothing kills the commands: each ends by its own timeout, however slow the machine is.
  writeFileSync(join(home.path, "config.toml"), "[daemon]\nunresponsive_kill_s = 3600\n");
  await home.ok("up");
  await home.ok("new", "one", "--", "sleep", "1000");
  const { daemon } = await home.status();
  process.kill(daemon.pid, "SIGSTOP");
  const [made, again, retried, status, listed] = await Promise.all([
    home.run("new", "two", "--", "sleep", "1000"),
    home.run("up"),
    home.run("recovery", "retry"),
    home.run("status"),
    home.run("ls"),
  ]);
  for (const { code, err } of [made, again, retried]) {
    expect(code).toBe(75);
    expect(err).toContain(`kill -9 ${daemon.pid}`);
    expect(err).toContain(`The daemon (process ${daemon.pid}) is running, but does not answer.`);
  }
  expect([status.code, listed.code]).toEqual([1, 0]);
  expect(status.out).toContain("the daemon does not answer");
  expect(status.out).toContain(`kill -9 ${daemon.pid}`);
  expect(listed.out).toContain("one");
  process.kill(daemon.pid, "SIGKILL");
  await home.ok("new", "three", "--", "sleep", "1000");
  expect((await home.listed("one")).state).toBe("running");
});

test("H4 a stopped watchdog is replaced by the daemon, which stays, and so do its programs; `up` says what is", async () => {
  const home = new Home();
  await home.ok("up");
  await home.ok("new", "one", "--", "sleep", "1000");
  const before = await home.status();
  const { pid } = await home.listed("one");
  process.kill(before.watchdog.pid, "SIGSTOP");
  expect((await home.run("up")).code).toBe(0);
  const replaced = async () => {
    const { watchdog } = await home.status();
    return watchdog.pid !== null && watchdog.pid !== before.watchdog.pid;
  };
  await until("another watchdog", replaced, () => home.run("logs"));
  expect((await home.status()).daemon).toEqual(before.daemon);
  expect((await home.listed("one")).pid).toBe(pid);
  expect((await home.run("up")).code).toBe(0);
});

test("A6 `up` beside a stopped watchdog without a daemon replaces it, and everything is back", async () => {
  const home = new Home();
  await home.ok("up");
  await home.ok("new", "one", "--", "sleep", "1000");
  const { watchdog, daemon } = await home.status();
  const { pid } = await home.listed("one");
  process.kill(watchdog.pid, "SIGSTOP");
  process.kill(daemon.pid, "SIGKILL");
  const up = await home.run("up");
  expect([up.code, up.err]).toEqual([
    0,
    expect.stringContaining(`the watchdog (process ${watchdog.pid}) did not reply`),
  ]);
  const after = await home.status();
  expect([after.watchdog.pid === watchdog.pid, after.recovery.stage]).toEqual([false, "LIVE"]);
  expect((await home.listed("one")).pid).toBe(pid);
});
