// The agent commands as a user types them, with a scripted agent (actor.ts).
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { type Ended, endAll, Home } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";

afterEach(endAll);

class AgentCli extends Home {
  async make(name: string, ...flags: readonly string[]): Promise<string> {
    return (await this.ok("agent", "new", name, "--provider", "scripted", ...flags, "--", ...ACTOR)).trim();
  }

  ask(name: string, ...lines: readonly string[]): Promise<Ended> {
    return this.run("agent", "ask", name, lines.map((line) => `>> ${line}`).join("\n"));
  }

  async prompt(): Promise<string> {
    const [first] = await this.json("prompts");
    return first?.id ?? "";
  }

  /** Its text comes from a pipe. */
  async piped(text: string, ...args: readonly string[]): Promise<Ended> {
    const stdio = [new Blob([text]), "pipe", "pipe"] as const;
    const child = Bun.spawn(ours("src/cli/main.ts", ...args), { cwd: this.path, env: this.env, stdio: [...stdio] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }

  /** A completion waits little longer than a second: after that nothing is offered, and Tab is pressed again. */
  async offered(...words: readonly string[]): Promise<string> {
    let found = "";
    await until(
      "a completion is offered",
      async () => {
        found = await this.ok("__complete", "--", ...words);
        return found !== "";
      },
      () => found,
    );
    return found;
  }

  async killDaemon(): Promise<void> {
    const { daemon } = await this.status();
    process.kill(daemon.pid, "SIGKILL");
  }
}

test("agent new creates an agent that ask talks to; ask prints its answer, and a failure is exit code 1", async () => {
  const home = new AgentCli();
  expect(await home.run("agent", "tree")).toMatchObject({ code: 0, out: "" });
  const id = await home.make("alpha");
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(await home.ask("alpha", "say hello")).toEqual({ code: 0, out: "hello\n", err: "" });
  const asked = await home.json("agent", "ask", id.slice(0, 6), ">> say a\n>> say b");
  expect(asked).toEqual({ id, name: "alpha", outcome: "complete", turn: 2, response: "b" });
  const failed = await home.ask("alpha", "fail it is broken");
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.err).toContain("turn 3 of alpha failed: it is broken");
  expect(await home.piped(">> say from a pipe\n", "agent", "ask", "alpha", "-")).toMatchObject({
    code: 0,
    out: "from a pipe\n",
  });
  rejects(await home.run("agent", "ask", "beta", "x"), 4, 'There is no agent "beta".');
  rejects(await home.run("agent", "new", "alpha", "--provider", "scripted", "--", ...ACTOR), 1, "already");
  rejects(await home.run("agent", "new", "b", "--provider", "scripted"), 2, "needs a command");
  rejects(await home.run("agent", "new", "b", "--provider", "nobody"), 1, "There is no provider nobody.");
  rejects(await home.run("agent", "new", "b", "--cwd", "no/such"), 1, "is not a directory");
  rejects(await home.run("agent", "new", "b", "--prompt-after", "5m"), 2, "must be given together");
  expect(await home.ok("status")).toContain("agents     1\n");
  expect(await home.status()).toMatchObject({ counts: { agents: 1, prompts: 0 } });
});

const BWRAP = Bun.which("bwrap");
const sandboxes =
  BWRAP !== null && Bun.spawnSync([BWRAP, "--ro-bind", "/", "/", "--unshare-net", "true"]).exitCode === 0;

test.skipIf(!sandboxes)("agent inspect says what a sandbox reaches, and claims no provider (needs bwrap)", async () => {
  const home = new AgentCli();
  mkdirSync(join(home.path, "work"));
  const reached = async (name: string, ...flags: readonly string[]) => {
    await home.make(name, "--sandbox", "--cwd", join(home.path, "work"), ...flags);
    return /^sandbox {5}(.*)$/m
      .exec(await home.ok("agent", "inspect", name))?.[1]
      ?.split("; ")
      .at(-1);
  };
  expect(await reached("plain")).toBe("no network");
  expect(await reached("listed", "--egress", "a.org,b.org:8080")).toBe("reaches a.org, b.org:8080");
  expect(await reached("open", "--network")).toBe("network");
});

test("a provider whose program is not installed is refused with the PATH that was searched; one that is removed later is said to be missing, in one line", async () => {
  const home = new AgentCli();
  const program = join(home.path, "work", "agent");
  mkdirSync(join(home.path, "work"));
  const wish = (name: string, word: string, ...flags: readonly string[]) =>
    ["agent", "new", name, "--provider", "scripted", "--cwd", join(home.path, "work"), ...flags, "--", word] as const;
  const refused = await home.run(...wish("none", "no-such-agent", "--no-sandbox"));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("no-such-agent is not on your PATH: /")]);
  const noteOf = async (name: string, ...flags: readonly string[]) => {
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    await home.ok(...wish(name, program, ...flags));
    rmSync(program);
    await home.ok("agent", "send", name, "go");
    const note = async () => (await home.json("agent", "inspect", name)).note;
    return until("it has crashed", async () => (await note()) ?? undefined, note);
  };
  const plain = await noteOf("plain", "--no-sandbox");
  expect(plain).toContain(`${program} cannot be started: it was not found (ENOENT). Check that the program exists`);
  expect(plain).not.toMatch(/[\r\n]|holdfast: /);
  if (!sandboxes) return;
  expect(await noteOf("boxed", "--sandbox")).toContain(`execvp ${program}: ENOENT (it is not on the PATH`);
});

