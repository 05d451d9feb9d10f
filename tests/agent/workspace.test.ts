// Agents in git worktrees and in sandboxes, in a real daemon with real holders, git and bubblewrap.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COUNTED } from "../../scripts/counted-files.ts";
import type { NewAgent } from "../../src/wire/rpc/agent.ts";
import { COUNTING, ours } from "../ours.ts";
import { until } from "../until.ts";
import { type AgentHome, agentHomes, freshId } from "./agent-home.ts";
import { AgentFixture, planFor } from "./house.ts";

const home = agentHomes();
const BWRAP = Bun.which("bwrap");
/**
 * A kernel or a container may forbid namespaces: then there are no sandboxes, and the agent's error is tested instead.
 */
const works = BWRAP !== null && Bun.spawnSync([BWRAP, "--ro-bind", "/", "/", "--unshare-pid", "true"]).exitCode === 0;
const PATH = [...(BWRAP === null ? [] : [dirname(BWRAP)]), "/usr/bin", "/bin"].join(":");
const IDENTITY = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
/** Under `npm test` our programs write their coverage there. */
const COUNTERS = COUNTING.length === 0 ? [] : [COUNTED];
const NETWORK = { read: [], write: [], network: true };

const forbidden = BWRAP !== null && !works;

/** A scripted agent in sh: runs SAYS in its directory. */
const READER = `while read -r line; do case $line in *'"type":"prompt"'*)
  eval "$SAYS" >out 2>&1; echo '{"type":"done","response":"done"}';; esac; done`;

function repository(place: AgentHome, name = "re po") {
  const top = place.file(name);
  mkdirSync(join(top, "sub"), { recursive: true });
  const git = (...words: readonly string[]) => {
    const env = { PATH: "/usr/bin:/bin", HOME: place.path, GIT_CONFIG_NOSYSTEM: "1" };
    const done = Bun.spawnSync(["git", "-C", top, ...IDENTITY, ...words], { env });
    if (!done.success) throw new Error(`git ${words.join(" ")}: ${done.stderr}`);
    return done.stdout.toString();
  };
  git("init", "-q", "-b", "main");
  writeFileSync(join(top, "sub/deep.txt"), "deep\n");
  git("add", ".");
  git("commit", "-qm", "first");
  return { top, git };
}

