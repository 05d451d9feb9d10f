// Claims about the line to the daemon that need a clock of their own.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { Fault } from "../base/fault.ts";
import { encodeLine } from "../wire/lines.ts";
import type { Dial } from "../wire/rpc/client.ts";
import { RPC_PROTOCOL } from "../wire/rpc/rpc.ts";
import { VERSION } from "../wire/version.ts";
import { DaemonLink } from "./daemon-link.ts";

/** A daemon that takes connections and says nothing. */
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

test("a daemon that does not answer is waited for only so long, and its connection is not left behind", async () => {
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

test("it says hello with this home's token and the version of the program", async () => {
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

test("a question that is answered leaves no timer", async () => {
  const clock = new SimClock();
  const refuse: Dial = async () => {
    throw new Fault({ code: "ECONNREFUSED", operation: "connect", path: "/h/run/daemon.sock" });
  };
  const link = new DaemonLink({ dial: refuse, token: () => "t", clock });
  expect(await link.look()).toEqual({ kind: "down", why: "The daemon is not running." });
  await clock.settle();
  expect(clock.pendingTimers).toBe(0);
});

/** A daemon that answers everything it is asked; the list is empty. */
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

test("a line is kept while pages ask, and closed when none has asked for half a minute", async () => {
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

test("a mistake of ours is not taken for a daemon that is down", async () => {
  const broken: Dial = async () => {
    throw new TypeError("ours");
  };
  const link = new DaemonLink({ dial: broken, token: () => "t", clock: new SimClock() });
  expect(await link.look().catch((error) => error)).toBeInstanceOf(TypeError);
});
