// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOMES, LIST, type WatchedRow } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { until } from "../until.ts";
import { Host } from "./host.ts";

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
    b.kill("standby"); // Its next life goes on.
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
    const direct = await until(
      "its terminal is used from the other home of its host, without ssh",
      async () => {
        const said = await b.do("tail", "host-b/host-a-work/one", "--home", b.home);
        return said.code === 0 ? said.out : undefined;
      },
      () => b.log(),
    );
    expect(direct).toContain("was here");
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