/** What a command of ours prints, and must succeed with. */
async function cli(place: AgentHome, ...words: readonly string[]): Promise<string> {
  const env = { PATH: "/usr/bin:/bin", HOME: place.path, HOLDFAST_HOME: place.path };
  const child = Bun.spawn(ours("src/cli/main.ts", ...words), { env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`holdfast ${words.join(" ")}: ${code}\n${out}${err}`);
  return out + err;
}

/** One that a sandbox may change. */
function ownDirectory(place: AgentHome): string {
  mkdirSync(place.file("own"), { recursive: true });
  return place.file("own");
}

function told(place: AgentHome, says: string, given: Partial<NewAgent>): NewAgent {
  const id = freshId();
  const env = { PATH, HOME: place.path, SAYS: says, HOLDFAST_HOME: place.path, HOLDFAST_AGENT: id };
  return place.wanted("alpha", { command: ["/bin/sh", "-c", READER], ...given, id, env: { ...env, ...given.env } });
}

test("an agent works in its own git worktree, which its next process finds again; the repository is unchanged", async () => {
  const place = home();
  const first = await place.live();
  const { top, git } = repository(place);
  const workspace = { worktree: true, sandbox: null };
  const says = "pwd; cat deep.txt; echo new >>made.txt; wc -l <made.txt";
  const { id } = await place.must("agent.new", told(place, says, { cwd: join(top, "sub"), workspace }));
  const { worktree } = (await place.shown(id)).workspace ?? {};
  const cwd = `${worktree?.path}/sub`;
  expect(worktree?.branch).toBe(`holdfast/alpha-${id.slice(0, 8)}`);
  expect(existsSync(cwd)).toBe(false); // Not before it is needed.
  await place.say(id, "go");
  await place.rests(id, 1);
  expect(readFileSync(join(cwd, "out"), "utf8")).toBe(`${cwd}\ndeep\n1\n`);
  await place.must("agent.suspend", { id });
  await place.becomes(id, "suspended");
  first.process.kill("SIGKILL");
  await first.process.exited;
  await place.live();
  await place.say(id, "go");
  await place.rests(id, 2);
  expect(readFileSync(join(cwd, "out"), "utf8")).toBe(`${cwd}\ndeep\n2\n`);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(2);
});

test("a worktree that cannot be created is reported at once, without repeated restarts", async () => {
  const place = home();
  await place.live();
  const { top } = repository(place);
  writeFileSync(place.file("worktrees"), "in the way");
  const workspace = { worktree: true, sandbox: null };
  const { id } = await place.must("agent.new", told(place, "pwd", { cwd: top, workspace, instructions: "go" }));
  const { note } = await place.becomes(id, "crashed");
  expect(note).toContain("The worktree was not made");
  await place.logged(id, "process.starting", 1);
});

test("invalid requests are refused before an agent is created", async () => {
  const place = home();
  await place.live();
  const cwd = ownDirectory(place);
  const worktree = { worktree: true, sandbox: null };
  const wish = told(place, "", { workspace: worktree });
  expect(await place.ask("agent.new", wish)).toMatchObject({ ok: false, error: { code: "no-repository" } });
  const missing = { worktree: false, sandbox: { read: ["/not/there"], write: [], network: true } };
  const other = told(place, "", { workspace: missing, cwd });
  expect(await place.ask("agent.new", other)).toMatchObject({ ok: false, error: { code: "no-path" } });
  const bare = told(place, "", { provider: "openai", workspace: { worktree: false, sandbox: NETWORK } });
  expect(await place.ask("agent.new", bare)).toMatchObject({ ok: false, error: { code: "no-process" } });
  const wrong = told(place, "", { workspace: { worktree: false, sandbox: { ...NETWORK, read: ["relative"] } } });
  expect(await place.ask("agent.new", wrong)).toMatchObject({ ok: false, error: { code: "bad-params" } });
});

const LOOK = `
echo "$PATH"
for f in "$HOLDFAST_HOME/run/token" "$HOLDFAST_HOME/secret" "$REPO" /etc/passwd; do [ -e "$f" ] && echo "sees \${f##*/}"; done
for f in "$RO/x" rw "$RW/x" .git/x; do (: >"$f") 2>/dev/null && echo "writes \${f##*/repo}"; done
[ "$(wc -l </proc/net/dev)" -gt 3 ] && echo network
env | grep -c ^SECRET_OF
git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m inside && echo committed
`;

if (!forbidden)
  test.skipIf(!works)(
    "a sandbox shows what was listed and no more; its clone is its own, and its commits are fetched by a command (needs bwrap)",
    async () => {
      const place = home();
      await place.live({ PATH, SECRET_OF_DAEMON: "1" });
      const { top, git } = repository(place, "repo");
      for (const name of ["ro", "rw", "theirs"]) mkdirSync(place.file(name));
      // WS9: a directory of the creator's PATH is searched inside, and not for what makes the sandbox.
      for (const name of ["bwrap", "git"]) writeFileSync(place.file(`theirs/${name}`), "#!/bin/sh\n", { mode: 0o755 });
      const theirs = `${PATH}:${place.file("theirs")}`.split(":").reverse().join(":");
      writeFileSync(place.file("secret"), "s");
      const [RO, RW] = [place.file("ro"), place.file("rw")];
      const workspace = { worktree: false, sandbox: { read: [place.path, RO], write: [RW], network: false } };
      const wish = told(place, LOOK, { cwd: top, workspace, env: { RO, RW, REPO: top, PATH: theirs } });
      const { id } = await place.must("agent.new", wish);
      await place.say(id, "go");
      await place.rests(id, 1);
      const { clone } = (await place.shown(id)).workspace ?? {};
      const said = readFileSync(join(clone?.path ?? "", "out"), "utf8")
        .trim()
        .split("\n");
      expect(said.shift()).toBe(theirs);
      expect(said).toEqual(["sees passwd", "writes rw", `writes ${RW}/x`, "writes .git/x", "0", "committed"]);
      expect(git("log", "--format=%s", "--all")).toBe("first\n");
      expect(await cli(place, "agent", "inspect", "alpha")).toMatch(/its commits\s+holdfast agent fetch alpha/);
      expect(await cli(place, "agent", "fetch", "alpha", "--print")).toStartWith("git --git-dir");
      const planned = { id, name: "alpha", repository: top, branch: clone?.branch };
      expect(JSON.parse(await cli(place, "agent", "fetch", "alpha", "--print", "--json"))).toMatchObject(planned);
      expect(git("log", "--format=%s", "--all")).toBe("first\n");
      const fetched = await cli(place, "agent", "fetch", "alpha", "--json");
      expect(JSON.parse(/^\{.*$/m.exec(fetched)?.[0] ?? "")).toMatchObject(planned); // git says something too.
      expect(git("log", "--format=%s", clone?.branch ?? "")).toBe("inside\nfirst\n");
      expect(git("status", "--porcelain", "-b")).toBe("## main\n");
    },
  );

/** One tool call through the shim, which exits at the end of its input. */
const CALL = `
say() { printf '%s\\n' '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_children","arguments":{}}}'
  until [ -s tools ]; do sleep 0.02; done; }
rm -f tools; say | $SHIM >tools; grep -o '"isError":[a-z]*' tools
until [ -s "$HOLDFAST_HOME/run/mcp.json" ]; do sleep 0.02; done; echo and over HTTP
`;

if (!forbidden)
  test.skipIf(!works)("its tools work without a network, also with the next daemon (needs bwrap)", async () => {
    const place = home();
    const first = await place.live({ PATH });
    const { top } = repository(place);
    const workspace = { worktree: true, sandbox: { read: [], write: COUNTERS, network: false } };
    const SHIM = ours("src/shim/main.ts").join(" ");
    const { id } = await place.must("agent.new", told(place, CALL, { cwd: top, workspace, env: { SHIM } }));
    const out = `${(await place.shown(id)).cwd}/out`;
    await place.say(id, "go");
    await place.rests(id, 1);
    expect(readFileSync(out, "utf8")).toBe('"isError":false\nand over HTTP\n');
    const { pid } = await place.shown(id);
    first.process.kill("SIGKILL");
    await first.process.exited;
    await place.live({ PATH });
    await place.say(id, "go");
    await place.rests(id, 2);
    expect(readFileSync(out, "utf8")).toBe('"isError":false\nand over HTTP\n');
    expect((await place.shown(id)).pid).toBe(pid); // The same process with another daemon.
    await place.must("agent.terminate", { id, reason: "" });
    await until(
      "all of it has ended",
      () => !existsSync(`/proc/${pid}`),
      () => `${`/proc/${pid}`} exists: ${existsSync(`/proc/${pid}`)}`,
    );
  });

test("a child works in its parent's directory and sandbox, and creates no second worktree", () => {
  const fixture = new AgentFixture();
  const sandbox = { read: ["/ro"], write: ["/w"], git: null, network: false };
  const worktree = { path: "/w", repository: "/r", branch: "b" };
  const plan = { ...planFor("scripted"), cwd: "/w/sub", workspace: { worktree, sandbox } };
  fixture.do({ kind: "create", id: "root", name: "root", parent: undefined, instructions: "", plan, settings: {} });
  fixture.send("root", "m1");
  fixture.start("root");
  fixture.call("root", "c1", "spawn_agent", { name: "child", instructions: "work" });
  const child = [...fixture.agentRecords.values()].find((one) => one.kind === "agent" && one.name === "child");
  expect(child).toMatchObject({ plan: { cwd: "/w/sub", workspace: { worktree: null, sandbox } } });
});

test("IN3 whoever creates the child of a sandboxed agent, it is in a sandbox that shows no more", async () => {
  const place = home();
  await place.live();
  const within = (name: string) => {
    mkdirSync(place.file(name), { recursive: true });
    return place.file(name);
  };
  const [cwd, ro, rw, out] = [within("cwd"), within("ro"), within("rw"), within("out")];
  const sandbox = { read: [ro], write: [rw], network: false };
  const lead = await place.agent("lead", { cwd, workspace: { worktree: false, sandbox } });
  const ofLead = (await place.shown(lead)).workspace;
  const child = async (name: string, given: Partial<NewAgent>) => {
    const made = await place.ask("agent.new", place.wanted(name, { parent: lead, cwd, ...given }));
    return made?.ok === true ? (await place.shown(made.value.id)).workspace : made?.error.code;
  };
  expect(await child("plain", {})).toEqual(ofLead);
  expect(await child("bare", { provider: "openai", command: [] })).toEqual(ofLead);
  expect(await child("elsewhere", { cwd: out })).toBe("above-parent");
  expect(await child("apart", { workspace: { worktree: false, sandbox: { ...sandbox, read: [] } } })).toMatchObject({
    sandbox: { read: [], write: [cwd, rw], network: false },
  });
  for (const more of [{ network: true }, { write: [ro] }, { read: [out] }])
    expect(await child("more", { workspace: { worktree: false, sandbox: { ...sandbox, ...more } } })).toBe(
      "above-parent",
    );
  await child("below", {});
  const mode = place.wanted("mode", { parent: lead, cwd, permissionMode: "bypassPermissions" });
  expect(await place.ask("agent.new", mode)).toMatchObject({ ok: false, error: { code: "above-parent" } });
});

test("a sandbox that cannot be created is reported at once, with bubblewrap's message", async () => {
  const place = home();
  mkdirSync(place.file("bin"));
  const fake = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
  writeFileSync(place.file("bin/bwrap"), fake, { mode: 0o755 });
  const workspace = { worktree: false, sandbox: NETWORK };
  await place.live({ PATH: `${place.file("bin")}:/usr/bin:/bin` });
  const cwd = ownDirectory(place);
  const { id } = await place.must("agent.new", told(place, "", { workspace, cwd, instructions: "go" }));
  const { note } = await place.becomes(id, "crashed");
  expect(note).toContain("bwrap: No permissions to create new namespace");
  expect(note).toContain("user namespaces");
  await place.logged(id, "process.starting", 1);
});

if (forbidden)
  test("if the system forbids namespaces, an agent in a sandbox reports it", async () => {
    const place = home();
    await place.live({ PATH });
    const workspace = { worktree: false, sandbox: NETWORK };
    const cwd = ownDirectory(place);
    const { id } = await place.must("agent.new", told(place, "", { workspace, cwd, instructions: "go" }));
    expect((await place.becomes(id, "crashed")).note).toContain("bwrap: ");
  });

/** As if the user had configured nothing. */
function unconfigured(place: AgentHome): void {
  writeFileSync(place.file(".config/holdfast/config.toml"), "[web]\nenabled = false\n");
}

if (!forbidden)
  test.skipIf(!works)(
    "by default Claude Code is sandboxed, others are not, and a word decides (needs bwrap)",
    async () => {
      const place = home();
      unconfigured(place);
      await place.live({ PATH });
      const { top } = repository(place);
      const made = async (name: string, given: Partial<NewAgent>) => {
        const { id } = await place.must("agent.new", { ...told(place, "", { cwd: top, ...given }), name });
        return { id, workspace: (await place.shown(id)).workspace };
      };
      const claude = await made("a", { provider: "claude" });
      expect(claude.workspace).toMatchObject({ sandbox: { git: null }, clone: { repository: top } });
      expect((await made("b", { provider: "claude", workspace: OUTSIDE })).workspace).toBeNull();
      expect((await made("c", { provider: "scripted" })).workspace).toBeNull();
      const acp = await made("d", { provider: "acp" });
      expect(acp.workspace).toMatchObject({ sandbox: null, unsandboxed: expect.stringContaining("kind acp") });
      const cwd = claude.workspace?.clone?.path ?? "";
      const below = await made("e", { provider: "scripted", parent: claude.id, cwd });
      expect(below.workspace).toEqual({ worktree: null, sandbox: claude.workspace?.sandbox ?? null });
    },
  );

const OUTSIDE = { worktree: false, sandbox: null, unsandboxed: true };

test("if bubblewrap does not work, Claude Code runs without a sandbox, which is said at once and with its prompts", async () => {
  const place = home();
  unconfigured(place);
  const asks = `#!/bin/sh
while read -r line; do case $line in *'"type":"user"'*)
  echo '{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}';; esac; done
`;
  mkdirSync(place.file("bin"));
  writeFileSync(place.file("bin/claude"), asks, { mode: 0o755 });
  for (const name of ["sh", "env"]) symlinkSync(`/bin/${name}`, place.file(`bin/${name}`));
  await place.live({ PATH: place.file("bin") });
  const wish = ["--cwd", ownDirectory(place), "--instructions", "go", "--", place.file("bin/claude")];
  const said = await cli(place, "agent", "new", "plain", ...wish);
  expect(said).toContain("plain runs without a sandbox: bubblewrap (bwrap) is not installed");
  await place.prompt();
  expect(await cli(place, "prompts")).toContain("plain runs without a sandbox");
  expect(await cli(place, "agent", "inspect", "plain")).toContain("none: bubblewrap");
});
