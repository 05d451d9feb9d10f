// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { until } from "../until.ts";
import type { Host } from "./host.ts";
import { TwoHosts } from "./two-hosts.ts";

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let hosts: TwoHosts;

  async function fleet(take: readonly string[]): Promise<[Host, Host]> {
    server = await startTestServer();
    hosts = await TwoHosts.start(server.url, { take });
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

  test("a host that dies is taken over: its terminal is there on the other host, under its name", async () => {
    const [a, b] = await fleet(["host-a-work"]);
    await a.must("new", "one", "--detach", "--home", a.home, "--", "sh", "-c", "echo was here; exec cat");
    await hosts.hasShipped(/^tape\/terminals\//, 1); // A snapshot would only come with the next entries of its log.
    await a.die();
    await hosts.isTaken();
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
    expect(await hosts.row("host-a-work")).toMatchObject({ owner: "host-b", moveTo: "" });
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
