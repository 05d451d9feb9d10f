// The daemon's RPC over real unix sockets: strangers, garbage, slow readers, and clients whose daemon goes away.
import { expect, test } from "bun:test";
import { existsSync, unlinkSync } from "node:fs";
import { Fault } from "../../src/base/fault.ts";
import { ok, refused } from "../../src/base/result.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { RpcServer } from "../../src/daemon/rpc-server.ts";
import { encodeLine, MAX_LINE } from "../../src/wire/lines.ts";
import { GONE, RpcClient } from "../../src/wire/rpc/client.ts";
import { SimClock } from "../sim/clock.ts";
import { until } from "../until.ts";
import { ask, client, closers, hello, Raw, serve, sockets, TOKEN } from "./rpc-peer.ts";

test("a client with the token gets the server's identity, and its answers", async () => {
  const { path } = await serve();
  const raw = await Raw.to(path);
  raw.say(hello(), ask(2));
  await until(
    "both answers",
    () => raw.answers().length === 2,
    () => raw.answers().length,
  );
  expect(raw.answers()).toEqual([
    { jsonrpc: "2.0", id: 1, result: { version: "1.2.3", protocol: 1, pid: 42 } },
    { jsonrpc: "2.0", id: 2, result: { version: "1" } },
  ]);
});

test("a client with another token may call the methods meant for it, and no others", async () => {
  const ask9 = async () => ok({ heard: 9 });
  const { path, done } = await serve({}, (token) =>
    token === "agent" ? { id: "a1", handlers: { call: ask9 } } : undefined,
  );
  const raw = await Raw.to(path);
  raw.say(hello({ token: "agent" }), ask(2, "call"), ask(3, "status"), ask(4, "subscribe", { topics: ["terminal.*"] }));
  await until(
    "all answers",
    () => raw.answers().length === 4,
    () => raw.answers().length,
  );
  expect(raw.answers()).toContainEqual({ jsonrpc: "2.0", id: 2, result: { heard: 9 } });
  const no = { error: { data: { code: "rpc.method" } } };
  expect(raw.answers().slice(1, 3)).toMatchObject([
    { id: 3, ...no },
    { id: 4, ...no },
  ]);
  expect(done).toEqual([]);
});

test.each<[string, unknown, string]>([
  ["a wrong token", hello({ token: "b".repeat(64) }), "rpc.token"],
  ["a token of another length", hello({ token: "" }), "rpc.token"],
  ["no token", hello({ token: undefined }), "rpc.token"],
  ["a request before hello", ask(1), "rpc.token"],
  ["another protocol", hello({ protocol: 2 }), "rpc.protocol"],
  ["rubbish", "rubbish\n", "rpc.parse"],
  ["a request without an id", { jsonrpc: "2.0", method: "status" }, "rpc.parse"],
  ["an array", [hello()], "rpc.parse"],
  ["NUL bytes", "\0\0\0\n", "rpc.parse"],
])("%s is refused and closed, and nothing that stands behind it is done", async (_, first, code) => {
  const { path, done } = await serve();
  const raw = await Raw.to(path);
  raw.say(first, hello(), ask(2), ask(3));
  await raw.ends();
  expect(raw.answers()).toMatchObject([{ error: { data: { code } } }]);
  expect(done).toEqual([]);
});

test("garbage after hello closes its own connection and no other", async () => {
  const { path, done } = await serve();
  const good = await client(path);
  const raw = await Raw.to(path);
  raw.say(hello(), ask(2), "}{\n", ask(3));
  await raw.ends();
  expect(done).toEqual(["status"]);
  expect((await good.call("status", {})).ok).toBe(true);
});

test("a line without an end is not buffered forever", async () => {
  const { path } = await serve();
  const raw = await Raw.to(path);
  raw.say(hello());
  raw.say("x".repeat(MAX_LINE + 1));
  await raw.ends();
});

test("requests that arrive byte by byte, and split characters, are understood", async () => {
  const names: unknown[] = [];
  const { path } = await serve({
    "terminal.rename": async ({ name }) => {
      names.push(name);
      return ok({});
    },
  });
  const raw = await Raw.to(path);
  const bytes = Buffer.concat([encodeLine(hello()), encodeLine(ask(2, "terminal.rename", { name: "ä€😀" }))]);
  for (let at = 0; at < bytes.length; at += 1) raw.send(bytes.subarray(at, at + 1));
  await until(
    "the name",
    () => names.length === 1,
    () => names.length,
  );
  expect(names).toEqual(["ä€😀"]);
});

test.each(["nothing", "toString", "__proto__", "constructor", ""])(
  "an unknown method %j is refused",
  async (method) => {
    const { path } = await serve();
    const raw = await Raw.to(path);
    raw.say(hello(), ask(2, method));
    await until(
      "an answer",
      () => raw.answers().length === 2,
      () => raw.answers().length,
    );
    expect(raw.answers()[1]).toMatchObject({ id: 2, error: { code: -32601, data: { code: "rpc.method" } } });
    raw.say(ask(3));
    await until(
      "it goes on",
      () => raw.answers().length === 3,
      () => raw.answers().length,
    );
  },
);

