// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOMES } from "../../src/fleet/calls.ts";
import { plainText } from "../fleet/plain.ts";
import { HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { BUN } from "../ours.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { FullHome, ROOM } from "./full-home.ts";
import type { Host } from "./host.ts";
import { TwoHosts } from "./two-hosts.ts";

/** Nothing in the database may have it. */
const CANARY = "canary-7b1f";
const SECRETS = { ANTHROPIC_API_KEY: CANARY, CLAUDE_CODE_OAUTH_TOKEN: CANARY, MY_TOKEN: CANARY };
const CLAUDE = [BUN, "--no-env-file", "--no-install", join(import.meta.dir, "../agent/small-claude.ts")];
const CLAUDE_ONLY = ["--provider", "claude", "--no-sandbox"];
/** Of each kind. How long it takes is measured in bench/fleet-takeover.ts. */
const COUNT = amount(2, 25);

function git(cwd: string, ...words: readonly string[]): void {
  const done = Bun.spawnSync(["git", ...words], { cwd });
  if (done.exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${done.stderr}`);
}

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let hosts: TwoHosts;

  async function fleet(take: readonly string[]): Promise<[Host, Host]> {
    server = await startTestServer();
    hosts = await TwoHosts.start(server.url, { take }, { config: ROOM, env: SECRETS });
    return [hosts.a, hosts.b];
  }

  afterEach(async () => {
    await hosts.end();
    await server.stop();
  });

  async function runsOn(name: string, host: string): Promise<string> {
    await until(
      `${name} runs on ${host}`,
      async () => {
        const events = await hosts.b.do("fleet", "events", "--json");
        return events.out.includes(`"${name} runs on ${host}"`);
      },
      async () => [await hosts.row(name), await hosts.b.do("fleet", "events"), hosts.log()],
      120_000,
    );
    return (await hosts.row(name))?.owner ?? "";
  }

  test("a full host that dies is taken over: no step is repeated, those that ran are uncertain, and agents ask again with the ids of their prompts", async () => {
    const [a, b] = await fleet(["host-a-work"]);
    const full = new FullHome(hosts.place, COUNT);
    const before = await full.fill(a);
    await hosts.hasShipped(/^tape\/terminals\//, COUNT); // A snapshot would only come with the next entries of its log.
    await a.die();
    await hosts.isTaken();
    b.kill("standby"); // Its next life goes on.
    expect(await runsOn("host-a-work", "host-b")).toBe("host-b");
    const home = join(b.homes, "host-a-work");
    const { prompts } = await full.isBack(b, home);
    const ran = prompts.map(() => "first second");
    expect(full.ran()).toEqual(ran);
    expect(prompts.toSorted()).toEqual(before.prompts.toSorted());
    expect(await full.answered(b, home, prompts)).toEqual(prompts.map(() => "ok"));
    await full.agentsRest(b, home);
    expect(full.ran()).toEqual(ran);
    expect(await b.must("recovery", "report", "--json", "--home", home)).toContain("host-a");
  }, 600_000);

  /** Waits until the agent has ended so many turns. */
  async function rests(host: Host, home: string, turns: number): Promise<void> {
    await until(
      `the agent has ended ${turns} turns on ${host.name}`,
      async () => {
        const [agent] = JSON.parse(await host.must("agent", "tree", "--json", "--home", home));
        return agent?.turns === turns && agent.state === "idle";
      },
      async () => [await host.do("agent", "inspect", "helper", "--home", home), host.log()],
      120_000,
    );
  }

  async function inDatabase(): Promise<string> {
    const homes = await hosts.look.call(HOMES, undefined);
    const ids = homes.kind === "done" ? homes.value.map(({ id }) => id) : [];
    return plainText(hosts.look, hosts.place, ids);
  }

  test("an agent of a dead host goes on with what it had not committed", async () => {
    const [a, b] = await fleet(["host-a-work"]);
    const repository = join(hosts.place, "repository");
    git(hosts.place, "init", "-q", repository);
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one");
    const given = ["--worktree", "--cwd", repository, "--instructions", "sh:echo work >made-by-agent; pwd >&2; pwd"];
    await a.must("agent", "new", "helper", ...CLAUDE_ONLY, ...given, "--home", a.home, "--", ...CLAUDE);
    await rests(a, a.home, 1);
    const tree = await until(
      "its work is in the database",
      async () => {
        const [one] = readdirSync(join(a.home, "worktrees"));
        return (await inDatabase()).includes("/work.bundle\n") && one && join(a.home, "worktrees", one);
      },
      () => a.log(),
    );
    await a.die();
    rmSync(tree, { recursive: true });
    git(repository, "worktree", "prune");
    await hosts.isTaken();
    expect(await runsOn("host-a-work", "host-b")).toBe("host-b");
    const home = join(b.homes, "host-a-work");
    await b.must("agent", "send", "helper", "sh:cat made-by-agent", "--home", home);
    await rests(b, home, 2);
    const report = await b.must("recovery", "report", "--json", "--home", home);
    expect(report).toContain("its work came along");
    expect(readFileSync(join(tree, "made-by-agent"), "utf8")).toBe("work\n");
  }, 240_000);

  test("a home is moved on purpose with its agent, and its old host follows", async () => {
    const [a, b] = await fleet([]);
    await a.must("new", "one", "--detach", "--home", a.home, "--", "sh", "-c", "echo was here; exec cat");
    mkdirSync(join(hosts.place, "host-a/.claude"));
    writeFileSync(join(hosts.place, "host-a/.claude/.credentials.json"), CANARY);
    const given = ["--instructions", "sh:echo it-was-said", "--home", a.home];
    await a.must("agent", "new", "helper", ...CLAUDE_ONLY, ...given, "--", ...CLAUDE);
    await rests(a, a.home, 1);
    const stored = await until(
      "its conversation is in the database",
      async () => {
        const text = await inDatabase();
        return /carried\/agents\/.*jsonl\n.*sh:echo it-was-said/.test(text) && text;
      },
      () => a.log(),
    );
    expect(stored).toContain("recovery/");
    const ids = readdirSync(join(a.home, "agents"));
    const doors = ["run/token", ...ids.map((id) => `agents/${id}/token`)].map((name) => join(a.home, name));
    const tokens = doors.filter((path) => existsSync(path)).map((path) => readFileSync(path, "utf8").trim());
    expect(tokens.length).toBeGreaterThan(1);
    for (const secret of [CANARY, ...tokens]) expect(stored).not.toContain(secret);
    const moved = await b.do("fleet", "move", "host-a-work", "host-b", "--home", b.home);
    expect([moved.code, moved.err, a.log(), b.log()]).toEqual([
      0,
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
    expect(await hosts.row("host-a-work")).toMatchObject({ owner: "host-b", moveTo: "" });
    const home = join(b.homes, "host-a-work");
    expect(await b.must("ls", "--json", "--home", home)).toContain('"one"');
    const direct = await until(
      "its terminal is used from the other home of its host, without ssh",
      async () => {
        const said = await b.do("tail", "host-b/host-a-work/one", "--home", b.home);
        return said.code === 0 ? said.out : undefined;
      },
      () => b.log(),
    );
    expect(direct).toContain("was here");
    expect(await b.must("recovery", "report", "--home", home)).toContain("its conversation came along as of");
    await b.must("agent", "send", "helper", "sh:echo and-again", "--home", home);
    await rests(b, home, 2);
    const [slug = ""] = readdirSync(join(hosts.place, "host-b/.claude/projects"));
    const [file = ""] = readdirSync(join(hosts.place, "host-b/.claude/projects", slug));
    const lines = readFileSync(join(hosts.place, "host-b/.claude/projects", slug, file), "utf8");
    expect(lines).toMatch(/it-was-said.*\n.*and-again/);
    expect(await inDatabase()).not.toContain(CANARY);
    await until(
      "the old host knows",
      () => existsSync(join(a.home, "fleet/fenced.json")),
      () => a.log(),
    );
    await until(
      "its guard has nothing left to guard",
      () => readFileSync(join(a.home, "run/standby.json"), "utf8").includes('"guard":"ended"'),
      () => a.log(),
    );
  }, 240_000);
});
