// What the RPC server lets each principal do, and whom it gives places, on connections that the test plays.
import { expect, test } from "bun:test";
import { ok } from "../../src/base/result.ts";
import type { Caller } from "../../src/core/principal.ts";
import { notAllowed } from "../../src/core/principal.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { type ListenerKind, RpcServer } from "../../src/daemon/rpc-server.ts";
import { encodeLine } from "../../src/wire/lines.ts";
import type { Connection, ConnectionEvents, Sockets } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { ask, hello, TOKEN } from "./rpc-peer.ts";

const OPERATOR: Caller = { principal: "operator", pid: 7, exe: "/bin/sh", tty: "/dev/pts/1" };
const AGENT: Caller = { principal: "agent", agent: "a".repeat(32), pid: 8, exe: "/bin/sh", tty: null };

class Peer {
  readonly answers: { readonly id: number; readonly error?: { readonly data: { readonly code: string } } }[] = [];
  closed = false;
  readonly events: ConnectionEvents;

  constructor(accept: (connection: Connection) => ConnectionEvents, pid: number) {
    const nothing = () => undefined;
    const close = () => {
      this.closed = true;
      this.events.closed();
    };
    const send = (bytes: Uint8Array) => void this.answers.push(JSON.parse(Buffer.from(bytes).toString()));
    this.events = accept({
      ...{ send, waiting: 0, flush: nothing, pause: nothing, resume: nothing, peer: () => pid },
      end: close,
      destroy: close,
    });
  }

  say(...messages: readonly unknown[]): this {
    for (const message of messages) this.events.bytes(encodeLine(message));
    return this;
  }

  code(id: number): string | undefined {
    return this.answers.find((answer) => answer.id === id)?.error?.data.code;
  }
}

const DEVICES = [{ id: "device-1" }, { id: "device-2" }, { id: "phone", rights: "look" }] as const;

async function serving(kind: ListenerKind = "main") {
  const done: (Caller | undefined)[] = [];
  const looked: number[] = [];
  const attempts: string[] = [];
  const act = async (_: unknown, by?: Caller) => {
    done.push(by);
    return ok({});
  };
  const server = new RpcServer({ status: act, "rule.add": act, "not.in.the.table": act }, new Bus(), {
    ...{ clock: new SimClock(), token: TOKEN, version: "1", pid: 42 },
    devices: (token) => DEVICES.find(({ id }) => id === token),
    others: (token) => (token.startsWith("agent") ? { id: token, handlers: { "agent.call": act } } : undefined),
    callers: {
      of: (connection) => {
        const pid = connection.peer?.();
        looked.push(Number(pid));
        return pid === AGENT.pid ? AGENT : OPERATOR;
      },
      refusal: (caller, did) => {
        if (caller.principal === "operator") return undefined;
        attempts.push(did);
        return notAllowed({ caller, did });
      },
    },
  });
  let accept: ((connection: Connection) => ConnectionEvents) | undefined;
  const sockets: Sockets = {
    listen: async (_, accepting) => {
      accept = accepting;
      return { inPlace: () => true, touch: () => undefined, close: () => undefined };
    },
    connect: () => Promise.reject(new Error("a server does not connect")),
  };
  await server.listen(sockets, "/s", kind);
  const come = ({ pid }: Caller) => {
    if (accept === undefined) throw new Error("it does not listen");
    return new Peer(accept, pid ?? 0);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { done, looked, attempts, come, settled, server };
}

test("Z5 a process is looked at once, before it first changes something; looking is free", async () => {
  const { come, done, looked, settled } = await serving();
  const peer = come(OPERATOR).say(hello(), ask(2), ask(3));
  await settled();
  expect([looked, done]).toEqual([[], [undefined, undefined]]);
  peer.say(ask(4, "rule.add"), ask(5, "rule.add"));
  await settled();
  expect([looked, done.slice(2)]).toEqual([[7], [OPERATOR, OPERATOR]]);
});

test("Z5 an agent with this home's token may look; the rest is refused and recorded, known or not", async () => {
  const { come, done, attempts, settled } = await serving();
  const peer = come(AGENT).say(hello(), ask(2), ask(3, "rule.add"), ask(4, "not.in.the.table"));
  await settled();
  expect([2, 3, 4].map((id) => peer.code(id))).toEqual([undefined, "not-allowed", "not-allowed"]);
  expect([done, attempts]).toEqual([[undefined], ["rule.add", "not.in.the.table"]]);
});

test("Z6 a paired device gets what its rights cover, and nothing else", async () => {
  const { come, done, settled } = await serving();
  const peer = come(OPERATOR).say(hello({ token: "phone" }), ask(2), ask(3, "rule.add"), ask(4, "not.in.the.table"));
  await settled();
  expect([2, 3, 4].map((id) => peer.code(id))).toEqual([undefined, "device-rights", "device-rights"]);
  expect(done).toEqual([undefined]);
});

test("Z6 a browser is the one that asks, whichever process brings its token, until it is signed out", async () => {
  const { come, done, looked, settled, server } = await serving();
  const peer = come(AGENT).say(hello({ token: "device-1" }), ask(2, "rule.add"));
  const other = come(AGENT).say(hello({ token: "device-2" }));
  await settled();
  expect(looked).toEqual([]);
  expect(done).toEqual([{ principal: "operator", device: "device-1", pid: null, exe: null, tty: null }]);
  server.disconnect("device-1");
  expect([peer.closed, other.closed]).toEqual([true, false]);
  const sandboxed = (await serving("door")).come(AGENT).say(hello({ token: "device-1" }));
  expect(sandboxed.closed).toBe(true);
});

test("Z1 one agent's token cannot take all connections, nor can all of them, nor can an agent with this home's", async () => {
  const { come } = await serving();
  const bearers = (token: string, count: number) =>
    Array.from({ length: count }, () => come(AGENT).say(hello({ token }))).filter(({ closed }) => !closed).length;
  expect(bearers("agent-1", 40)).toBe(32);
  expect(bearers("agent-2", 32) + bearers("agent-3", 32) + bearers("agent-4", 32) + bearers("agent-5", 32)).toBe(96);
  const others = Array.from({ length: 400 }, () => come(AGENT).say(hello()));
  const seated = others.filter(({ closed }) => !closed).length;
  expect(seated).toBe(128); // Up to the half of all places.
  expect(others.at(-1)?.code(1)).toBe("rpc.busy");
  const friends = Array.from({ length: 200 }, () => come(OPERATOR).say(hello(), ask(2)));
  expect(friends.filter(({ closed }) => !closed)).toHaveLength(200);
});

test("Z1 at the door of the sandboxes this home's token is not known", async () => {
  const { come } = await serving("door");
  expect(come(OPERATOR).say(hello()).code(1)).toBe("rpc.token");
  expect(
    come(AGENT)
      .say(hello({ token: "agent-1" }))
      .code(1),
  ).toBeUndefined();
});
