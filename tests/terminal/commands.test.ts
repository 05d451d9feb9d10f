// The terminal commands as a user sees them: real processes, a real daemon, real holders.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

const MAIN = ours("src/cli/main.ts");

afterEach(endAll, 180_000);

async function pidsOf(home: Home): Promise<{ daemon: number; watchdog: number }> {
  const { daemon, watchdog } = await home.status();
  return { daemon: daemon.pid, watchdog: watchdog.pid };
}

describe("a terminal's life", () => {
  test("new opens, ls lists, send types, history prints, kill ends, wait returns the code, rm forgets", async () => {
    const home = new Home();
    expect(await home.ok("new", "-d", "work", "--lane", "blue", "--", "cat")).toBe("work\n");
    const [row] = await home.json("ls");
    expect(row).toMatchObject({
      name: "work",
      lane: "blue",
      state: "running",
      command: ["cat"],
      cwd: home.path,
      clients: 0,
      exitCode: null,
      signal: null,
    });
    expect(Number.isSafeInteger(row.pid)).toBe(true);
    expect(Date.parse(row.createdAt)).toBeGreaterThan(0);
    expect(await home.run("send", "work", "$HOME is; `as it is`", "--enter")).toEqual({ code: 0, out: "", err: "" });
    await home.says("work", "$HOME is; `as it is`\n$HOME is; `as it is`\n");
    expect((await home.run("kill", row.id.slice(0, 8))).code).toBe(0);
    expect((await home.run("wait", "work")).code).toBe(143);
    expect(await home.listed("work")).toMatchObject({ state: "ended", signal: "SIGTERM", pid: null });
    await home.ok("rename", "work", "done");
    await home.ok("rm", "done");
    expect(await home.json("ls")).toEqual([]);
  });

  test("send --key presses keys by their names in tmux, after the text and in their order", async () => {
    const home = new Home();
    await home.ok("new", "-d", "raw", "--", "sh", "-c", "stty raw -echo; echo ready; exec cat -v");
    await home.says("raw", "ready");
    await home.ok("send", "raw", "text", "--key", "C-c", "-k", "M-x", "-k", "C-Left", "--enter");
    await home.says("raw", "text^C^[x^[[1;5D^M");
    await home.ok("send", "raw", "--key", "Up");
    await home.says("raw", "^[[A");
    await home.ok("new", "-d", "cat", "--", "cat");
    await home.ok("send", "cat", "--key", "C-c");
    expect((await home.run("wait", "cat")).code).toBe(130);
    rejects(await home.run("send", "raw", "--key", "Entre"), 2, 'There is no key "Entre".');
    rejects(await home.run("send", "raw"), 2, "There is nothing to send.");
  });

  test("lanes: new --lane, ls --lane, move, and kill --lane, which ends that lane and no other", async () => {
    const home = new Home();
    for (const [name, lane] of [
      ["server", "api"],
      ["worker", "api"],
      ["editor", "main"],
    ] as const)
      await home.ok("new", name, "-d", "--lane", lane, "--", "sleep", "1000");
    const names = async (...args: readonly string[]) =>
      (await home.json("ls", ...args)).map(({ name }: { name: string }) => name).sort();
    expect(await names("--lane", "api")).toEqual(["server", "worker"]);
    const { pid } = await home.listed("worker");
    await home.ok("move", "worker", "jobs");
    expect(await names("--lane", "jobs")).toEqual(["worker"]);
    expect((await home.listed("worker")).pid).toBe(pid);
    expect(await home.run("ls", "--lane", "none")).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringContaining("none"),
    });
    const killed = await home.json("kill", "--lane", "api");
    expect(killed).toMatchObject([{ name: "server", signal: "SIGTERM" }]);
    expect((await home.listed("worker")).state).toBe("running");
    expect((await home.listed("editor")).state).toBe("running");
    rejects(await home.run("kill", "--lane", "none"), 4, 'There is no lane "none"');
    rejects(await home.run("kill"), 2, "Which terminal?");
    rejects(await home.run("kill", "worker", "--lane", "jobs"), 2, "Which terminal?");
  });

  test("wait returns the program's own exit code; the output can still be read, with or without escapes", async () => {
    const home = new Home();
    await home.ok("new", "-d", "x", "--", "sh", "-c", "printf '\\033[1mbold\\033[0m\\n\\000two\\n'; exit 7");
    expect((await home.run("wait", "x")).code).toBe(7);
    expect(await home.ok("history", "x")).toBe("bold\ntwo\n");
    expect(await home.ok("history", "x", "--vt")).toBe("\u001b[1mbold\u001b[0m\r\n\u0000two\r\n");
    expect(await home.ok("tail", "x", "-n1")).toBe("two\n");
    expect(await home.json("tail", "x")).toMatchObject({ name: "x", lines: ["bold", "two"] });
  });

  test("history and tail show what follows a title, a private message or a command that was never finished", async () => {
    const home = new Home();
    const strings = ["]0;title", "^private", "_command", "P1$r"].map(
      (string) => `\\033${string}\\033[1mafter ${string}\\n`,
    );
    await home.ok("new", "-d", "x", "--", "sh", "-c", `printf '${strings.join("")}'`);
    expect((await home.run("wait", "x")).code).toBe(0);
    const lines = ["after ]0;title", "after ^private", "after _command", "after P1$r"];
    expect(await home.ok("history", "x")).toBe(lines.map((line) => `${line}\n`).join(""));
    expect(await home.json("tail", "x")).toMatchObject({ lines });
  });

  test("a terminal without a name is named by its id; a missing program is reported and ends with 127", async () => {
    const home = new Home();
    const { id, name } = await home.json("new", "-d");
    expect(id.startsWith(name)).toBe(true);
    const { code, out, err } = await home.run("new", "-d", "no", "--", "/nowhere/program");
    expect({ code, out }).toEqual({ code: 0, out: "no\n" });
    expect(err).toContain("no ended with exit code 127 at once.");
    expect(await home.ok("history", "no")).toContain(
      "holdfast: /nowhere/program cannot be started: it was not found (ENOENT)\n",
    );
  });

  test("wait --timeout returns 124 if the program is still running by then, and its exit code otherwise", async () => {
    const home = new Home();
    await home.ok("new", "-d", "slow", "--", "sh", "-c", "read x; exit 5");
    rejects(await home.run("wait", "slow", "--timeout", "100ms"), 124, "Timed out after 0.1 s: slow is still running.");
    const { code, err } = await home.run("wait", "slow", "--timeout", "0.2", "--json");
    expect([code, JSON.parse(err).code]).toEqual([124, "timed-out"]);
    expect((await home.listed("slow")).state).toBe("running");
    const waiting = home.run("wait", "slow", "--timeout", "10m");
    await home.ok("send", "slow", "go", "-e");
    expect((await waiting).code).toBe(5);
    expect((await home.run("wait", "slow", "--timeout", "1s")).code).toBe(5);
    for (const time of ["soon", "-1", "0", "1w"])
      rejects(await home.run("wait", "slow", "--timeout", time), 2, "it must be a time such as 30s, 5m or 2h");
  });

  test("an unknown terminal is exit 4 and never the current one; a name that is taken or invalid is exit 1", async () => {
    const home = new Home();
    await home.ok("new", "-d", "only", "--", "cat");
    for (const args of [
      ["send", "nly", "x"],
      ["kill", "x"],
      ["wait", ""],
      ["history", "zz"],
      ["rm", "zz"],
      ["tail", "zz"],
    ]) {
      rejects(await home.run(...args), 4, args[1] === "" ? "No name was given." : `There is no terminal "${args[1]}".`);
    }
    rejects(await home.run("new", "-d", "only"), 1, "There is already a terminal named only.");
    rejects(await home.run("rm", "only"), 1, "only is still running.");
    rejects(await home.run("kill", "only", "--signal", "NONE"), 2, 'Unknown signal "NONE".');
    rejects(await home.run("attach", "only"), 1, "Standard input or output is not a terminal");
    rejects(await home.run("new", "-d", "q", "--cwd", "not-there"), 1, `${home.path}/not-there is not a directory.`);
  });
});