test("agent tree, inspect and inbox show the state; names are found below their parents", async () => {
  const home = new AgentCli();
  const root = await home.make("root");
  const worker = await home.make("worker", "--parent", "root", "--recovery", "ask", "--hung-after", "1m");
  await home.make("other");
  await home.make("worker", "--parent", "other", "--instructions", ">> ask Bash ls");
  await until(
    "it asks",
    async () => (await home.prompt()) !== "",
    async () => await home.prompt(),
  );
  const tree = await home.json("agent", "tree");
  expect(tree).toMatchObject([
    {
      id: root,
      name: "root",
      state: "idle",
      inbox: 0,
      prompts: [],
      children: [{ id: worker, provider: "scripted" }],
    },
    {
      name: "other",
      children: [
        {
          name: "worker",
          state: "waiting",
          prompts: [{ id: await home.prompt(), tool: "Bash", since: expect.any(String) }],
          children: [],
        },
      ],
    },
  ]);
  const drawn = await home.ok("agent", "tree");
  expect(drawn.split("\n").map((line) => line.split("  ")[0])).toEqual([
    ...["AGENT", "root", "└─ worker", "other", "└─ worker", ""],
  ]);
  rejects(await home.run("agent", "inspect", "worker"), 4, "matches 2: root/worker");
  const shown = await home.ok("agent", "inspect", "root/worker");
  expect(shown).toContain(`agent       worker (${worker})\nparent      ${root}\nstate       idle\n`);
  expect(shown).toContain("recovery    ask\nhung after  1 min 0 s of silence");
  const asking = await home.ok("agent", "inspect", "other/worker");
  expect(asking).toContain("recovery    parent\n");
  expect(asking).toContain(`asks you    holdfast answer ${await home.prompt()} allow|deny\n`);
  await home.ok("agent", "send", "other/worker", "read this", "--reply-to", worker);
  rejects(await home.run("agent", "send", "other/worker", "x", "--reply-to", "abc"), 2, "is named by its id");
  expect(await home.json("agent", "inbox", "other/worker")).toMatchObject([
    { sender: "user", payload: "read this", reply_to: worker },
  ]);
  expect(await home.ok("agent", "inbox", "other/worker")).toContain("the user  read this\n");
  expect((await home.run("agent", "inbox", "root")).err).toContain("there are no unread messages");
  expect(await home.offered("agent", "inspect", "")).toMatch(/^[0-9a-f]{8}\n[0-9a-f]{8}\nother\nroot\n$/);
  expect(await home.offered("answer", "")).toBe(`${await home.prompt()}\n`);
  expect(await home.ok("status")).toContain("prompts    1 waiting for you: holdfast prompts\n");
});

test("PR-1(b,c) PR-2(a) PR-3(d) ask returns 3 if a person is asked; answer lets the turn end, once, and --always makes it a rule", async () => {
  const home = new AgentCli();
  await home.make("alpha");
  const waits = await home.ask("alpha", "ask Bash ls -l");
  const prompt = await home.prompt();
  expect(waits).toMatchObject({ code: 3, out: "" });
  expect(waits.err).toContain(`→ holdfast answer ${prompt} allow|deny`);
  expect(await home.json("prompts")).toMatchObject([
    { id: prompt, name: "alpha", tool: "Bash", input: { command: "ls -l" }, state: "open" },
  ]);
  expect(await home.ok("prompts")).toMatch(
    /^prompt {2}\w{16}\nagent {3}alpha \(\w{8}\)\ntool {4}Bash\nsince .* 6 d 23 h left\ninput .*\n│ command: ls -l\n$/,
  );
  expect((await home.ask("alpha", "say more")).code).toBe(3);
  rejects(await home.run("answer", "ffffffff", "allow"), 4, "There is no prompt ffffffff.");
  rejects(await home.run("answer", prompt, "perhaps"), 2, "allow or deny");
  const answered = await home.json("answer", prompt.slice(0, 8), "allow", "--always");
  expect(answered).toMatchObject({ id: prompt, rule: { rule_id: `always-${prompt}`, input: '{"command":"ls -l"}' } });
  rejects(await home.run("answer", prompt.slice(0, 8), "deny"), 5, "is already answered: allow by user at 20");
  await until(
    "it rests",
    async () => (await home.json("agent", "inspect", "alpha")).turns === 2,
    async () => (await home.json("agent", "inspect", "alpha")).turns,
  );
  expect(await home.ask("alpha", "ask Bash ls -l")).toMatchObject({ code: 0, out: "allow\n" });
  expect((await home.run("prompts")).err).toContain("there are no open prompts");
  expect(await home.json("rules", "ls")).toMatchObject([
    { decision: "allow", tool: "Bash", args: { command: "ls -l" } },
  ]);
});

