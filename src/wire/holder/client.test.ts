// A client of a holder that the test plays, over connections that are lost.
import { expect, test } from "bun:test";
import { HolderClient, type HolderEvents } from "./client.ts";
import type { HolderWireEvents } from "./framed-connection.ts";
import { FrameReader } from "./frames.ts";
import * as protocol from "./protocol.ts";

const AT = "2026-01-01T00:00:00.000Z";
const STATUS: protocol.HolderStatus = {
  ...{ v: 1, generation: 1, mode: "pty", pid: 1, child: null, startedAt: AT, consumed: 0, clients: 1 },
  ...{ tape: { start: 0, end: 10, gaps: 0 }, size: { cols: 80, rows: 24 }, lastOutputAt: null, writers: {} },
  ...{ exit: null, trouble: null },
};

class Site {
  /** What each connection said: its first offset, and the numbers of its input. */
  readonly heard: string[][] = [];
  readonly client: HolderClient;
  #events: HolderWireEvents | undefined;

  constructor(from: number, events: HolderEvents = {}) {
    const dial = async (wire: HolderWireEvents) => {
      this.#events = wire;
      const said: string[] = [];
      this.heard.push(said);
      const reader = new FrameReader();
      const send = (bytes: Uint8Array) => {
        for (const { tag, payload } of reader.push(bytes) ?? []) {
          if (tag === protocol.HELLO) said.push(`from ${JSON.parse(Buffer.from(payload).toString()).from}`);
          if (tag === protocol.INPUT) said.push(`input ${protocol.readInput(payload)?.number}`);
        }
      };
      return { send, end: () => undefined, destroy: () => undefined };
    };
    this.client = new HolderClient(dial, { token: "t", writer: "w", from }, events);
  }

  async connect(status: Partial<protocol.HolderStatus> = {}): Promise<boolean> {
    const welcome = this.client.connect();
    await Promise.resolve();
    this.say(protocol.jsonFrame(protocol.WELCOME, { ...STATUS, ...status }));
    return (await welcome).ok;
  }

  say(frame: Uint8Array): void {
    this.#events?.bytes(frame);
  }

  lose(): void {
    this.#events?.closed();
  }
}

test("L2 output continues where the last connection stopped: after what came, or where the tape ended then", async () => {
  const site = new Site(-1);
  await site.connect();
  site.lose();
  await site.connect({ tape: { start: 0, end: 30, gaps: 0 } });
  site.say(protocol.outputFrame(10, Buffer.from("12345")));
  site.lose();
  await site.connect();
  site.say(protocol.numberFrame(protocol.RESYNC, 99));
  site.lose();
  await site.connect();
  expect(site.heard.map(([first]) => first)).toEqual(["from -1", "from 10", "from 15", "from 99"]);
});

test("L1 input that was not confirmed is sent again under its number; what the holder has is not", async () => {
  const site = new Site(0);
  await site.connect();
  const answers = ["a", "b", "c"].map((text) => site.client.input(Buffer.from(text)));
  site.say(protocol.numberFrame(protocol.INPUT_TAKEN, 1));
  site.lose();
  await site.connect({ writers: { w: 2 } });
  expect(site.heard).toEqual([
    ["from 0", "input 1", "input 2", "input 3"],
    ["from 0", "input 3"],
  ]);
  site.say(protocol.numberFrame(protocol.INPUT_TAKEN, 3));
  expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual([true, true, true]);
});

test("L1 L3 input for a program that was replaced meanwhile is refused, and so is what a closed client had open", async () => {
  const site = new Site(0);
  await site.connect();
  const old = site.client.input(Buffer.from("rm -rf x"));
  site.lose();
  await site.connect({ generation: 2 });
  expect(site.heard[1]).toEqual(["from 0"]);
  expect((await old).ok).toBe(false);
  const last = site.client.input(Buffer.from("y"));
  const status = site.client.askStatus();
  site.client.close();
  expect([(await last).ok, (await status).ok]).toEqual([false, false]);
});
