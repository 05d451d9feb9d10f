// Two hosts with all their programs on one machine, and a real PostgreSQL: one dies, and the other goes on with its
// home; and a home is moved on purpose.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { FullHome, ROOM } from "./full-home.ts";
import type { Host } from "./host.ts";
import { TwoHosts } from "./two-hosts.ts";

/** Of each kind. How long it takes is measured in bench/fleet-takeover.ts. */
const COUNT = amount(2, 25);

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let hosts: TwoHosts;

  async function fleet(take: readonly string[]): Promise<[Host, Host]> {
    server = await startTestServer();
    hosts = await TwoHosts.start(server.url, { take }, { config: ROOM });
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

  test("a full host that dies is taken over: no step is repeated, those that ran are uncertain, and agents ask again", async () => {
    const [a, b] = await fleet(["host-a-work"]);
    const full = new FullHome(hosts.place, COUNT);
    const before = await full.fill(a);
    await hosts.hasShipped(/^tape\/terminals\//, COUNT); // A snapshot would only come with the next entries of its log.
    await a.die();
    await hosts.isTaken();
    b.killStandby(); // Its next life goes on.
    expect(await runsOn("host-a-work", "host-b")).toBe("host-b");
    const home = join(b.homes, "host-a-work");
    const { prompts } = await full.isBack(b, home);
    const ran = prompts.map(() => "first second");
    expect(full.ran()).toEqual(ran);
    const old = before.prompts.filter((prompt) => !prompts.includes(prompt));
    expect(await full.answered(b, home, old)).toEqual(old.map(() => "stale"));
    expect(await full.answered(b, home, prompts)).toEqual(prompts.map(() => "ok"));
    await full.agentsRest(b, home);
    expect(full.ran()).toEqual(ran);
    expect(await b.must("recovery", "report", "--json", "--home", home)).toContain("host-a");
  }, 600_000);

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