test("PR-1(b) rules are added, listed and removed; the first that matches decides without a person", async () => {
  const home = new AgentCli();
  const id = await home.make("alpha");
  expect((await home.run("rules", "ls")).err).toContain("there are no rules");
  const git = (await home.ok("rules", "add", "allow", "Bash", "--arg", "command=git *")).trim();
  const flags = ["--agent", "alpha", "--message", "Not here."];
  const rm = await home.json("rules", "add", "deny", "Bash", "--arg", "command=rm *", ...flags);
  expect(rm).toMatchObject({ agent: id, decision: "deny", args: { command: "rm *" }, message: "Not here." });
  expect(await home.ask("alpha", "ask Bash git status")).toMatchObject({ code: 0, out: "allow\n" });
  expect(await home.ask("alpha", "ask Bash rm -rf /")).toMatchObject({ code: 0, out: "deny\n" });
  expect(await home.ok("rules", "ls")).toMatch(/^ID .*\n.*\n.*\n$/);
  expect(await home.ok("rules", "ls")).toContain(`${git}  all    allow     Bash  command=git *\n`);
  rejects(await home.run("rules", "add", "allow", "Bash", "--arg", "git"), 2, '"git" is not an argument.');
  rejects(await home.run("rules", "add", "allow", "Ba[sh"), 2, "is not a pattern");
  rejects(await home.run("rules", "rm", "nothing"), 4, 'There is no "nothing".');
  await home.ok("rules", "rm", git.slice(0, 8));
  expect((await home.ask("alpha", "ask Bash git status")).code).toBe(3);
});

test("follow continues through a killed daemon, and so does ask; log shows all of it, also while nothing runs", async () => {
  const home = new AgentCli();
  const file = join(home.path, "done");
  await home.make("alpha");
  const watching = home.window(["agent", "follow", "alpha"]);
  await watching.shows("alpha was created");
  const asking = home.run("agent", "ask", "alpha", `>> say one\n>> wait ${file}\n>> say two`);
  await watching.shows("one");
  await home.killDaemon();
  await Bun.write(file, "");
  expect(await asking).toMatchObject({ code: 0, out: "two\n" });
  await watching.shows("turn 1 is complete");
  await home.ok("agent", "terminate", "alpha", "--reason", "It is enough.");
  await watching.shows("terminated by user: It is enough.");
  expect(await watching.exited).toBe(0);
  expect(watching.seen.match(/turn 1 begins/g)).toHaveLength(1);
  expect(await home.json("agent", "tree")).toEqual([]);
  await home.ok("down", "--kill");
  const told = await home.ok("agent", "log", "alpha");
  expect(
    told
      .replace(/^\S+ \S+ UTC {2}/gm, "")
      .split("\n")
      .filter((line) => /^(?:>|· t)/.test(line)),
  ).toEqual([...["· turn 1 begins", "> one", "> two", "· turn 1 is complete", "· terminated by user: It is enough."]]);
  expect(await home.ok("agent", "log", "alpha", "--all")).toContain("process.starting");
  const entries: { event: string }[] = await home.json("agent", "log", "alpha", "-n", "3");
  expect(entries).toHaveLength(3);
  for (const lines of [3, 1]) {
    const followed = (await home.ok("agent", "follow", "alpha", "--json", "-n", `${lines}`)).trim().split("\n");
    // It has ended, whether that is shown or not.
    expect(followed.map((line) => JSON.parse(line))).toEqual(entries.slice(-lines));
  }
  rejects(await home.run("agent", "log", "beta"), 4, 'There is no agent "beta".');
});

