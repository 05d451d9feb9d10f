// After a reboot, as a user sees it: up shows progress, the report lists every outcome, and commands decide the rest.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";
import { powerCut, Rebooting, send } from "../cli/power-cut.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

test("a window attached when its holder was killed continues with the next generation", async () => {
  const home = new Home();
  await home.ok("new", "-d", "work", "--", "sh");
  const window = home.window(["attach", "work"]);
  await until(
    "there is a prompt",
    () => /[#$] $/.test(window.seen),
    () => window.seen,
  );
  const { id } = await home.listed("work");
  const holder = JSON.parse(readFileSync(join(home.path, `terminals/${id}/claim.json`), "utf8")).pid;
  send(holder, "SIGKILL");
  await window.shows("its process was lost; exit status unknown; started again");
  await until(
    "it is back",
    async () => (await home.listed("work")).state === "running",
    async () => (await home.listed("work")).state,
  );
  const report = () => home.ok("recovery", "report");
  await until("it is reported", async () => (await report()).includes("holder crash"), report);
  expect(await report()).toContain(": holder crash, 1 terminal checked\n");
  expect(await home.json("recovery", "report")).toMatchObject({ cause: "holder crash", tookMs: 0 });
  window.type("echo $((6 * 7))\r");
  await window.shows("42");
  window.type("exit 5\r");
  expect(await window.exited).toBe(5);
});

test("a reboot: terminals come back by their policy, and restore, accept and rollback decide the rest", async () => {
  const home = new Rebooting();
  mkdirSync(join(home.path, "bin"));
  writeFileSync(join(home.path, "bin/claude"), '#!/bin/sh\necho "with $*"\nexec sleep 1000\n');
  chmodSync(join(home.path, "bin/claude"), 0o755);
  const words = ["new", "-d", "agent", "--", "claude", "--permission-mode", "plan", "fix it"];
  expect((await home.at("", { ANTHROPIC_API_KEY: "sk-planted" }, ...words)).code).toBe(0);
  await home.ok("new", "-d", "asks", "--restore", "ask", "--", "sh", "-c", "echo once; exec sleep 1000");
  await home.ok("new", "-d", "shell", "--", "sh");
  await home.says("agent", "--session-id");
  await home.says("asks", "once");
  expect((await home.run("new", "-d", "x", "--restore", "perhaps")).code).toBe(2);
  const [session = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await home.ok("history", "agent")) ?? [];

  await powerCut(home);
  home.boot = 2;
  expect(await home.ok("up")).toContain("LIVE");
  await home.says("agent", `with --session-id ${session} --permission-mode plan\n`);
  const advice =
    'claude has no ANTHROPIC_API_KEY: end it, export that here, and start it again; `terminal.env_allow = ["';
  await home.says("agent", advice);
  expect(await home.ok("recovery", "report")).toContain(advice);
  expect(await home.listed("asks")).toMatchObject({ state: "uncertain", policy: "ask", restoredAt: null });
  expect(await home.listed("shell")).toMatchObject({ state: "running", generation: 2, restoredAt: expect.any(String) });
  const report = await home.ok("recovery", "report");
  expect(report).toContain("machine crash");
  expect(report).toMatch(
    /needs you +terminal asks +the machine went down; its policy is ask; last output .* before the crash.*→ holdfast restore asks/,
  );
  expect(await home.ok("recovery", "status")).toContain("LIVE");
  const window = home.window(["attach", "asks"]);
  await window.shows("holdfast restore asks");

  const restored = await home.json("restore", "asks", "--policy", "auto");
  expect(restored).toMatchObject({ name: "asks", policy: "auto", state: "running" });
  expect(restored.notes[0]).toContain(
    "sh -c 'echo once; exec sleep 1000' is typed at the prompt; press Enter to run it",
  );
  expect((await home.run("restore", "asks")).code).toBe(1);
  expect((await home.run("restore", "asks", "--policy", "never")).code).toBe(0);

  expect((await home.run("recovery", "accept", "shell")).code).toBe(0);
  expect(await home.listed("shell")).toMatchObject({ restoredAt: null });
  expect(await home.json("recovery", "rollback")).toMatchObject([
    { name: "agent", state: "uncertain" },
    { name: "asks", state: "uncertain" },
  ]);
  expect((await home.run("recovery", "rollback", "shell")).code).toBe(1);
  expect((await home.run("recovery", "rollback", "nobody")).code).toBe(4);
  expect((await home.run("recovery", "rollback")).err).toContain("no restored terminal is waiting");
  expect((await home.run("restore", "asks", "--as", "recipe")).err).toContain("run as at first");
  await home.ok("send", "asks", "hello");
  await until(
    "a terminal with input counts as accepted",
    async () => (await home.listed("asks")).restoredAt === null,
    async () => (await home.listed("asks")).restoredAt,
  );
  await until(
    "it ran again",
    async () => (await home.ok("history", "asks")).split("once\n").length === 3,
    async () => (await home.ok("history", "asks")).split("once\n").length,
  );
});

test("a command that is only typed is not shown as running, and a shell that was chosen stays one", async () => {
  const home = new Home();
  const command = ["sh", "-c", "echo once; exec sleep 1000"];
  await home.ok("new", "-d", "job", "--", ...command);
  await home.says("job", "once");
  const killed = async () => {
    const { id, generation } = await home.listed("job");
    const holder = JSON.parse(readFileSync(join(home.path, `terminals/${id}/claim.json`), "utf8")).pid;
    send(holder, "SIGKILL");
    await until(
      "it is back",
      async () => {
        const row = await home.listed("job");
        return row.generation > generation && row.state === "running";
      },
      () => home.listed("job"),
    );
  };
  expect(await home.listed("job")).toMatchObject({ program: command, typed: null });
  await killed();
  const typed = "sh -c 'echo once; exec sleep 1000'";
  expect(await home.listed("job")).toMatchObject({ command, program: ["/bin/sh"], typed });
  const { out, err } = await home.run("ls");
  expect(out).toMatch(/job +main +running \d+ +\/bin\/sh /);
  expect(err).toContain(`job: ${typed} is typed at the prompt; press Enter to run it.`);

  await home.ok("recovery", "rollback", "job");
  await home.ok("restore", "job", "--as", "shell");
  expect(await home.listed("job")).toMatchObject({ program: ["/bin/sh"], typed: null });
  await killed();
  expect(await home.listed("job")).toMatchObject({ program: ["/bin/sh"], typed: null });
  const history = await home.ok("history", "job");
  expect(history.slice(history.lastIndexOf("holdfast: "))).toContain("opened with: sh -c echo once; exec sleep 1000");
});

test("a directory and a program of the last seconds before a power cut come back, twice in a row", async () => {
  const home = new Rebooting();
  mkdirSync(join(home.path, "deep/er"), { recursive: true });
  await home.ok("new", "-d", "work", "--", "sh");
  const sightings = join(home.path, "recovery/sightings.json");
  const seen = () => (existsSync(sightings) ? readFileSync(sightings, "utf8") : "");
  const sees = (what: string) => until(`${what} was seen`, () => seen().includes(what), seen);
  await home.ok("send", "work", "cd deep", "-e");
  await sees("/deep");
  await home.ok("send", "work", "sleep 1234", "-e");
  await sees("1234");

  await powerCut(home);
  home.boot = 2;
  await home.ok("up");
  await home.says("work", "sleep 1234 is typed at the prompt; press Enter to run it");
  const report = await home.ok("recovery", "report");
  expect(report.replace(/\s+/g, " ")).toMatch(
    /in \S+\/deep;.* its directory and program are known as of (?:[\d.]+ s before )?its last output/,
  );

  await home.ok("send", "work", "--key", "C-u");
  await home.ok("send", "work", "cd er", "-e");
  await until(
    "it counts as accepted",
    async () => (await home.listed("work")).restoredAt === null,
    () => home.listed("work"),
  );
  await sees("/deep/er");
  await powerCut(home);
  home.boot = 3;
  await home.ok("up");
  expect(await home.ok("recovery", "report")).toMatch(/in \S+\/deep\/er;/);
});

test("up prints one line with the number of restored terminals", async () => {
  const home = new Rebooting();
  const names = Array.from({ length: 12 }, (_, number) => `t${number}`);
  for (const name of names) await home.ok("new", "-d", name, "--", "sh");
  await powerCut(home);
  home.boot += 1;
  const window = home.window(["up"]);
  expect(await window.exited).toBe(0);
  expect(window.seen).toMatch(/recovering: [A-Z]+, \d+ of 12 terminals recovered …/);
  expect(window.seen).not.toContain("CRASHED");
  const emulator = new Emulator({ cols: 80, rows: 24 }, 0);
  emulator.feed(Buffer.from(window.seen));
  const rows = describe(emulator).lines.map((row) =>
    row
      .map(({ ch }) => ch || " ")
      .join("")
      .trimEnd(),
  );
  expect(rows.filter((row) => /starting|recovering/.test(row))).toHaveLength(1);
  expect(rows.some((row) => row.startsWith("state      LIVE"))).toBe(true);
});

test("a report counts each kind of item", async () => {
  const home = new Home();
  const directory = join(home.path, "recovery/reports");
  mkdirSync(directory, { recursive: true });
  const item = (what: string) => ({ what, id: what, name: "x", fate: "restarted", reason: "r", next: "n" });
  const write = (name: string, ...kinds: readonly string[]) => {
    const items = kinds.map(item);
    const report = { at: "2026-01-01T00:00:00.000Z", cause: "machine crash", items, log: {}, tookMs: 5 };
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(report));
  };
  write("1", "terminal", "tmux session", "terminal", "process", "process");
  expect(await home.ok("recovery", "report")).toContain("5 ms, 2 terminals, 1 tmux session, 2 processes checked\n");
  write("2");
  expect(await home.ok("recovery", "report")).toContain("5 ms, nothing checked\n");
});

test("a report says in words how the daemon ended, as far as that is known", async () => {
  const home = new Home();
  const directory = join(home.path, "recovery/reports");
  mkdirSync(directory, { recursive: true });
  const unseen = { signal: null, exitCode: null };
  const ends = [
    [{ ...unseen, reason: "SIGNAL", signal: "SIGKILL" }, "daemon crash (SIGKILL), live"],
    [{ ...unseen, reason: "EXIT_CODE", exitCode: 1 }, "daemon crash (exit code 1), live"],
    [{ ...unseen, reason: "SIGNAL" }, "daemon crash (killed), live"],
    [{ ...unseen, reason: "HEARTBEAT_TIMEOUT" }, "daemon crash (nobody saw how it ended), live"],
    [{ ...unseen, reason: "UNRESPONSIVE" }, "daemon crash (it did not respond), live"],
    [null, "daemon crash, live"],
  ] as const;
  for (const [crash, text] of ends) {
    const report = { at: "2026-01-01T00:00:00.000Z", cause: "daemon crash", crash, items: [], log: {}, tookMs: 5 };
    writeFileSync(join(directory, "1.json"), JSON.stringify(report));
    expect(await home.ok("recovery", "report")).toContain(text);
  }
});