describe("the daemon comes and goes", () => {
  test("watchdog and daemon killed at once: send still works, and the next command brings them back", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "cat");
    const before = await home.listed("t");
    const { daemon, watchdog } = await pidsOf(home);
    for (const pid of [daemon, watchdog]) process.kill(pid, "SIGKILL");
    expect((await home.run("send", "t", "typed meanwhile", "--enter")).code).toBe(0);
    expect(await home.listed("t")).toMatchObject({ id: before.id, pid: before.pid, state: "running" });
    await home.says("t", "typed meanwhile\ntyped meanwhile\n");
    expect((await pidsOf(home)).daemon).not.toBe(daemon);
    expect(await home.ok("recovery", "report")).toContain("daemon crash");
  });

  test("DS-4(b) down leaves the programs running and stays down; reading works; up manages them again", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "cat");
    const { pid } = await home.listed("t");
    await home.ok("down");
    expect(await home.status()).toMatchObject({ daemon: { pid: null }, watchdog: { pid: null } });
    expect(await home.listed("t")).toMatchObject({ pid, state: "running" });
    await home.ok("send", "t", "while it is down", "-e");
    await home.says("t", "while it is down\nwhile it is down\n");
    expect(await home.status()).toMatchObject({ daemon: { pid: null } });
    expect(await home.json("up")).toMatchObject({ recovery: { stage: "LIVE" }, counts: { terminals: 1 } });
    expect(await home.listed("t")).toMatchObject({ pid, state: "running" });
    await home.ok("down", "--kill");
    expect(await home.listed("t")).toMatchObject({ state: "ended", signal: "SIGTERM" });
  });

  test("a program that ends while everything is down: wait still returns its code, and the next daemon records it", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "sh", "-c", "read line; exit 9");
    await home.ok("down");
    await home.ok("send", "t", "go", "--enter");
    expect((await home.run("wait", "t")).code).toBe(9);
    await home.ok("up");
    expect(await home.listed("t")).toMatchObject({ state: "ended", exitCode: 9 });
  });

  test("new, called while the daemon is killed again and again, creates exactly one terminal each time", async () => {
    const home = new Home();
    await home.ok("up");
    const names = ["a", "b", "c"];
    for (const name of names) {
      const { daemon } = await pidsOf(home);
      const made = home.run("new", "-d", name, "--", "cat");
      process.kill(daemon, "SIGKILL");
      expect(await made).toMatchObject({ code: 0, out: `${name}\n` });
    }
    const rows: { name: string; state: string }[] = await home.json("ls");
    expect(rows.map(({ name, state }) => `${name} ${state}`).sort()).toEqual(names.map((name) => `${name} running`));
  });
});

