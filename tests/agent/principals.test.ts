// Who may change something (core/principal.ts), with real processes: an agent without a sandbox tries what only the
// operator may do, in every way that leaves its process tree; the operator tries the same from everywhere.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, endAll, Home } from "../cli/terminal-home.ts";
import { killIfThere, readProc } from "../daemon/home.ts";
import { BUN, ours } from "../ours.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";

afterEach(endAll);

const NOT_ALLOWED = 77;

/**
 * Runs the words after the first argument, and leaves their output and exit code in that file. If STARTER is set, it
 * first waits until that process is gone: then everything between it and the agent has ended.
 */
const TRY = `out=$1; shift
while [ -n "$STARTER" ] && [ -d "/proc/$STARTER" ]; do sleep 0.01; done
"$@" > "$out.part" 2>&1 < /dev/null
echo "exit $?" >> "$out.part"
mv "$out.part" "$out"
`;

/** How an agent starts the script above, so that its words run somewhere else in the tree. */
const WAYS = {
  directly: 'sh "$TRY" "$OUT" "$@"',
  "double-forked": '(STARTER=$$ sh "$TRY" "$OUT" "$@" > /dev/null 2>&1 &)',
  "through setsid": '(STARTER=$$ setsid sh "$TRY" "$OUT" "$@" > /dev/null 2>&1 &)',
  "with an empty environment": '(setsid env -i PATH="$PATH" STARTER=$$ sh "$TRY" "$OUT" "$@" > /dev/null 2>&1 &)',
} as const;
type Way = keyof typeof WAYS;

class Principals extends Home {
  #tries = 0;

  constructor() {
    super();
    writeFileSync(join(this.path, "try.sh"), TRY);
    for (const [way, script] of Object.entries(WAYS)) writeFileSync(this.#script(way), `${script}\n`);
  }

  #script(way: string): string {
    return join(this.path, `${way.replaceAll(" ", "-")}.sh`);
  }

  async make(name: string): Promise<string> {
    return (await this.ok("agent", "new", name, "--provider", "scripted", "--", ...ACTOR)).trim();
  }

  /** The line for an agent that makes it run `holdfast ARGS`; where the result will be. */
  attempt(way: Way, ...args: readonly string[]): { readonly line: string; readonly out: string } {
    this.#tries += 1;
    const out = join(this.path, `out-${this.#tries}`);
    const words = [...ours("src/cli/main.ts"), ...args, "--home", this.path].map((word) => `'${word}'`).join(" ");
    const line = `TRY=${join(this.path, "try.sh")} OUT=${out} sh ${this.#script(way)} ${words}`;
    return { line, out };
  }

  async result(out: string): Promise<Ended> {
    await until(
      `${out} is there`,
      () => existsSync(out),
      () => readdirSync(this.path).join(" "),
    );
    const text = readFileSync(out, "utf8");
    return { code: Number(/exit (\d+)\n$/.exec(text)?.[1]), out: "", err: text };
  }

  /** An agent runs `holdfast ARGS`. */
  async tried(agent: string, way: Way, ...args: readonly string[]): Promise<Ended> {
    const { line, out } = this.attempt(way, ...args);
    await this.ok("agent", "ask", agent, `>> sh ${line}`);
    return this.result(out);
  }

  /** It is in a turn, and does this once the file `down` is there. */
  async waits(agent: string, line: string): Promise<void> {
    const began = join(this.path, "began");
    await this.ok("agent", "send", agent, `>> append ${began} x\n>> wait ${join(this.path, "down")}\n${line}`);
    await until(
      "its turn has begun",
      () => existsSync(began),
      () => readdirSync(this.path).join(" "),
    );
  }

  async prompt(): Promise<string> {
    let id = "";
    await until(
      "a prompt",
      async () => {
        id = (await this.json("prompts"))[0]?.id ?? "";
        return id !== "";
      },
      () => id,
    );
    return id;
  }

  /** The parsed lines of its log that have this event. */
  async events(session: string, event: string): Promise<{ readonly by?: Record<string, unknown> }[]> {
    const shown: { readonly event: string; readonly by?: Record<string, unknown> }[] = await this.json(
      "log",
      "show",
      session,
    );
    return shown.filter((entry) => entry.event === event);
  }
}