test("a refusal is sent with code, message and hint; a Fault in one answer affects only that answer", async () => {
  const { path } = await serve({
    "terminal.remove": async () => refused("still-running", "It runs.", "End it."),
    "recovery.report": () => Promise.reject(new Fault({ code: "EIO", operation: "read", path: "/x" })),
  });
  const asking = await client(path);
  expect(await asking.call("terminal.remove", { id: "x" })).toEqual({
    ok: false,
    error: { code: "still-running", message: "It runs.", hint: "End it." },
  });
  expect(await asking.call("recovery.report", { name: null })).toMatchObject({ ok: false, error: { code: "EIO" } });
  expect((await asking.call("status", {})).ok).toBe(true);
});

test("Z4 a bug in one answer, or an answer that cannot be written, affects only that answer, and is logged without what was sent", async () => {
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  const { path, said } = await serve({
    "terminal.remove": ({ id }) => Promise.reject(new TypeError(`${id} is not a function`)),
    "terminal.list": async () => ok(deep),
  });
  const asking = await client(path);
  expect(await asking.call("terminal.remove", { id: "s3cret" })).toMatchObject({
    ok: false,
    error: { code: "bug", message: "holdfast has a bug: s3cret is not a function" },
  });
  expect(await asking.call("terminal.list", {})).toMatchObject({ ok: false, error: { code: "bug" } });
  expect((await asking.call("status", {})).ok).toBe(true);
  expect(said).toEqual([
    expect.stringMatching(/^a request \(terminal\.remove\) .* bug of holdfast: TypeError\n *at .*rpc\.test\.ts:/),
    expect.stringMatching(/^a request \(terminal\.list\) .* bug of holdfast: RangeError/),
  ]);
  expect(said.join()).not.toContain("s3cret");
});

test("answers are sent as they are ready, each for its request", async () => {
  const slow = Promise.withResolvers<void>();
  const { path } = await serve({
    "terminal.list": async () => {
      await slow.promise;
      return ok([]);
    },
  });
  const asking = await client(path);
  const list = asking.call("terminal.list", {});
  expect((await asking.call("status", {})).ok).toBe(true);
  slow.resolve();
  expect(await list).toEqual({ ok: true, value: [] });
});

test("too many concurrent requests close the connection, and the excess is not executed", async () => {
  let asked = 0;
  const { path } = await serve({
    "terminal.list": () => {
      asked += 1;
      return new Promise(() => undefined);
    },
  });
  const raw = await Raw.to(path);
  raw.say(hello(), ...Array.from({ length: 400 }, (_, n) => ask(n + 2, "terminal.list")));
  await raw.ends();
  expect(asked).toBe(256);
});

test("a client whose daemon goes away is notified: pending calls, later calls, and its end", async () => {
  const { path, server } = await serve({ "terminal.list": () => new Promise(() => undefined) });
  const asking = await client(path);
  const open = asking.call("terminal.list", {});
  server.close();
  expect(await open).toEqual({ ok: false, error: GONE });
  await asking.closed;
  expect(await asking.call("status", {})).toEqual({ ok: false, error: GONE });
});

test("a client with the wrong token is refused with a message, and leaves no connection open", async () => {
  const { path } = await serve();
  const stranger = await RpcClient.connect((events) => sockets.connect(path, events), "wrong", "1");
  expect(stranger).toMatchObject({ ok: false, error: { code: "rpc.token" } });
});

test("a socket removed under us is bound again; connected clients notice nothing", async () => {
  const { path, server } = await serve();
  const old = await client(path);
  await server.look(sockets);
  unlinkSync(path);
  await server.look(sockets);
  expect((await (await client(path)).call("status", {})).ok).toBe(true);
  expect((await old.call("status", {})).ok).toBe(true);
});

test("a displaced daemon neither removes its successor's socket nor takes it back", async () => {
  const first = await serve();
  unlinkSync(first.path);
  const second = new RpcServer({}, new Bus(), { clock: new SimClock(), token: TOKEN, version: "2", pid: 43 });
  await second.listen(sockets, first.path);
  closers.push(() => second.close());
  expect(first.server.look(sockets)).rejects.toThrow("EADDRINUSE");
  first.server.close();
  expect(existsSync(first.path)).toBe(true);
  const raw = await Raw.to(first.path);
  raw.say(hello());
  await until(
    "the successor answers",
    () => raw.answers().length === 1,
    () => raw.answers().length,
  );
  expect(raw.answers()).toMatchObject([{ result: { pid: 43 } }]);
});

test("Z1 a client that sends nothing, or half a hello, is closed after ten seconds; after hello it may be silent forever", async () => {
  const { path, clock } = await serve();
  const [silent, half, greeted, late] = await Promise.all([Raw.to(path), Raw.to(path), Raw.to(path), Raw.to(path)]);
  half.say('{"jsonrpc":"2.0"');
  greeted.say(hello());
  await until(
    "it was greeted",
    () => greeted.answers().length === 1,
    () => greeted.answers().length,
  );
  await until(
    "all have come",
    () => clock.pendingTimers === 3,
    () => clock.pendingTimers,
  );
  await clock.advance(9_999);
  late.say(hello());
  await until(
    "the late client was answered too",
    () => late.answers().length === 1,
    () => late.answers().length,
  );
  await clock.advance(1);
  await until(
    "the two are closed",
    () => silent.closed && half.closed,
    () => [silent.closed, half.closed],
  );
  await clock.advance(3_600_000);
  expect([greeted.closed, late.closed, clock.pendingTimers]).toEqual([false, false, 0]);
});