test("interrupt, suspend, set and terminate act on one agent, and give a reason if there is nothing to do", async () => {
  const home = new AgentCli();
  const once = join(home.path, "crashed");
  const id = await home.make("alpha");
  rejects(await home.run("agent", "retry", "alpha"), 1, "alpha is idle.");
  rejects(await home.run("agent", "interrupt", "alpha"), 1, "alpha is not in a turn.");
  rejects(await home.run("agent", "set", "alpha"), 2, "No setting was given.");
  await home.ok("agent", "set", "alpha", "--recovery", "never", "--prompt-after", "1h", "--prompt-default", "deny");
  expect(await home.json("agent", "inspect", id)).toMatchObject({
    settings: { recovery: "never", prompt_default: { after_ms: 3_600_000, decision: "deny" } },
  });
  expect(existsSync(once)).toBe(false);
  await home.ask("alpha", "say up");
  expect((await home.run("agent", "suspend", "alpha")).err).toContain("the next message wakes it");
  expect(await home.ask("alpha", "say again")).toMatchObject({ code: 0, out: "again\n" });
  const asking = home.ask("alpha", `append ${once} began`, "hang");
  await until(
    "it works",
    () => existsSync(once) && readFileSync(once, "utf8") !== "",
    () => [`${once} exists: ${existsSync(once)}`, readFileSync(once, "utf8")],
  );
  expect(await home.json("agent", "interrupt", "alpha")).toMatchObject({ id, name: "alpha" });
  await home.ok("agent", "terminate", "alpha");
  expect((await asking).code).toBe(1);
});

test("AG-7(b) ask reports an agent that must not continue by itself after a crash (3), and retry continues it", async () => {
  const home = new AgentCli();
  const file = join(home.path, "went");
  const id = await home.make("alpha", "--recovery", "never", "--recovery-prompt", `>> append ${file} on`);
  await home.ok("agent", "send", "alpha", `>> say yes\n>> append ${file} began\n>> hang`);
  const noted = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
  await until("it works", () => noted() === "began\n", noted);
  const { pid } = await home.json("agent", "inspect", "alpha");
  const { daemon, watchdog } = await home.status();
  // A daemon that saw the process end would take it for a crash of that process only.
  for (const one of [watchdog.pid, daemon.pid]) process.kill(one, "SIGSTOP");
  process.kill(pid, "SIGKILL");
  await until(
    "its end is recorded",
    () => existsSync(join(home.path, `agents/${id}/processes/1/exit.json`)),
    () =>
      `${join(home.path, `agents/${id}/processes/1/exit.json`)} exists: ${existsSync(join(home.path, `agents/${id}/processes/1/exit.json`))}`,
  );
  process.kill(daemon.pid, "SIGKILL");
  process.kill(watchdog.pid, "SIGCONT");
  await until(
    "it waits",
    async () => (await home.json("agent", "inspect", "alpha")).state === "suspended",
    async () => (await home.json("agent", "inspect", "alpha")).state,
  );
  const asked = await home.ask("alpha", "say now");
  expect(asked).toMatchObject({ code: 3, out: "" });
  expect(asked.err).toContain("→ holdfast agent retry alpha");
  expect((await home.run("agent", "retry", "alpha")).err).toStartWith("holdfast: alpha is ");
  await until(
    "it goes on",
    () => readFileSync(file, "utf8") === "began\non\n",
    () => readFileSync(file, "utf8"),
  );
  await until(
    "the message is read",
    async () => (await home.json("agent", "inspect", "alpha")).lastText === "now",
    async () => (await home.json("agent", "inspect", "alpha")).lastText,
  );
});

test("down --kill ends the processes of agents, in a turn or not; the next up continues them as after any crash", async () => {
  const home = new AgentCli();
  const file = join(home.path, "went");
  await home.make("idle");
  await home.ask("idle", "say here");
  await home.make("busy", "--recovery-prompt", `>> append ${file} on`);
  await home.ok("agent", "send", "busy", `>> say yes\n>> append ${file} began\n>> hang`);
  await until(
    "it works",
    () => existsSync(file),
    () => `${file} exists: ${existsSync(file)}`,
  );
  const pids = [await home.json("agent", "inspect", "idle"), await home.json("agent", "inspect", "busy")].map(
    ({ pid }): number => pid,
  );
  await home.ok("down", "--kill");
  // Settled: `down --kill` returns when they are gone.
  expect(pids.map((pid) => existsSync(`/proc/${pid}`))).toEqual([false, false]);
  await home.ok("up");
  await until(
    "it goes on",
    () => readFileSync(file, "utf8") === "began\non\n",
    () => readFileSync(file, "utf8"),
  );
  expect(await home.ask("idle", "say again")).toMatchObject({ code: 0, out: "again\n" });
});
