// A host that dies with terminals, workflow runs in the middle of a step, and agents that wait for an answer: all of it
// is on another host. Real programs and a real PostgreSQL; how long it takes is measured in bench/fleet-takeover.ts.
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { FullHome, ROOM } from "./full-home.ts";
import { TwoHosts } from "./two-hosts.ts";

/** Of each kind. */
const COUNT = amount(2, 25);

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let hosts: TwoHosts;

  afterEach(async () => {
    await hosts.end();
    await server.stop();
  });

  test("a full host that dies is back on another: no step repeated, running ones uncertain, prompts open", async () => {
    server = await startTestServer();
    hosts = await TwoHosts.start(server.url, { take: ["host-a-work"] }, { config: ROOM });
    const { a, b } = hosts;
    const full = new FullHome(hosts.place, COUNT);
    await full.fill(a);
    await hosts.hasShipped(/^tape\/terminals\//, COUNT);
    await a.die();
    const home = join(b.homes, "host-a-work");
    const { prompts } = await full.isBack(b, home);
    const ran = prompts.map(() => "first second");
    expect(full.ran()).toEqual(ran);
    await full.answer(b, home, prompts);
    expect(full.ran()).toEqual(ran);
  }, 600_000);
});
