// One call of the whole daemon fails, or one kind of call for a while: what was promised holds, and nothing else stops.
import { describe, expect, test } from "bun:test";
import { Fault } from "../../../src/base/fault.ts";
import type { ListedTerminal } from "../../../src/wire/rpc/rpc.ts";
import { Client } from "./client.ts";
import { HoldfastMachine } from "./machine.ts";

const RECIPE = { argv: ["sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };

/** A machine, its daemon, and a client of it. */
class Site {
  readonly machine = new HoldfastMachine(1);
  daemon = this.machine.begin();
  client = new Client(this.machine);

  /** Fails the first `times` of these calls. */
  refuse(code: string, times: number, isMeant: (operation: string, path: string) => boolean): { left: number } {
    const count = { left: times };
    this.machine.beforeCall = (operation, path) => {
      if (count.left === 0 || !isMeant(operation, path)) return;
      count.left -= 1;
      throw new Fault({ code, operation, path });
    };
    return count;
  }

  live(): Promise<void> {
    return this.machine.during(this.client.live());
  }

  async open(name: string): Promise<string> {
    const made = await this.machine.during(this.client.ask("terminal.new", { name, lane: "default", ...RECIPE }));
    return made.id;
  }

  /** Waits until a terminal is in this state. */
  is(id: string, kind: ListedTerminal["state"]["kind"]): Promise<ListedTerminal> {
    const look = async (): Promise<ListedTerminal> => {
      for (;;) {
        const found = (await this.client.ask("terminal.list", {})).find((one) => one.id === id);
        if (found?.state.kind === kind) return found;
        await this.client.sleep(50);
      }
    };
    return this.machine.during(look());
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

async function begun(): Promise<Site> {
  const site = new Site();
  await site.live();
  return site;
}

const WRITING = ["write", "rename", "sync", "datasync"];
const ofSpec = (operation: string, path: string) => WRITING.includes(operation) && path.includes("holder.json");

describe("the spec of a terminal cannot be written", () => {
  test.each(["EIO", "ENOSPC", "ESTALE"])("%s once: its program is started, once", async (code) => {
    const site = await begun();
    const count = site.refuse(code, 1, ofSpec);
    const id = await site.open("one");
    const { generation } = await site.is(id, "running");
    expect([count.left, generation, site.machine.witness.running.size]).toEqual([0, 1, 1]);
  });

  test("EIO that lasts: the terminal waits for a person, with the reason, and can be restored", async () => {
    const site = await begun();
    site.refuse("EIO", Number.POSITIVE_INFINITY, ofSpec);
    const id = await site.open("one");
    const other = await site.open("other"); // It has the same trouble.
    const { state } = await site.is(id, "uncertain");
    expect(state).toMatchObject({
      reason: expect.stringMatching(/^it could not be started: .*holder\.json.*: EIO\. /),
    });
    await site.is(other, "uncertain");
    expect(site.machine.witness.running.size).toBe(0);

    site.machine.beforeCall = () => undefined;
    await site.again(); // It is not started by itself, and nothing is lost.
    await site.is(id, "uncertain");
    await site.machine.during(site.client.ask("terminal.restore", { id, way: "plan" }));
    await site.is(id, "running");
    expect(site.machine.witness.running.size).toBe(1);
  });
});

test("too many open files while a terminal is read at the start: it is read again, and its program runs on", async () => {
  const site = await begun();
  const [id, other] = [await site.open("one"), await site.open("other")];
  for (const each of [id, other]) await site.is(each, "running");
  const before = new Map([...site.machine.witness.running].map(([each, { who }]) => [each, who.pid]));
  let opened = 0;
  const count = site.refuse("EMFILE", 3, (operation, path) => {
    if (!["open", "create"].includes(operation) || !path.includes(`${id}/events`)) return false;
    opened += 1;
    return opened > 1; // The first time, the log itself is recovered.
  });
  await site.again();
  expect(count.left).toBe(0);
  for (const each of [id, other]) await site.is(each, "running");
  expect(new Map([...site.machine.witness.running].map(([each, { who }]) => [each, who.pid]))).toEqual(before);
});