function isRefused({ code, err }: Ended, agent: string): void {
  expect({ code, err }).toMatchObject({ code: NOT_ALLOWED });
  expect(err).toContain(`belongs to the agent ${agent.slice(0, 12)}`);
  expect(err).toContain("→ Only the operator may");
}

test("an agent may not answer, add rules, change settings, send, or type, wherever its process goes; the operator sees each attempt", async () => {
  const home = new Principals();
  const [asks, evil] = [await home.make("asks"), await home.make("evil")];
  await home.ok("new", "-d", "shell", "--", "/bin/cat");
  await home.ok("agent", "send", "asks", ">> ask Bash rm -rf /");
  const prompt = await home.prompt();
  for (const way of Object.keys(WAYS) as Way[]) {
    isRefused(await home.tried("evil", way, "answer", prompt, "allow"), evil);
    isRefused(await home.tried("evil", way, "send", "shell", "hello"), evil);
  }
  for (const args of [
    ["rules", "add", "allow", "*"],
    ["agent", "set", "evil", "--prompt-ttl", "1h"],
    ["agent", "send", "asks", "go on"],
    ["new", "-d", "mine", "--", "/bin/cat"],
    ["kill", "shell"],
    ["open"],

    ["down"],
  ])
    isRefused(await home.tried("evil", "double-forked", ...args), evil);
  const open = await home.json("prompts");
  expect(open).toMatchObject([{ id: prompt, agent: asks, state: "open" }]);
  expect(await home.json("rules", "ls")).toEqual([]);
  expect((await home.json("ls")).map(({ name }: { name: string }) => name)).toEqual(["shell"]);
  expect(await home.ok("history", "shell")).not.toContain("hello");
  expect((await home.tried("evil", "directly", "prompts")).code).toBe(0); // It may look.

  await home.ok("send", "shell", "from the operator");
  await home.says("shell", "from the operator");
  const seen = await home.run("prompts");
  for (const did of ["prompt.answer", "rule.add", "agent.set", "agent.send", "terminal.new", "device.link", "down"])
    expect(seen.err).toContain(`agent ${evil.slice(0, 12)}  ${did}`);
  expect(await home.ok("status")).toMatch(/^refused {4}15 attempts of agents: holdfast prompts$/m);
  expect((await home.status()).attempts.at(0)).toMatchObject({
    did: "prompt.answer",
    caller: { principal: "agent", agent: evil },
  });
  expect(await home.ok("logs")).toContain("refused prompt.answer: This process");
});

