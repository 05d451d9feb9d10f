// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listBlobs } from "../../src/fleet/blobs.ts";
import { HOMES, type WatchedRow } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { plainText } from "../fleet/plain.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { BUN, ours } from "../ours.ts";
import { until } from "../until.ts";

const LEASE_S = 3;
const processes = realProcesses();

/** Nothing in the database may have it. */
const CANARY = "canary-7b1f";
const SECRETS = { ANTHROPIC_API_KEY: CANARY, CLAUDE_CODE_OAUTH_TOKEN: CANARY, MY_TOKEN: CANARY };
const CLAUDE = [BUN, "--no-env-file", "--no-install", join(import.meta.dir, "../agent/small-claude.ts")];

const CLAUDE_ONLY = ["--provider", "claude", "--no-sandbox"];

function git(cwd: string, ...words: readonly string[]): void {
  const done = Bun.spawnSync(["git", ...words], { cwd });
  if (done.exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${done.stderr}`);
}

type Said = { readonly code: number; readonly out: string; readonly err: string };

class Host {
  readonly name: string;
  readonly home: string;
  readonly homes: string;
  readonly #env: Record<string, string>;

  constructor(place: string, name: string, settings: Readonly<Record<string, unknown>>) {
    this.name = name;
    this.home = join(place, name, "work");
    this.homes = join(place, name, "homes");
    mkdirSync(join(place, name));
    const config = join(place, name, "config.toml");
    const fleet = { host: name, homes: this.homes, lease_s: LEASE_S, ...settings };
    const lines = Object.entries(fleet).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    writeFileSync(config, ["[web]", "enabled = false", "[fleet]", ...lines, ""].join("\n"));
    const { HOLDFAST_HOME: _, ...env } = process.env;
    const own = { HOLDFAST_CONFIG: config, HOME: join(place, name), ...SECRETS };
    this.#env = { ...env, ...own } as Record<string, string>;
  }

  async do(...words: string[]): Promise<Said> {
    const child = Bun.spawn(ours("src/cli/main.ts", ...words), { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()];
    return { code: await child.exited, out, err };
  }

  async must(...words: string[]): Promise<string> {
    const said = await this.do(...words);
    if (said.code !== 0) throw new Error(`${words.join(" ")}: ${said.err}\n${this.log()}`);
    return said.out;
  }

  /** Its homes, also those that it has taken over. */
  directories(): string[] {
    const taken = () => readdirSync(this.homes).filter((name) => !name.startsWith("."));
    try {
      return [this.home, ...taken().map((name) => join(this.homes, name))];
    } catch {
      return [this.home];
    }
  }

  log(): string {
    return this.directories()
      .map((home) => {
        try {
          const standby = readFileSync(join(home, "run/standby.json"), "utf8");
          return `${home}:\n${standby}${readFileSync(join(home, "run/watchdog.log"), "utf8").slice(-3_000)}`;
        } catch {
          return `${home}: no log`;
        }
      })
      .join("\n");
  }

  /** All that runs for it, by the paths in its words or by its configuration. */
  pids(): number[] {
    const config = this.#env["HOLDFAST_CONFIG"] ?? "";
    const isIts = (pid: number) =>
      processes.variable(pid, "HOLDFAST_CONFIG") === config ||
      processes.kin(pid)?.argv.some((word) => this.directories().some((home) => word.startsWith(home))) === true;
    return processes.list().flatMap(({ pid }) => (isIts(pid) ? [pid] : []));
  }

  killStandby(): void {
    const { pid } = JSON.parse(readFileSync(join(this.home, "run/standby.lock"), "utf8"));
    process.kill(pid, "SIGKILL");
  }

  /** Everything ends at once, as when a machine loses its power. */
  async die(): Promise<void> {
    await until(
      "all of it is gone",
      () => {
        const pids = this.pids();
        for (const pid of pids) {
          const startTime = processes.startTime(pid);
          if (startTime !== undefined) processes.kill({ pid, startTime, bootId: processes.bootId() }, "SIGKILL");
        }
        return pids.length === 0;
      },
      () => this.pids(),
    );
  }
}

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let place: string;
  let look: Database;
  let hosts: Host[] = [];

  async function fleet(take: readonly string[]): Promise<[Host, Host]> {
    server = await startTestServer();
    look = databaseAt(server.url);
    await initDatabase(look);
    place = mkdtempSync(join(tmpdir(), "hf-hosts-"));
    const key = join(place, "fleet.key");
    writeFileSync(key, FleetSeal.newFile(realRandom()), { mode: 0o600 });
    const settings = { url: server.url, key_file: key };
    const a = new Host(place, "host-a", settings);
    const b = new Host(place, "host-b", { ...settings, take });
    hosts = [a, b];
    for (const host of hosts) await host.must("up", "--home", host.home);
    for (const host of hosts) await named(`${host.name}-work`);
    return [a, b];
  }

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.die();
    look.drop();
    await server.stop();
    rmSync(place, { recursive: true, force: true });
  });

  async function homeRows(): Promise<readonly WatchedRow[]> {
    const answer = await look.call(HOMES, undefined);
    return answer.kind === "done" ? answer.value : [];
  }

  async function row(name: string): Promise<WatchedRow | undefined> {
    return (await homeRows()).find((home) => home.name === name);
  }

  function named(name: string): Promise<WatchedRow> {
    return until(
      `${name} is in the fleet`,
      () => row(name),
      () => hosts.map((host) => host.log()),
    );
  }

  async function runsOn(name: string, host: string): Promise<string> {
    await until(
      `${name} runs on ${host}`,
      async () => {
        const events = await hosts[1]?.do("fleet", "events", "--json");
        return events?.out.includes(`"${name} runs on ${host}"`) === true;
      },
      async () => [await row(name), await hosts[1]?.do("fleet", "events"), hosts.map((each) => each.log())],
      120_000,
    );
    return (await row(name))?.owner ?? "";
  }

  test("a host that dies is taken over: its terminal is there on the other host, under its name", async () => {
    const [a, b] = await fleet(["host-a-work"]);
    await a.must("new", "one", "--detach", "--home", a.home, "--", "sh", "-c", "echo was here; exec cat");
    const repository = join(place, "repository");
    git(place, "init", "-q", repository);
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
    await until(
      "its files are there",
      async () => {
        const blobs = await listBlobs(look, (await row("host-a-work"))?.id ?? "");
        return blobs.ok && blobs.value.some(({ path }) => /^tape\/terminals\//.test(path));
      },
      async () => [await row("host-a-work"), a.log()],
    );
    await a.die();
    rmSync(tree, { recursive: true });
    git(repository, "worktree", "prune");
    await until(
      "it is taken",
      async () => (await row("host-a-work"))?.owner === "host-b",
      async () => [await row("host-a-work"), b.log()],
    );
    b.killStandby(); // Its next life goes on.
    expect(await runsOn("host-a-work", "host-b")).toBe("host-b");
    const home = join(b.homes, "host-a-work");
    const listed = await until(
      "it is listed",
      async () => {
        const said = await b.do("ls", "--json", "--home", home);
        return said.out.includes('"one"') && said.out;
      },
      () => b.log(),
    );
    expect(listed).toContain("one");
    const report = await b.must("recovery", "report", "--json", "--home", home);
    expect(report).toContain("host-a");
    expect(report).toContain("its work came along as of");
    expect(readFileSync(join(tree, "made-by-agent"), "utf8")).toBe("work\n");
    await b.must("agent", "send", "helper", "sh:cat made-by-agent", "--home", home);
    await rests(b, home, 2);
  }, 240_000);

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
    return plainText(
      look,
      place,
      (await homeRows()).map(({ id }) => id),
    );
  }

  test("a home is moved on purpose with its agent, and its old host follows", async () => {
    const [a, b] = await fleet([]);
    await a.must("new", "one", "--detach", "--home", a.home, "--", "cat");
    mkdirSync(join(place, "host-a/.claude"));
    writeFileSync(join(place, "host-a/.claude/.credentials.json"), CANARY);
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
    expect(await row("host-a-work")).toMatchObject({ owner: "host-b", moveTo: "" });
    const home = join(b.homes, "host-a-work");
    expect(await b.must("ls", "--json", "--home", home)).toContain('"one"');
    expect(await b.must("recovery", "report", "--home", home)).toContain("its conversation came along as of");
    await b.must("agent", "send", "helper", "sh:echo and-again", "--home", home);
    await rests(b, home, 2);
    const [slug = ""] = readdirSync(join(place, "host-b/.claude/projects"));
    const [file = ""] = readdirSync(join(place, "host-b/.claude/projects", slug));
    const lines = readFileSync(join(place, "host-b/.claude/projects", slug, file), "utf8");
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
