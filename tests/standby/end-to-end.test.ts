// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOMES, LIST, type WatchedRow } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

const LEASE_S = 3;
const processes = realProcesses();

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
    this.#env = { ...env, HOLDFAST_CONFIG: config, HOME: join(place, name) } as Record<string, string>;
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
          return `${home}:\n${readFileSync(join(home, "run/watchdog.log"), "utf8").slice(-3_000)}`;
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

  async function row(name: string): Promise<WatchedRow | undefined> {
    const answer = await look.call(HOMES, undefined);
    return answer.kind === "done" ? answer.value.find((home) => home.name === name) : undefined;
  }

  /** The names of what the database has of its files. */
  async function stored(name: string): Promise<readonly string[]> {
    const home = (await row(name))?.id ?? "";
    const answer = await look.call(LIST, { home, after: "" });
    return answer.kind === "done" ? answer.value.map(({ path }) => path) : [];
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
    await until(
      "the end of its tape is there",
      async () => (await stored("host-a-work")).some((path) => path.startsWith("tape/terminals/")),
      async () => [await row("host-a-work"), await stored("host-a-work"), a.log()],
    );
    await a.die();
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
    expect(await b.must("recovery", "report", "--json", "--home", home)).toContain("host-a");
  }, 240_000);

  test("a home is moved on purpose, and its old host follows", async () => {
    const [a, b] = await fleet([]);
    await a.must("new", "one", "--detach", "--home", a.home, "--", "cat");
    const moved = await b.do("fleet", "move", "host-a-work", "host-b", "--home", b.home);
    expect([moved.code, moved.err, a.log(), b.log()]).toEqual([
      0,
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
    expect(await row("host-a-work")).toMatchObject({ owner: "host-b", moveTo: "" });
    expect(await b.must("ls", "--json", "--home", join(b.homes, "host-a-work"))).toContain('"one"');
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
