// What a page gets through its WebSocket, and what closes it.
import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../tests/until.ts";
import {
  cleanUp,
  daemon,
  hello,
  host,
  newHome,
  STATUS,
  signedIn,
  stateIn,
  TOKEN,
  WELL,
  world,
} from "../../tests/web/host.ts";
import { Tab } from "../../tests/web/tab.ts";
import { put } from "../../tests/world/places.ts";
import { newId } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { HolderClient } from "../wire/holder/client.ts";
import { CLOSE } from "../wire/page/messages.ts";
import { sha256 } from "../world/hash.ts";
import { Browsers } from "./browsers.ts";
import { PageSocket } from "./page-socket.ts";

afterEach(cleanUp);

describe("what a page gets", () => {
  test("the outcome of what it asks the daemon for, and nothing that it may not ask", async () => {
    const on = await host();
    const tab = await on.tab();
    expect(await tab.call("safe-mode.exit")).toMatchObject({ ok: false, error: { code: "daemon.down" } });
    const { seen } = await daemon(on.home, { ...WELL, "safe-mode.exit": { active: false } });
    tab.say({ type: "watch", topics: ["*"] });
    await tab.sees("daemon", (message) => message.type === "daemon" && message.up);
    expect(await tab.call("safe-mode.exit")).toEqual({ ok: true, value: { active: false } });
    const refused = { ok: false, error: { code: "page.method" } };
    for (const method of ["device.link", "device.redeem", "agent.call", "agent.call-taken", "hello", "subscribe", "gc"])
      expect(await tab.call(method)).toMatchObject(refused);
    for (const method of ["constructor", "web.none", "terminal.none", ""])
      expect(await tab.call(method)).toMatchObject(refused);
    expect(new Set(seen)).toEqual(new Set([`hello ${TOKEN}`, 'subscribe {"topics":["*"]}', "safe-mode.exit"]));
  });

  test("DL2 that a daemon is down and that it is back, and its notices again from then on", async () => {
    const on = await host();
    const tab = await on.tab();
    tab.say({ type: "watch", topics: ["terminal.*"] });
    await tab.sees("daemon", (message) => message.type === "daemon" && !message.up);
    for (const life of [1, 2]) {
      const { publish, end, seen } = await daemon(on.home, WELL);
      const ups = () => tab.seen.filter((message) => message.type === "daemon" && message.up);
      await until("the page learns that it is up", () => ups().length === life, ups);
      expect(seen).toContain('subscribe {"topics":["terminal.*"]}');
      publish("terminal.changed", { life });
      await tab.sees("notice", (message) => JSON.stringify(message).includes(`{"life":${life}}`));
      end();
    }
    expect((await stateIn(tab)).daemon.up).toBe(false);
  });

  test("SM-6(b) safe mode: what is off, why, how to leave and report it, even while the daemon is down", async () => {
    const on = await host();
    // As Holdfast 0.1 wrote it. This home has no tunnel to turn off.
    const file = { active: true, reason: "3 crashes in 60 s", since: "", off: ["providers", "tunnel"] };
    put(world.disk, `${on.home}/recovery/safe-mode.json`, JSON.stringify(file));
    const expected = {
      active: true,
      reason: "3 crashes in 60 s",
      off: ["provider adapters: new agent turns and workflow steps wait", "background checkpoint writes"],
      leave: "holdfast safe-mode exit",
      report: "holdfast recovery report",
    };
    const tab = await on.tab();
    expect((await stateIn(tab)).safeMode).toEqual(expected);
    await daemon(on.home, { ...WELL, status: { ...STATUS, safeMode: { active: true, reason: "told" } } });
    const told = async () => (await stateIn(tab)).safeMode;
    await until(
      "the daemon's word counts",
      async () => Bun.deepEquals(await told(), { ...expected, reason: "told" }),
      told,
    );
  });

  test("SM-6(b) a file of safe mode that cannot be read means safe mode, and the page says so", async () => {
    const on = await host();
    const path = `${on.home}/recovery/safe-mode.json`;
    put(world.disk, path, "\0\0\0\0");
    const tab = await on.tab();
    expect((await stateIn(tab)).safeMode).toMatchObject({ active: true, reason: `${path} cannot be read` });
    await daemon(on.home, WELL);
    const told = async () => (await stateIn(tab)).safeMode; // The daemon decides, if it answers.
    await until("the daemon's word counts", async () => !(await told()).active, told);
  });

  test("web.state says that a daemon is silent within a bounded time", async () => {
    const on = await host();
    const { status: _, ...mute } = WELL;
    await daemon(on.home, mute);
    const tab = await on.tab();
    tab.say({ type: "watch", topics: [] });
    await tab.sees("daemon", (message) => message.type === "daemon" && message.up);
    expect((await stateIn(tab)).daemon).toMatchObject({ up: false, why: expect.stringContaining("does not answer") });
  });

  test("web.reports lists recoveries and crashes, and web.bundle a text without this home's name", async () => {
    const on = await host();
    world.disk.makeDirectory(`${on.home}/recovery/reports`);
    const item = { what: "terminal", id: "t", name: "n", fate: "restarted", reason: "", next: "" };
    const report = { at: "2026-01-01T00:00:00.000Z", cause: "daemon crash", items: [item, item], log: null, tookMs: 7 };
    put(world.disk, `${on.home}/recovery/reports/2026-01-01.json`, JSON.stringify(report));
    const crash = { name: "daemon", pid: 1, exitCode: null, signal: "SIGKILL", reason: "SIGNAL", time: report.at };
    const before = { ...crash, time: "2025-12-31T00:00:00.000Z" };
    put(world.disk, `${on.home}/recovery/last-crash.json`, JSON.stringify({ ...crash, history: [before, crash] }));
    const tab = await on.tab();
    expect(await tab.call("web.reports")).toEqual({
      ok: true,
      value: {
        reports: [{ name: "2026-01-01", at: report.at, cause: "daemon crash", tookMs: 7, fates: { restarted: 2 } }],
        crashes: [crash, before],
      },
    });
    const bundle = await tab.call("web.bundle");
    const { text } = (bundle.ok ? bundle.value : {}) as { text: string };
    for (const part of ["Holdfast 0.1.0", '"signal":"SIGKILL"', '"restarted":2', "holdfast doctor:\n"])
      expect(text).toContain(part);
    expect(text).toMatch(/holdfast doctor:\n.*runtime/s);
    expect(text).not.toContain(on.home);
    expect(text).not.toMatch(/[0-9a-f]{32}/);
  });
});

