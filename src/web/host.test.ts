// Tests of the web host, with real HTTP requests and a daemon that is simulated or missing.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { put } from "../../tests/world/places.ts";
import { decodeLine, encodeLine, LineReader } from "../wire/lines.ts";
import { type ListedTerminal, parseRequest, resultLine, type StatusResult } from "../wire/rpc/rpc.ts";
import { realHttp } from "../world/real/http.ts";
import { realSockets } from "../world/real/socket.ts";
import type { Connection } from "../world/socket.ts";
import { realWorld } from "../world/world.ts";
import { startHost } from "./host.ts";
import type { StatusView } from "./status-view.ts";

const world = { ...realWorld(), sockets: realSockets(), http: realHttp() };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "holdfast-web-"));
  cleanups.push(() => rmSync(home, { recursive: true }));
  for (const name of ["run", "recovery"]) world.disk.makeDirectory(`${home}/${name}`);
  return home;
}

async function host(home = newHome(), port = 0) {
  const said: string[] = [];
  const started = await startHost(world, { home, port, say: (words) => said.push(words) });
  cleanups.push(() => started.close());
  const { origin, searchParams, port: at } = new URL(started.url);
  const token = searchParams.get("t") ?? "";
  const signedIn = await fetch(started.url, { redirect: "manual" });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { redirect: "manual", headers: { cookie, ...headers } });
  const status = async (): Promise<StatusView> => JSON.parse(await (await get("/api/status.json")).text());
  return { ...started, home, origin, port: Number(at), token, cookie, signedIn, get, status, said };
}

const STATUS: StatusResult = {
  version: "0.1.0",
  home: "/h",
  watchdog: { pid: 1 },
  daemon: { pid: 2, startedAt: "2026-01-01T00:00:00.000Z" },
  web: { pid: 3, url: null },
  recovery: { stage: "LIVE", attempt: 1, report: null },
  safeMode: { active: false, reason: null },
  counts: { terminals: 1, agents: 0, workflows: 0, prompts: 0 },
};

const TERMINAL: ListedTerminal = {
  id: "a",
  name: "build",
  lane: "main",
  recipe: { argv: ["make", "all"], cwd: "/src", env: { API_KEY: "hunter2" }, size: { cols: 80, rows: 24 } },
  generation: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  state: { kind: "ended", code: null, signal: "SIGTERM", at: "2026-01-01T00:00:00.000Z" },
  signal: undefined,
  unset: [],
  policy: "auto",
  restored: undefined,
  restorations: [],
  rollingBack: false,
  removed: false,
  clients: 0,
  lastOutputAt: null,
  bytes: 0,
};

/** A daemon that answers every method from a table; without an entry it stays silent. */
async function daemon(home: string, results: Readonly<Record<string, unknown>>) {
  put(world.disk, `${home}/run/token`, "secret\n");
  const seen: string[] = [];
  const take = (connection: Connection, line: string) => {
    const request = parseRequest(decodeLine(line) ?? {});
    if (request === undefined) return;
    seen.push(request.method === "hello" ? `hello ${request.params["token"]}` : request.method);
    const result = results[request.method];
    if (result !== undefined) connection.send(encodeLine(resultLine(request.id, result)));
  };
  const connections = new Set<Connection>();
  const listener = await world.sockets.listen(`${home}/run/daemon.sock`, (connection) => {
    const lines = new LineReader();
    connections.add(connection);
    const bytes = (more: Uint8Array) => {
      for (const line of lines.push(more) ?? []) take(connection, line);
    };
    return { bytes, closed: () => void connections.delete(connection) };
  });
  const end = () => {
    listener.close();
    for (const connection of connections) connection.destroy();
  };
  cleanups.push(end);
  return { seen, connections, end };
}

const WELL = { hello: { version: "0.1.0", protocol: 1, pid: 2 }, status: STATUS, "terminal.list": [TERMINAL] };

