import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { decodeLine, encodeLine } from "../lines.ts";
import { GONE, RpcClient, type WireEvents } from "./client.ts";

/** A daemon: what it received, and what it sends. */
class Other {
  readonly heard: Readonly<Record<string, unknown>>[] = [];
  ended = false;
  events: WireEvents | undefined;

  readonly dial = async (events: WireEvents) => {
    this.events = events;
    return {
      send: (bytes: Uint8Array) => {
        const message = decodeLine(Buffer.from(bytes).toString().trim());
        if (message !== undefined) this.heard.push(message);
      },
      end: () => {
        this.ended = true;
      },
    };
  };

  say(message: unknown): void {
    this.events?.bytes(encodeLine(message));
  }

  async hears(count: number): Promise<void> {
    while (this.heard.length < count) await Promise.resolve();
  }
}

async function connected() {
  const other = new Other();
  const connecting = RpcClient.connect(other.dial, "token", "1.0");
  await other.hears(1);
  other.say({ jsonrpc: "2.0", id: 1, result: {} });
  const client = await connecting;
  if (!client.ok) throw new Error(client.error.message);
  return { other, client: client.value };
}

test("the first word is hello, with token, version and protocol", async () => {
  const { other } = await connected();
  expect(other.heard).toEqual([
    { jsonrpc: "2.0", id: 1, method: "hello", params: { token: "token", version: "1.0", protocol: 1 } },
  ]);
});

test("answers are matched to their calls in any order; unknown ids and rubbish are ignored", async () => {
  const { other, client } = await connected();
  const first = client.call("status", {});
  const second = client.call("terminal.list", {});
  await other.hears(3);
  for (const message of [{ id: 99, result: 1 }, { id: null, result: 1 }, { method: "else" }, {}]) other.say(message);
  other.events?.bytes(Buffer.from("rubbish\n\n[]\n"));
  other.say({ id: 3, result: [] });
  other.say({ id: 3, result: ["again"] });
  other.say({ id: 2, error: { code: -32000, message: "m", data: { code: "c", message: "no", hint: "h" } } });
  expect(await second).toEqual({ ok: true, value: [] });
  expect(await first).toEqual({ ok: false, error: { code: "c", message: "no", hint: "h" } });
});

test("an error without our fields still becomes a refusal with a message", async () => {
  const { other, client } = await connected();
  for (const [error, message] of [
    [{ code: -32601, message: "no such method" }, "no such method"],
    ["strange", "The daemon refused."],
  ] as const) {
    const answer = client.call("status", {});
    await other.hears(2);
    other.say({ id: other.heard.at(-1)?.["id"], error });
    expect(await answer).toMatchObject({ ok: false, error: { code: "refused", message } });
    other.heard.length = 1;
  }
});

test("a refused hello closes the connection", async () => {
  const other = new Other();
  const connecting = RpcClient.connect(other.dial, "wrong", "1.0");
  await other.hears(1);
  other.say({ id: 1, error: { code: -32000, message: "m", data: { code: "rpc.token", message: "no", hint: "h" } } });
  expect(await connecting).toMatchObject({ ok: false, error: { code: "rpc.token" } });
  expect(other.ended).toBe(true);
});

test("Q3 first questions go out with the hello; if that is refused, they end with the connection", async () => {
  for (const refused of [false, true]) {
    const other = new Other();
    let asked: Promise<unknown> | undefined;
    const how = { ms: 1000, after: () => () => undefined };
    const first = (client: RpcClient) => {
      asked = client.call("terminal.list", {});
    };
    const connecting = RpcClient.connect(other.dial, "token", "1.0", { ...how, first });
    await other.hears(2);
    expect(other.heard.map(({ method }) => method)).toEqual(["hello", "terminal.list"]);
    other.say({ jsonrpc: "2.0", id: 1, ...(refused ? { error: { code: -32000, message: "no" } } : { result: {} }) });
    expect((await connecting).ok).toBe(!refused);
    other.say({ jsonrpc: "2.0", id: 2, result: [] });
    expect(await asked).toEqual(refused ? { ok: false, error: GONE } : { ok: true, value: [] });
  }
});

test("every call ends when the connection does, even if that is before the hello", async () => {
  const { other, client } = await connected();
  const open = [client.call("status", {}), client.call("terminal.list", {})];
  other.events?.closed();
  other.events?.closed();
  for (const answer of await Promise.all(open)) expect(answer).toEqual({ ok: false, error: GONE });
  await client.closed;
  const early = await RpcClient.connect(
    async (events) => {
      events.closed();
      return { send: () => undefined, end: () => undefined };
    },
    "token",
    "1.0",
  );
  expect(early).toEqual({ ok: false, error: GONE });
});

test("a daemon that sends a line over the limit is disconnected", async () => {
  const { other, client } = await connected();
  const open = client.call("status", {});
  other.events?.bytes(Buffer.alloc((64 << 20) + 1, 120));
  expect(await open).toMatchObject({ ok: false, error: { code: "answer.too-long" } });
  expect(other.ended).toBe(true);
});

test("a call without an answer is refused in time; its late answer is ignored, other calls go on", async () => {
  const clock = new SimClock();
  const other = new Other();
  const connecting = RpcClient.connect(other.dial, "token", "1.0", { ms: 500, after: (ms, fn) => clock.after(ms, fn) });
  await other.hears(1);
  clock.advance(499);
  other.say({ id: 1, result: {} });
  const made = await connecting;
  if (!made.ok) throw new Error(made.error.message);
  expect(clock.pendingTimers).toBe(0);
  const client = made.value;
  const [first, endless] = [client.call("status", {}), client.call("recovery.retry", {})];
  clock.advance(300);
  const second = client.call("terminal.list", {});
  clock.advance(200);
  expect(await first).toMatchObject({ ok: false, error: { code: "daemon.silent" } });
  other.say({ id: 2, result: "late" });
  other.say({ id: 4, result: [] });
  expect(await second).toEqual({ ok: true, value: [] });
  clock.advance(1_000_000);
  other.say({ id: 3, result: { stage: "LIVE" } }); // A recovery has no limit.
  expect(await endless).toEqual({ ok: true, value: { stage: "LIVE" } });
  expect(clock.pendingTimers).toBe(0);
});

test("connecting fails if the daemon accepts and never answers the hello", async () => {
  const clock = new SimClock();
  const other = new Other();
  const connecting = RpcClient.connect(other.dial, "token", "1.0", { ms: 500, after: (ms, fn) => clock.after(ms, fn) });
  await other.hears(1);
  clock.advance(500);
  expect(await connecting).toMatchObject({ ok: false, error: { code: "daemon.silent" } });
  expect(other.ended).toBe(true);
});

test("notices reach the listener, and malformed ones are dropped", async () => {
  const { other, client } = await connected();
  other.say({ method: "notice", params: { topic: "early", data: 0 } });
  const heard: unknown[] = [];
  client.onNotice = (notice) => void heard.push(notice);
  for (const params of [{ topic: "a.b", data: { x: 1 } }, { topic: 1 }, null, []])
    other.say({ method: "notice", params });
  expect(heard).toEqual([{ topic: "a.b", data: { x: 1 } }]);
});