test("HS4 how an earlier generation ended is not the end of the terminal", async () => {
  const on = await host();
  const id = newId(world.random.bytes(16));
  const directory = `${on.home}/terminals/${id}`;
  for (const path of [`${on.home}/terminals`, directory]) world.disk.makeDirectory(path);
  const size = { cols: 80, rows: 24 };
  const recipe = { argv: ["sh"], cwd: "/", env: {}, size, tape: { segmentBytes: 1, maxBytes: 1 } };
  const spec = { v: 1, id, generation: 2, mode: "pty", ...recipe, token: "t", socket: "/none" };
  put(world.disk, `${directory}/holder.json`, JSON.stringify(spec));
  const exit = { v: 1, generation: 1, code: 3, signal: null, bootId: "b", offset: 0, at: "now" };
  put(world.disk, `${directory}/exit.json`, JSON.stringify(exit));
  const tab = await on.tab();
  tab.say({ type: "open", stream: 1, terminal: id });
  expect(await tab.sees("closed")).toMatchObject({ exit: null, why: { code: "not-running" } });
  put(world.disk, `${directory}/exit.json`, JSON.stringify({ ...exit, generation: 2 }));
  const ended = Promise.withResolvers<number | null>();
  const client = new HolderClient(
    tab.dial(id),
    { token: "", writer: "w" },
    { ended: ({ code }) => ended.resolve(code) },
  );
  expect(await client.connect()).toMatchObject({ ok: true, value: { generation: 2, size } });
  expect(await ended.promise).toBe(3);
});

test("PS4 a tab that does not read is closed, and what it was to get is dropped", () => {
  const done: string[] = [];
  const home = newHome();
  signedIn(home);
  const never = async () => Promise.withResolvers<never>().promise;
  const browsers = new Browsers({ ...world, home, dial: never, token: () => undefined });
  const socket = {
    waiting: 33 << 20,
    send: () => done.push("send"),
    close: () => done.push("close"),
    destroy: () => done.push("destroy"),
  };
  const sat = { sit: () => true, leave: () => done.push("leave"), failed: () => undefined, own: async () => ok(null) };
  const tab = new PageSocket(socket, { world: { ...world, home }, dial: never, browsers, ...sat });
  tab.message(hello(TOKEN));
  expect(done).toEqual(["leave", "destroy"]);
  tab.message(hello(TOKEN));
  expect(done).toEqual(["leave", "destroy"]);
});

test("PS3 a Fault of the disk ends the call, and nothing else", async () => {
  const on = await host();
  const tab = await on.tab();
  for (const path of ["reports", "reports/x.json"]) world.disk.makeDirectory(`${on.home}/recovery/${path}`);
  expect(await tab.call("web.reports")).toMatchObject({ ok: false, error: { code: "EISDIR" } });
  expect((await stateIn(tab)).daemon.up).toBe(false);
});