test("the events of a request say who sent it: pid, executable, terminal and principal", async () => {
  const home = new Principals();
  const asks = await home.make("asks");
  await home.ok("agent", "send", "asks", ">> ask Bash ls");
  const prompt = await home.prompt();
  const window = home.window(["answer", prompt, "allow", "--always"]);
  expect(await window.exited).toBe(0);
  const by = { principal: "operator", exe: BUN, pid: window.pid, tty: expect.stringMatching(/^\/dev\/pts\//) };
  for (const event of ["prompt.answered", "rule.added"]) expect(await home.events(asks, event)).toMatchObject([{ by }]);
  expect((await home.events(asks, "agent.created"))[0]?.by).toMatchObject({ principal: "operator", tty: null });
  expect((await home.events(asks, "prompt.opened"))[0]?.by).toBeUndefined(); // No one asked for it.
});

test("an agent cannot answer itself through its own holder, whose token it can read", async () => {
  const home = new Principals();
  const id = await home.make("forges");
  const place = join(home.path, `agents/${id}/processes/1`);
  await home.ok("agent", "ask", "forges", ">> say hello");
  const { socket } = JSON.parse(readFileSync(join(place, "holder.json"), "utf8"));
  const forge = [...ours("tests/agent/forge.ts"), socket, join(place, "holder.json"), '{"type":"interrupt"}'];
  const words = forge.map((word) => `'${word}'`).join(" ");
  expect(await home.ok("agent", "ask", "forges", `>> sh ${words}`)).toContain("exit 0: not-allowed");
  expect((await home.run("prompts")).err).toContain(`type into ${id}.1`);
  const ours1 = Bun.spawn(forge, { env: home.env, stdio: ["ignore", "pipe", "inherit"] });
  expect(await ours1.stdout.text()).toBe("typed\n"); // The operator may.
});

test("an agent that calls holdfast first on a home that is down starts nothing, and the operator sees it", async () => {
  const home = new Principals();
  const evil = await home.make("evil");
  const { line, out } = home.attempt("double-forked", "rules", "add", "allow", "*");
  await home.waits("evil", `>> sh ${line}`);
  await home.ok("down");
  writeFileSync(join(home.path, "down"), "");
  isRefused(await home.result(out), evil);
  expect((await home.status()).watchdog.pid).toBeNull();
  await home.ok("up");
  expect(await home.ok("status")).toMatch(/^refused {4}1 attempt of agents/m);
  expect((await home.run("prompts")).err).toContain("start Holdfast");
  await home.ok("rules", "add", "allow", "mine"); // The operator's own shell is no agent.
  isRefused(await home.tried("evil", "with an empty environment", "rules", "add", "allow", "*"), evil);
});

test("a shell in a terminal of Holdfast and a workflow's step are the operator's", async () => {
  const home = new Principals();
  const add = (tool: string) => [...ours("src/cli/main.ts"), "rules", "add", "allow", tool, "--home", home.path];
  await home.ok("new", "-d", "shell", "--", ...add("from-terminal"));
  const shell = add("from-step").join(" ");
  writeFileSync(join(home.path, "w.yml"), `name: w\nsteps:\n  - id: add\n    shell: ${JSON.stringify(shell)}\n`);
  await home.ok("run", "w.yml");
  await until(
    "both rules are there",
    async () => (await home.json("rules", "ls")).length === 2,
    () => home.json("rules", "ls"),
  );
  const added = await home.events("rules", "rule.added");
  expect(added.map(({ by }) => by?.["principal"])).toEqual(["operator", "operator"]);
});

test("a daemon that an agent has started is the operator's all the same, and so are its terminals", async () => {
  const home = new Principals();
  const evil = await home.make("evil");
  const watchdog = ours("src/watchdog/main.ts", home.path).join(" ");
  const start = `echo '{"v":1,"wanted":"up"}' > recovery/wanted.json; env -i PATH=$PATH HOME=${home.path} setsid ${watchdog}`;
  await home.waits("evil", `>> sh (cd ${home.path}; ${start} >/dev/null 2>&1 &)`);
  await home.ok("down");
  writeFileSync(join(home.path, "down"), "");
  await until(
    "the agent's watchdog has a daemon",
    async () => (await home.status()).recovery.stage === "LIVE",
    () => home.status(),
  );
  await home.ok("rules", "add", "allow", "mine");
  const words = [...ours("src/cli/main.ts"), "rules", "add", "allow", "inside", "--home", home.path];
  await home.ok("new", "-d", "shell", "--", ...words);
  await until(
    "the terminal's rule is there",
    async () => (await home.json("rules", "ls")).length === 2,
    () => home.json("rules", "ls"),
  );
  isRefused(await home.tried("evil", "double-forked", "rules", "add", "allow", "*"), evil);
});

test("what an agent leaves behind is given to its holder, which leaves no zombies", async () => {
  const home = new Principals();
  const id = await home.make("leaves");
  const done = (name: string) => join(home.path, name);
  const orphan = `(setsid sh -c 'until [ -e ${done("go")} ]; do sleep 0.01; done' > /dev/null 2>&1 &)`;
  await home.ok("agent", "ask", "leaves", `>> sh ${orphan} ; ${orphan}`);
  const claim = JSON.parse(readFileSync(join(home.path, `agents/${id}/processes/1/claim.json`), "utf8"));
  const children = () => {
    const tasks = readdirSync(`/proc/${claim.pid}/task`).map((task) => readProc(claim.pid, `task/${task}/children`));
    return tasks.flatMap((text) => text.split(" ").filter((pid) => pid !== ""));
  };
  expect(children()).toHaveLength(3); // Its program, and two orphans.
  writeFileSync(done("go"), "");
  await until(
    "only its program is left, and no zombie",
    () => children().length === 1,
    () => children().map((pid) => readProc(pid, "stat")),
  );
  expect(await home.ok("agent", "ask", "leaves", ">> say still here")).toBe("still here\n");
  for (const pid of children()) killIfThere(Number(pid)); // The end of its own child is still seen.
  await until(
    "its end is recorded",
    async () => (await home.events(id, "process.ended")).length === 1,
    () => home.events(id, "process.ended"),
  );
});