describe("around terminals", () => {
  test("reading a home that does not exist starts nothing and creates nothing", async () => {
    const home = new Home();
    const never = join(home.path, "never");
    expect(await home.ok("ls", "--json", "--home", never)).toBe("[]\n");
    expect(JSON.parse(await home.ok("status", "--json", "--home", never)).daemon).toEqual({
      pid: null,
      startedAt: null,
    });
    expect(await home.ok("__complete", "--", "attach", "--home", never, "")).toBe("");
    rejects(await home.run("history", "x", "--home", never), 4, "There is no home at");
  });

  test("SM-6(a) in safe mode commands first say what is off, why, how to leave and how to report", async () => {
    const home = new Home();
    mkdirSync(join(home.path, "recovery"));
    const mode = { v: 1, active: true, reason: "a test wanted it", since: "2026-01-02T03:04:05.678Z", off: ["tunnel"] };
    writeFileSync(join(home.path, "recovery/safe-mode.json"), JSON.stringify(mode));
    for (const args of [["ls"], ["log", "verify"], ["config", "check"], ["history", "x"]]) {
      const { err } = await home.run(...args);
      expect(err).toStartWith("! safe mode, because ");
      for (const part of ["a test wanted it", "agent turns", "holdfast safe-mode exit", "holdfast recovery report"])
        expect(err).toContain(part);
      expect(err).not.toContain("tunnel"); // There is none that could be off.
    }
    const { err } = await home.run("ls", "--json");
    expect(JSON.parse(err)).toMatchObject({ code: "safe-mode", message: expect.stringContaining("a test wanted it") });
    expect((await home.run("__complete", "--", "safe")).err).toBe("");
    expect(await home.json("safe-mode", "exit")).toEqual({ active: false }); // Without a daemon.
    expect((await home.run("ls")).err).not.toContain("safe mode");
    writeFileSync(join(home.path, "recovery/safe-mode.json"), JSON.stringify(mode));
    await home.ok("up");
    const status = await home.run("status");
    expect([status.code, status.out]).toEqual([1, expect.stringContaining(", in safe mode\n")]);
    expect(status.out).toContain(
      "trouble    parts of Holdfast are off: it is in safe mode, because a test wanted it\n",
    );
    expect(status.out).toContain("  → holdfast logs, then: holdfast safe-mode exit\n");
    await home.ok("safe-mode", "exit");
    expect((await home.run("status")).code).toBe(0);
    expect(await home.json("safe-mode", "status")).toEqual({ active: false, reason: null, since: null, off: [] });
    expect((await home.run("config", "check")).err).toBe("");
  });

  test("completions: commands, flags after a dash, and the names of existing terminals", async () => {
    const home = new Home();
    await home.ok("new", "-d", "alpha", "--", "cat");
    await home.ok("new", "-d", "beta", "--", "cat");
    const complete = async (...words: string[]) =>
      (await home.ok("__complete", "--", ...words)).split("\n").slice(0, -1);
    expect(await complete("at")).toEqual(["attach"]);
    expect(await complete("attach", "")).toEqual(["alpha", "beta"]);
    expect(await complete("kill", "b")).toEqual(["beta"]);
    expect(await complete("kill", "--s")).toEqual(["--signal"]);
    expect(await complete("kill", "alpha", "b")).toEqual(["beta"]);
    expect(await complete("help", "ki")).toEqual(["kill"]);
    expect(await complete("new", "--restore", "")).toEqual(["auto", "ask", "never"]);
    expect(await complete("new", "--restore", "n")).toEqual(["never"]);
    for (const words of [["run"], ["run", "--param-file"], ["new", "--cwd"], ["ls", "--home"], ["migrate"]])
      for (const typed of ["", "some/fi"]) expect(await complete(...words, typed)).toEqual([":files"]);
    expect(await complete("run", "--param-")).toEqual(["--param-file"]);
    for (const shell of ["bash", "zsh", "fish"])
      for (const part of [" __complete -- ", ":files"]) expect(await home.ok("completions", shell)).toContain(part);
    rejects(await home.run("completions", "csh"), 2, "bash, zsh or fish");
  });

  test("completions in bash call the command as typed, wherever it is installed, and need none on the PATH", async () => {
    const home = new Home();
    await home.ok("new", "-d", "alpha", "--", "cat");
    const launcher = join(home.path, "holdfast");
    writeFileSync(launcher, `#!/bin/sh\nexec ${MAIN.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o700 });
    const script = join(home.path, "completions");
    writeFileSync(script, await home.ok("completions", "bash"));
    for (const typed of ["./holdfast", launcher, "~/holdfast"]) {
      const words = [
        "bash",
        "-c",
        '. "$1"; COMP_WORDS=("$2" attach al); COMP_CWORD=2; _holdfast "$2"; echo "$COMPREPLY"',
      ];
      const bash = Bun.spawn([...words, "bash", script, typed], { cwd: home.path, env: home.env, stderr: "inherit" });
      expect(await bash.stdout.text()).toBe("alpha\n");
    }
  });

  test("completions in bash leave paths to the shell", async () => {
    const home = new Home();
    writeFileSync(join(home.path, "flow.yaml"), "");
    const launcher = join(home.path, "holdfast");
    writeFileSync(launcher, `#!/bin/sh\nexec ${MAIN.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o700 });
    writeFileSync(join(home.path, "rc"), `${await home.ok("completions", "bash")}PS1='ready> '\n`);
    const window = home.script("exec bash --rcfile rc -i");
    await window.shows("ready> ");
    window.type("./holdfast run fl\t");
    await window.shows("run flow.yaml ");
    window.kill("SIGKILL");
  });

  test("with an invalid configuration reading still works, and nothing is started", async () => {
    const home = new Home();
    writeFileSync(join(home.path, "config.toml"), "[terminal]\nshel = 3\n");
    rejects(await home.run("new", "-d"), 1, "config.toml:2:1: There is no setting terminal.shel.");
    rejects(await home.run("up"), 1, "There is no setting terminal.shel.");
    expect((await home.run("config", "check")).code).toBe(1);
    expect((await home.run("ls")).code).toBe(0);
  });

  test("tail -f prints new output and ends with the program", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "sh", "-c", "echo first; read a; echo got $a; read b");
    await home.says("t", "first\n"); // Before the input is echoed.
    const follow = home.run("tail", "t", "-f");
    await until(
      "a client follows",
      async () => (await home.listed("t")).clients === 1,
      async () => (await home.listed("t")).clients,
    );
    await home.ok("send", "t", "x", "-e");
    await home.says("t", "got x");
    await home.ok("send", "t", "y", "-e");
    expect(await follow).toMatchObject({ code: 0, out: "first\nx\ngot x\ny\n" });
  });
});