describe("PS3 what is wrong closes that tab, and no other", () => {
  test("messages that are not in the protocol, or too large", async () => {
    const { tab } = await host();
    const other = await tab();
    const wrong: (string | Uint8Array<ArrayBuffer>)[] = [
      ...["{", "[]", "null", '{"type":"x"}', '{"type":"constructor"}', '{"type":"call","id":-1}', hello(TOKEN)],
      '{"type":"open","stream":-1,"terminal":"x"}',
      JSON.stringify({ type: "watch", topics: Array(33).fill("a") }),
      new Uint8Array(3),
    ];
    for (const message of wrong) {
      const one = await tab();
      one.raw(message);
      expect([message, (await one.closed).code]).toEqual([message, CLOSE.broken]);
    }
    const large = await tab();
    large.raw("x".repeat(2 << 20));
    expect((await large.closed).code).toBeGreaterThanOrEqual(1000);
    expect((await stateIn(other)).daemon.up).toBe(false);
  });

  test("streams: a number twice, too many, an unknown terminal, bytes for a stream that is not there", async () => {
    const { tab } = await host();
    const one = await tab();
    one.raw(new Uint8Array([0, 0, 0, 9, 1, 2, 3]));
    one.say({ type: "took", stream: 9, bytes: 1 });
    one.say({ type: "close", stream: 9 });
    for (const terminal of ["none", "../agents/x", "0".repeat(32)]) one.say({ type: "open", stream: 9, terminal });
    const gone = () => one.seen.filter((message) => message.type === "closed" && message.why?.code === "no-terminal");
    await until(
      "each is refused",
      () => gone().length === 3,
      () => one.seen,
    );
    expect((await stateIn(one)).daemon.up).toBe(false);
  });

  test("PS1 a tab that does not say hello in time", async () => {
    const soon = (ms: number, fn: () => void) => world.clock.after(ms === 5_000 ? 1 : ms, fn);
    const { origin } = await host(undefined, 0, { ...world.clock, after: soon });
    expect(await new Tab(origin).closed).toEqual({ code: CLOSE.signedOut, reason: "There was no hello." });
  });

  test("W4 more tabs than a browser may have, and tabs that say nothing", async () => {
    const { origin, tab } = await host();
    const silent = Array.from({ length: 40 }, () => new Tab(origin));
    await Promise.all(silent.map(({ opened }) => opened));
    expect((await silent[0]?.closed)?.code).toBe(CLOSE.tooMany); // The one that has been silent longest.
    const tabs = await Promise.all(Array.from({ length: 32 }, tab));
    const late = new Tab(origin);
    await late.opened;
    late.raw(hello(TOKEN));
    expect((await late.closed).code).toBe(CLOSE.tooMany);
    for (const one of tabs) expect(one.seen.map(({ type }) => type)).toEqual(["welcome"]);
  });

  test("too many calls at once are refused, one by one", async () => {
    const on = await host();
    const { status: _, ...mute } = WELL;
    await daemon(on.home, mute);
    const one = await on.tab();
    one.say({ type: "watch", topics: [] });
    await one.sees("daemon", (message) => message.type === "daemon" && message.up);
    for (let id = 1; id <= 130; id += 1) one.say({ type: "call", id, method: "status", params: {} });
    const busy = () => one.seen.filter((message) => message.type === "refused" && message.error.code === "page.busy");
    await until(
      "two are refused",
      () => busy().length === 2,
      () => one.seen.slice(-3),
    );
    expect(await (await on.tab()).call("web.reports")).toMatchObject({ ok: true });
  });
});

test("PS5 a device that may only look is refused what the host does, and reads the rest", async () => {
  const on = await host();
  const [at, key] = [new Date().toISOString(), "a".repeat(64)];
  const device = { id: "d", name: "phone", hash: sha256(TOKEN), madeAt: at, usedAt: at, key, rights: "look" };
  put(world.disk, `${on.home}/recovery/devices.json`, JSON.stringify({ v: 1, links: [], devices: [device] }));
  const tab = await on.tab();
  expect(tab.seen[0]).toMatchObject({ type: "welcome", device: "d", rights: "look" });
  for (const method of ["web.new", "web.new-agent", "web.turn-tunnel"])
    expect(await tab.call(method, {})).toMatchObject({ ok: false, error: { code: "device-rights" } });
  expect(await tab.call("web.tunnel")).toMatchObject({ ok: true, value: { enrolled: false } });
});

test("OM2 the tunnel is turned off and on in a file, if this home is enrolled; a notice of it reaches every tab", async () => {
  const on = await host();
  const tab = await on.tab();
  expect(await tab.call("web.turn-tunnel", { wanted: "off" })).toMatchObject({ error: { code: "not-enrolled" } });
  expect(await tab.call("web.turn-tunnel", { wanted: "up" })).toMatchObject({ error: { code: "bad-params" } });
  const pem = "-----BEGIN none";
  const files = { authority: pem, certificate: pem, key: pem };
  world.disk.makeDirectory(`${on.home}/tunnel`);
  const identity = { v: 1, relay: { host: "r", port: 1 }, id: "h", enrolledAt: "", ...files };
  put(world.disk, `${on.home}/tunnel/identity.json`, JSON.stringify(identity));
  for (const wanted of ["off", "on"])
    expect(await tab.call("web.turn-tunnel", { wanted })).toMatchObject({ ok: true, value: { wanted, relay: "r:1" } });
  tab.say({ type: "watch", topics: ["*"] });
  await tab.sees("daemon");
  on.tabs.tell("tunnel.changed");
  expect(await tab.sees("notice")).toMatchObject({ topic: "tunnel.changed" });
});
