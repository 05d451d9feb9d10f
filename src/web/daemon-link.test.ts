// Tests of the connection to the daemon that need a simulated clock.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { Fault } from "../base/fault.ts";
import { encodeLine } from "../wire/lines.ts";
import type { Dial } from "../wire/rpc/client.ts";
import { RPC_PROTOCOL } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import { DaemonLink } from "./daemon-link.ts";

/** A daemon that accepts connections and sends nothing. */
function silent() {
  const seen = { opened: 0, ended: 0 };
  const dial: Dial = async () => {
    seen.opened += 1;
    const end = () => {
      seen.ended += 1;
    };
    return { send: () => undefined, end };
  };
  return { seen, dial };
}

test("the wait for a silent daemon is bounded, and its connection is closed", async () => {
  const clock = new SimClock();
  const { seen, dial } = silent();
  const link = new DaemonLink({ dial, token: () => "t", clock });
  for (const round of [1, 2, 3]) {
    const view = link.look();
    await clock.settle();
    clock.advance(2_000);
    expect(await view).toEqual({ kind: "down", why: "The daemon does not answer." });
    expect(seen).toEqual({ opened: round, ended: round });
  }
});

test("its hello contains this home's token and the program's version", async () => {
  const heard: string[] = [];
  const dial: Dial = async () => ({
    send: (bytes) => void heard.push(new TextDecoder().decode(bytes)),
    end: () => undefined,
  });
  const clock = new SimClock();
  const view = new DaemonLink({ dial, token: () => "t", clock }).look();
  await clock.settle();
  clock.advance(2_000);
  await view;
  const params = { token: "t", version: VERSION, protocol: RPC_PROTOCOL };
  expect(heard.map((line) => JSON.parse(line))).toMatchObject([{ method: "hello", params }]);
});

test("an answered request leaves no timer", async () => {
  const clock = new SimClock();
  const refuse: Dial = async () => {
    throw new Fault({ code: "ECONNREFUSED", operation: "connect", path: "/h/run/daemon.sock" });
  };
  const link = new DaemonLink({ dial: refuse, token: () => "t", clock });
  expect(await link.look()).toEqual({ kind: "down", why: "The daemon is not running." });
  await clock.settle();
  expect(clock.pendingTimers).toBe(0);
});

/** A daemon that answers every request; the list is empty. */
function willing() {
  const seen = { opened: 0, ended: 0 };
  const dial: Dial = async (events) => {
    seen.opened += 1;
    const send = (bytes: Uint8Array) => {
      for (const line of new TextDecoder().decode(bytes).trim().split("\n")) {
        const { id, method } = JSON.parse(line);
        const result = method === "terminal.list" ? [] : { web: {} };
        events.bytes(encodeLine({ jsonrpc: "2.0", id, result }));
      }
    };
    const end = () => {
      seen.ended += 1;
    };
    return { send, end };
  };
  return { seen, dial };
}

test("the connection is kept while pages ask, and closed after half a minute without requests", async () => {
  const clock = new SimClock();
  const { seen, dial } = willing();
  const link = new DaemonLink({ dial, token: () => "t", clock });
  for (const _ of [1, 2, 3]) {
    expect(await link.look()).toMatchObject({ kind: "up", terminals: [] });
    clock.advance(29_000);
  }
  expect(seen).toEqual({ opened: 1, ended: 0 });
  clock.advance(1_000);
  expect([seen, clock.pendingTimers]).toEqual([{ opened: 1, ended: 1 }, 0]);
  expect(await link.look()).toMatchObject({ kind: "up" });
  expect(seen.opened).toBe(2);
});

test("a bug of ours is not mistaken for a daemon that is down", async () => {
  const broken: Dial = async () => {
    throw new TypeError("ours");
  };
  const link = new DaemonLink({ dial: broken, token: () => "t", clock: new SimClock() });
  expect(await link.look().catch((error) => error)).toBeInstanceOf(TypeError);
});
