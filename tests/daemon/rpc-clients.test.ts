// The RPC server's bookkeeping about its clients, on connections that the test plays: nothing stays of one that left.
import { expect, test } from "bun:test";
import { ok } from "../../src/base/result.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { RpcServer } from "../../src/daemon/rpc-server.ts";
import { encodeLine } from "../../src/wire/lines.ts";
import type { Connection, ConnectionEvents, Sockets } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { ask, hello, TOKEN } from "./rpc-peer.ts";

const MAX_CLIENTS = 512;
const MAX_SILENT = 64;
const MAX_WAITING_BYTES = 4 << 20;

/** A connected client: what it was sent, and whether it was cut off. */
class Peer {
  sent = 0;
  cut = 0;
  ended = 0;
  /** What it has not read. */
  waiting = 0;
  readonly events: ConnectionEvents;

  constructor(accept: (connection: Connection) => ConnectionEvents) {
    const nothing = () => undefined;
    const peer = this;
    this.events = accept({
      send: () => {
        this.sent += 1;
      },
      destroy: () => {
        this.cut += 1;
      },
      end: () => {
        this.ended += 1;
      },
      get waiting() {
        return peer.waiting;
      },
      ...{ flush: nothing, pause: nothing, resume: nothing },
    });
  }

  say(...messages: readonly unknown[]): void {
    for (const message of messages) this.events.bytes(encodeLine(message));
  }
}

async function serving() {
  const clock = new SimClock();
  const bus = new Bus();
  const status = async () => ok({});
  const server = new RpcServer({ status }, bus, { clock, token: TOKEN, version: "1", pid: 42 });
  const accepts: ((connection: Connection) => ConnectionEvents)[] = [];
  const sockets: Sockets = {
    listen: async (_, accept) => {
      accepts.push(accept);
      return { inPlace: () => true, touch: () => undefined, close: () => undefined };
    },
    connect: () => Promise.reject(new Error("a server does not connect")),
  };
  await server.listen(sockets, "/s");
  const [accept] = accepts;
  if (accept === undefined) throw new Error("it does not listen");
  return { clock, bus, come: () => new Peer(accept) };
}

test("the number of clients is bounded, and each one that leaves makes room", async () => {
  const { come } = await serving();
  const greeted = () => {
    const peer = come();
    peer.say(hello());
    return peer;
  };
  const all = Array.from({ length: MAX_CLIENTS }, greeted);
  expect(all.filter(({ ended }) => ended > 0)).toEqual([]);
  const surplus = greeted();
  expect(surplus.ended).toBe(1);
  surplus.events.closed();
  all[0]?.events.closed();
  expect([greeted().ended, greeted().ended]).toEqual([0, 1]);
});

test("Z1 clients that say no hello keep no one out: the oldest of them is cut off for a new one", async () => {
  const { come } = await serving();
  const silent = Array.from({ length: MAX_SILENT }, come);
  const friend = come();
  expect(silent.map(({ cut }) => cut)).toEqual([1, ...Array(MAX_SILENT - 1).fill(0)]);
  friend.say(hello(), ask(2));
  for (const _ of silent) come();
  expect([friend.cut, friend.ended, friend.sent > 0]).toEqual([0, 0, true]);
});

test("Z1 a client that says no hello is cut off after ten seconds, and one that left leaves no timer", async () => {
  const { clock, come } = await serving();
  const [silent, greeted, gone] = [come(), come(), come()];
  greeted.say(hello());
  gone.events.closed();
  expect(clock.pendingTimers).toBe(1);
  clock.advance(9_999);
  expect(silent.cut).toBe(0);
  clock.advance(1);
  expect([silent.cut, greeted.cut, gone.cut]).toEqual([1, 0, 0]);
});

test("Z2 a subscriber is notified until it leaves; one that does not read is cut off", async () => {
  const { bus, come } = await serving();
  const [stays, leaves, sleeps] = [come(), come(), come()];
  for (const peer of [stays, leaves, sleeps]) peer.say(hello(), ask(2, "subscribe", { topics: ["*"] }));
  expect([stays.sent, leaves.sent]).toEqual([2, 2]);
  leaves.events.closed();
  sleeps.waiting = MAX_WAITING_BYTES + 1;
  bus.publish("terminal.created", {});
  expect([stays.sent, leaves.sent, stays.cut, sleeps.cut]).toEqual([3, 2, 0, 1]);
});