describe("access", () => {
  test("the address is in run/web.json, for the owner only, and opens the page", async () => {
    const { home, url, get } = await host();
    const written = await Bun.file(`${home}/run/web.json`).json();
    expect(written).toEqual({ v: 1, pid: process.pid, url });
    expect(world.disk.stat(`${home}/run/web.json`)?.mode).toBe(0o600);
    expect(world.disk.stat(`${home}/run/web-token`)?.mode).toBe(0o600);
    const page = await get("/");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<h1>Holdfast</h1>");
  });

  test("the token becomes a cookie that scripts and other sites cannot use, and leaves the address", async () => {
    const { signedIn, token } = await host();
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.get("location")).toBe("/");
    expect(signedIn.headers.get("set-cookie")).toMatch(
      new RegExp(`^holdfast-[0-9a-f]{8}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=\\d+$`),
    );
  });

  test("without the token the only answer is how to get it", async () => {
    const { get, origin, token, cookie } = await host();
    const tries = [get("/", { cookie: "" }), get("/api/status.json", { cookie: "" }), get("/x", { cookie: "" })];
    const wrong = [get("/", { cookie: `holdfast-00000000=${token}` }), fetch(`${origin}/?t=${"0".repeat(64)}`)];
    for (const value of ["", "0".repeat(64), `${token}0`, token.slice(1)])
      wrong.push(get("/", { cookie: `${cookie.split("=")[0]}=${value}` }));
    for (const answer of await Promise.all([...tries, ...wrong, fetch(`${origin}/api/status.json?t=${token}`)])) {
      expect(answer.status).toBe(401);
      expect(await answer.text()).toBe("This page opens with the address that `holdfast status` prints.\n");
    }
  });

  test("only names of this machine are served, only for our own page, only with GET", async () => {
    const { get, origin, port, cookie } = await host();
    const refused = [
      get("/", { host: "evil.example" }),
      get("/", { host: `evil.example:${port}` }),
      get("/", { host: "127.0.0.1" }),
      get("/api/status.json", { origin: "http://evil.example" }),
      get("/api/status.json", { origin: "null" }),
      get("/api/status.json", { origin: `http://127.0.0.1:${port + 1}` }),
      get("/api/status.json", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }),
      get("/api/status.json", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }),
    ];
    for (const answer of await Promise.all(refused)) expect(answer.status).toBe(403);
    const allowed = [
      get("/", { host: `localhost:${port}` }),
      get("/api/status.json", { origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }),
      get("/", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }),
    ];
    for (const answer of await Promise.all(allowed)) expect(answer.status).toBe(200);
    for (const method of ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
      const answer = await fetch(origin, { method, headers: { cookie } });
      expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "GET"]);
    }
  });

  test("a long address and a large body are refused, and an unknown path is 404", async () => {
    const { get, origin } = await host();
    expect((await get(`/?x=${"y".repeat(3000)}`)).status).toBe(414);
    expect((await fetch(origin, { method: "POST", body: "x".repeat(100_000) })).status).toBe(413);
    expect((await get("/../../etc/passwd")).status).toBe(404);
  });

  test("all responses forbid caching, framing and foreign code; the page's own code is named by its hash", async () => {
    const { get } = await host();
    for (const path of ["/", "/api/status.json", "/none"]) {
      const { headers } = await get(path);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    const page = await get("/");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; style-src 'sha256-");
    expect(policy).not.toContain("unsafe");
    const script = /<script>([\s\S]*?)<\/script>/.exec(await page.text())?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(script).digest("base64");
    expect(policy).toContain(`script-src 'sha256-${hash}'`);
  });
});

