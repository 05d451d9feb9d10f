// The whole daemon without a crash: asked to leave at every moment of a request and of a recovery, and asked to delete.
import { expect, test } from "bun:test";
import { CLEAN_SHUTDOWN } from "../../../src/home/layout.ts";
import { HOME } from "../machine.ts";
import { Client, Over } from "./client.ts";
import { type Daemon, HoldfastMachine } from "./machine.ts";

const TERMINAL = { name: "t1", lane: "main", argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };
/** More than it takes from the request until the last of its effects. */
const MOMENTS = 25;

class Home extends HoldfastMachine {
  async live(): Promise<{ daemon: Daemon; client: Client }> {
    const daemon = this.begin();
    const client = new Client(this);
    await this.during(client.live());
    return { daemon, client };
  }

  async left({ born }: Daemon): Promise<void> {
    while (!born.life.dead) await this.during(Promise.resolve(this.clock.advance(1)));
  }
}

test("D2 what becomes durable while the daemon leaves is still acknowledged, and nothing else is", async () => {
  let acknowledged = 0;
  for (let at = 1; at <= MOMENTS; at += 1) {
    const home = new Home(1);
    const { daemon, client } = await home.live();
    let moments = 0;
    home.moment = () => {
      moments += 1;
      if (moments === at) daemon.stop();
    };
    const asked = client.ask("terminal.new", TERMINAL).then(
      () => true,
      (error) => {
        if (!(error instanceof Over)) throw error;
        return false;
      },
    );
    const answered = await home.during(asked);
    daemon.stop();
    await home.left(daemon);
    const next = await home.live();
    const terminals = await home.during(next.client.ask("terminal.list", { brief: true }));
    expect({ at, answered }).toEqual({ at, answered: terminals.length === 1 });
    acknowledged += Number(answered);
  }
  expect(acknowledged).toBeGreaterThan(0);
});

test("D2 an end in the middle of a recovery is not recorded as a clean one", async () => {
  const ends = new Map<boolean, number>();
  for (let at = 1; at <= MOMENTS; at += 1) {
    const home = new Home(1);
    const first = await home.live();
    await home.during(first.client.ask("terminal.new", TERMINAL));
    first.daemon.born.life.end();
    const daemon = home.begin();
    let moments = 0;
    home.moment = () => {
      moments += 1;
      if (moments === at) daemon.stop();
    };
    await home.left(daemon);
    const wasLive = daemon.said.some((words) => words.startsWith("live after"));
    expect({ at, isClean: home.disk.stat(`${HOME}/${CLEAN_SHUTDOWN}`) !== undefined }).toEqual({
      at,
      isClean: wasLive,
    });
    ends.set(wasLive, (ends.get(wasLive) ?? 0) + 1);
  }
  expect(ends.get(false)).toBeGreaterThan(3);
});

test("a request for gc that does not ask to delete is a dry run", async () => {
  const home = new Home(1);
  const { client } = await home.live();
  const asked = async (params: object) => home.during(client.ask("gc", params as { dryRun: boolean }));
  expect([(await asked({})).dryRun, (await asked({ dryRun: "no" })).dryRun]).toEqual([true, true]);
  expect((await asked({ dryRun: false })).dryRun).toBe(false);
});
