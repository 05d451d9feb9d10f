// A daemon that runs and does not answer: every command ends, and says what can be done.
import { afterEach, expect, test } from "bun:test";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll);

test("with a daemon that is stopped, every command ends with an answer from the disk, or with what to do next, which works", async () => {
  const home = new Home();
  await home.ok("up");
  await home.ok("new", "one", "--", "sleep", "1000");
  const { daemon } = await home.json("status");
  process.kill(daemon.pid, "SIGSTOP");
  const began = performance.now();
  const [made, again, retried, status, listed] = await Promise.all([
    home.run("new", "two", "--", "sleep", "1000"),
    home.run("up"),
    home.run("recovery", "retry"),
    home.run("status"),
    home.run("ls"),
  ]);
  const tookMs = performance.now() - began;
  for (const { code, err } of [made, again, retried]) {
    expect(code).toBe(75);
    expect(err).toContain(`kill -9 ${daemon.pid}`);
    expect(err).toContain(`The daemon (process ${daemon.pid}) runs, but does not answer.`);
  }
  expect([status.code, listed.code]).toEqual([0, 0]);
  expect(status.out).toContain("the daemon does not answer");
  expect(status.out).toContain(`kill -9 ${daemon.pid}`);
  expect(listed.out).toContain("one");
  expect(tookMs).toBeLessThan(25_000); // Before the watchdog has ended it, so that it is our own patience.
  process.kill(daemon.pid, "SIGKILL");
  await home.ok("new", "three", "--", "sleep", "1000");
  expect((await home.listed("one")).state).toBe("running");
}, 60_000);