describe("what it shows", () => {
  test("what the daemon reports, without any environment", async () => {
    const on = await host();
    const { seen } = await daemon(on.home, { ...WELL, status: { ...STATUS, web: { pid: 3, url: on.url } } });
    const found = await on.status();
    expect(found.daemon).toMatchObject({
      kind: "up",
      status: STATUS,
      terminals: [{ name: "build", state: "ended", detail: "ended by SIGTERM", command: "make all", pid: null }],
    });
    expect(found.safeMode).toEqual({ active: false });
    expect(JSON.stringify(found)).not.toMatch(new RegExp(`hunter2|secret|${on.token}`));
    expect(seen).toEqual(["hello secret", "status", "terminal.list"]);
  });

  test("one connection and one request for any number of pages", async () => {
    const on = await host();
    const { seen } = await daemon(on.home, WELL);
    await Promise.all(Array.from({ length: 50 }, on.status));
    expect(seen.filter((method) => method.startsWith("hello"))).toHaveLength(1);
    expect(seen.length).toBeLessThan(50);
  });

  test("that a daemon is down, and that it is back", async () => {
    const on = await host();
    expect((await on.status()).daemon).toEqual({
      kind: "down",
      why: "The daemon has not been started on this home yet.",
    });
    const first = await daemon(on.home, WELL);
    expect((await on.status()).daemon.kind).toBe("up");
    first.end();
    expect((await on.status()).daemon).toMatchObject({
      kind: "down",
      why: expect.stringMatching(/not running|went away/),
    });
    await daemon(on.home, WELL);
    expect((await on.status()).daemon.kind).toBe("up");
  });

  test("SM-6(b) safe mode: what is off, why, how to leave and report it, even while the daemon is down", async () => {
    const on = await host();
    // As Holdfast 0.1 wrote it, which had no tunnel to turn off either.
    const file = { active: true, reason: "3 crashes in 60 s", since: "", off: ["providers", "tunnel"] };
    put(world.disk, `${on.home}/recovery/safe-mode.json`, JSON.stringify(file));
    const expected = {
      active: true,
      reason: "3 crashes in 60 s",
      off: ["provider adapters: new agent turns and workflow steps wait", "background checkpoint writes"],
      leave: "holdfast safe-mode exit",
      report: "holdfast recovery report",
    };
    expect((await on.status()).safeMode).toEqual(expected);
    await daemon(on.home, { ...WELL, status: { ...STATUS, safeMode: { active: true, reason: "told" } } });
    expect((await on.status()).safeMode).toEqual({ ...expected, reason: "told" });
  });

  test("SM-6(b) a file of safe mode that cannot be read means safe mode, and the page says so", async () => {
    const on = await host();
    const path = `${on.home}/recovery/safe-mode.json`;
    put(world.disk, path, "\0\0\0\0");
    expect((await on.status()).safeMode).toMatchObject({ active: true, reason: `${path} cannot be read` });
    await daemon(on.home, WELL);
    expect((await on.status()).safeMode).toEqual({ active: false }); // The daemon decides, if it answers.
  });
});

describe("the next host", () => {
  test("has the same address, so that an open page finds it", async () => {
    const first = await host();
    await first.close();
    const second = await host(first.home);
    expect(second.url).toBe(first.url);
    expect((await second.get("/", { cookie: first.cookie })).status).toBe(200);
  });

  test("takes another port if the last one is taken", async () => {
    const first = await host();
    const second = await host(first.home);
    expect(second.port).not.toBe(first.port);
    expect(second.token).toBe(first.token);
  });

  test("waits for a requested port", async () => {
    const first = await host();
    const home = newHome();
    const said: string[] = [];
    const refused = Promise.withResolvers<void>();
    const say = (words: string) => {
      said.push(words);
      refused.resolve();
    };
    const waiting = startHost(world, { home, port: first.port, say });
    await refused.promise;
    expect(said[0]).toContain(`cannot listen on port ${first.port} (EADDRINUSE)`);
    expect(world.disk.stat(`${home}/run/web.json`)).toBeUndefined();
    await first.close();
    const second = await waiting;
    cleanups.push(() => second.close());
    expect(new URL(second.url).port).toBe(String(first.port));
  });
});

/** The status of a request whose first lines are sent as they are; no client of ours would send such. */
function rawStatus(port: number, target: string, host = `127.0.0.1:${port}`): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let heard = "";
  const lines = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  void Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (socket) => void socket.write(lines),
      data: (_, bytes) => {
        heard += bytes.toString();
      },
      close: () => resolve(Number(heard.split(" ")[1])),
    },
  });
  return promise;
}

test("HT5 a target that is no path of ours is answered with 400, and no handler sees it", async () => {
  const { port, said } = await host();
  for (const target of ["//", "///", "//evil.example/", "//[", "//@", "/\\evil", "*", "?x", "evil.example:80"])
    expect([target, await rawStatus(port, target)]).toEqual([target, 400]);
  for (const name of ["[", "a b", "%"]) expect([name, await rawStatus(port, "/", name)]).toEqual([name, 400]);
  for (const target of ["/", "/%", "/x//y", "/[", "http://evil.example/x"])
    expect([target, await rawStatus(port, target)]).toEqual([target, 401]);
  expect(said.filter((words) => words.includes("failed"))).toEqual([]);
});

test("a failing answer reveals no reason, and the host continues", async () => {
  const failed: unknown[] = [];
  const listener = realHttp().listen({ port: 0, failed: (error) => failed.push(error) }, ({ target }) => {
    if (target === "/bad") throw new Error("the secret is hunter2");
    return { status: 200, headers: {}, body: "well" };
  });
  cleanups.push(() => listener.close());
  const bad = await fetch(`http://127.0.0.1:${listener.port}/bad`);
  expect([bad.status, await bad.text()]).toEqual([500, "Something broke here.\n"]);
  expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe("well");
  expect(failed).toHaveLength(1);
});
