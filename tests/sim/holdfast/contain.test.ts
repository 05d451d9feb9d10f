// PB2 of part.ts in the whole daemon: the codec of one agent throws. That agent is set aside, the daemon lives,
// everybody else goes on, and the next daemon tries it again.
import { afterEach, expect, spyOn, test } from "bun:test";
import { scripted } from "../../../src/wire/provider/scripted.ts";
import type { Method, Methods } from "../../../src/wire/rpc/rpc.ts";
import { Client } from "./client.ts";
import { AGENT, HoldfastMachine } from "./machine.ts";
import { idOf } from "./script.ts";

const [BAD, GOOD] = [idOf(1), idOf(2)];
/** How often the broken codec was called for its agent. */
let decoded = 0;
const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

/** A bug in the codec, which only the output of one agent meets. */
function breakCodec(agent: string): () => void {
  const { decode } = scripted;
  decoded = 0;
  const spy = spyOn(scripted, "decode").mockImplementation((line, facts) => {
    decoded += facts.agent === agent ? 1 : 0;
    if (facts.agent === agent) throw new RangeError("Maximum call stack size exceeded.");
    return decode(line, facts);
  });
  undo.push(() => spy.mockRestore());
  return () => spy.mockRestore();
}

class Site {
  readonly machine = new HoldfastMachine(1);
  daemon = this.machine.begin();
  client = new Client(this.machine);

  live(): Promise<void> {
    return this.machine.during(this.client.live());
  }

  ask<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return this.machine.during(this.client.ask(method, params));
  }

  agent(id: string) {
    const nothing = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };
    const wish = { ...nothing, id, name: `a-${id.slice(0, 4)}`, cwd: "/u", settings: {} };
    return this.ask("agent.new", { ...wish, instructions: `>> note ${id}`, provider: "scripted", command: [AGENT] });
  }

  /** Waits until an agent is in this state, after so many turns. */
  is(id: string, state: string, turns: number) {
    const look = async () => {
      for (;;) {
        const found = (await this.client.ask("agent.list", {})).find((one) => one.id === id);
        if (found?.state === state && found.turns === turns) return found;
        await this.client.sleep(50);
      }
    };
    return this.machine.during(look());
  }

  send(id: string, message: number) {
    return this.ask("agent.send", { id, message: idOf(message), text: ">> note more", replyTo: null });
  }

  /** The daemon dies, and the next one comes up. */
  async again(): Promise<void> {
    this.client.me.life.end();
    this.daemon.born.life.end();
    this.daemon = this.machine.begin();
    this.client = new Client(this.machine);
    await this.live();
  }
}

test("the codec of one agent throws: it is set aside with the reason, the others go on, also after a restart", async () => {
  const repair = breakCodec(BAD);
  const site = new Site();
  await site.live();
  await site.agent(BAD);
  await site.agent(GOOD);
  await site.is(GOOD, "idle", 1);
  const aside = await site.is(BAD, "crashed", 1);
  expect(aside.note).toBe("It is set aside: a bug of holdfast: Maximum call stack size exceeded.");
  expect(await site.machine.during(site.client.call("agent.retry", { id: BAD }))).toMatchObject({
    error: { code: "set-aside" },
  });
  await site.send(GOOD, 5);
  await site.is(GOOD, "idle", 2);
  await site.machine.during(site.client.sleep(60_000)); // Many rounds.
  expect([decoded, site.daemon.born.life.dead]).toEqual([1, false]);
  await site.again();
  await site.is(BAD, "crashed", 1);
  await site.send(GOOD, 3);
  await site.is(GOOD, "idle", 3);
  repair(); // An upgrade.
  await site.again();
  await site.is(BAD, "idle", 1);
  await site.send(BAD, 4);
  await site.is(BAD, "idle", 2);
});

test("an agent that was set aside can be terminated: its process ends, and it stays terminated", async () => {
  breakCodec(BAD);
  const site = new Site();
  await site.live();
  await site.agent(BAD);
  await site.agent(GOOD);
  const { pid } = await site.is(BAD, "crashed", 1);
  await site.is(GOOD, "idle", 1);
  const ended = await site.ask("agent.terminate", { id: BAD, reason: "" });
  expect(ended.state).toBe("terminated");
  const gone = async () => {
    const { processes } = site.machine.doors(site.client.me);
    while (pid !== null && processes.startTime(pid) !== undefined) await site.client.sleep(50);
  };
  expect(pid).not.toBeNull();
  await site.machine.during(gone());
  await site.again();
  expect(await site.ask("agent.show", { id: BAD })).toMatchObject({ state: "terminated", turns: 1 });
  await site.send(GOOD, 3);
  await site.is(GOOD, "idle", 2);
});
