// Tests of the web host's answers to requests, and of who is let in.
import { afterEach, describe, expect, test } from "bun:test";
import { cleanUp, cleanups, daemon, hello, host, newHome, signedIn, TOKEN, WELL, world } from "../../tests/web/host.ts";
import { Tab } from "../../tests/web/tab.ts";
import { put } from "../../tests/world/places.ts";
import { CLOSE } from "../wire/page/messages.ts";
import { realHttp } from "../world/real/http.ts";
import { startHost } from "./host.ts";

afterEach(cleanUp);

describe("access", () => {
  test("the address is in run/web.json, for the owner only, without any secret, and opens the page", async () => {
    const { home, url, get } = await host();
    const written = await Bun.file(`${home}/run/web.json`).json();
    expect(written).toEqual({ v: 1, pid: process.pid, url });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(world.disk.stat(`${home}/run/web.json`)?.mode).toBe(0o600);
    const page = await get("/");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<title>Holdfast</title>");
    expect(page.headers.get("set-cookie")).toBeNull();
  });

  test("G3, PS1 without a browser's own token a tab is closed, and learns how to get one", async () => {
    const { closeAfter } = await host();
    const first = [
      ...["", "0".repeat(64), `${TOKEN}0`].map(hello),
      ...["{", "[]", '{"type":"call","id":1,"method":"status","params":{}}', '{"type":"hello"}'],
      new Uint8Array([0, 0, 0, 1, 5]),
    ];
    for (const message of first) {
      const { code, reason } = await closeAfter(message);
      expect([message, code]).toEqual([message, CLOSE.signedOut]);
      expect(reason).toBe("This browser is not signed in. `holdfast open` prints a link that does it.");
    }
  });

  test("BW1, PS2 a browser that was signed out is closed with its next message, also without a daemon", async () => {
    const { home, tab, closeAfter } = await host();
    const [one, other] = [await tab(), await tab()];
    signedIn(home, "8".repeat(64));
    one.say({ type: "watch", topics: ["*"] });
    expect((await one.closed).code).toBe(CLOSE.signedOut);
    other.raw(new Uint8Array([0, 0, 0, 1, 5]));
    expect((await other.closed).code).toBe(CLOSE.signedOut);
    put(world.disk, `${home}/recovery/devices.json`, "[");
    expect((await closeAfter(hello("8".repeat(64)))).code).toBe(CLOSE.signedOut);
  });

  test("PS2 a browser that the daemon disconnects, because it was signed out, is closed without asking", async () => {
    const { home, tab } = await host();
    const { end, seen } = await daemon(home, WELL);
    const one = await tab();
    one.say({ type: "watch", topics: ["*"] });
    await one.sees("daemon", (message) => message.type === "daemon" && message.up);
    signedIn(home, "8".repeat(64));
    end();
    expect((await one.closed).code).toBe(CLOSE.signedOut);
    expect(seen[0]).toBe(`hello ${TOKEN}`); // The daemon sees the browser.
  });

  test("BW2 many wrong tokens are refused with less, and a right one still works", async () => {
    const { closeAfter, tab } = await host();
    const codes: number[] = [];
    for (let at = 0; at < 63; at += 1) codes.push((await closeAfter(hello("0".repeat(64)))).code);
    expect(codes.filter((code) => code === CLOSE.signedOut)).toHaveLength(60);
    expect(codes.filter((code) => code === CLOSE.tooMany)).toHaveLength(3);
    expect((await tab()).seen).toHaveLength(1);
  });

  test("a link is exchanged by the daemon, which gets the browser's name; the host keeps nothing", async () => {
    const on = await host();
    expect((await on.post("/api/session", { link: "abc" })).status).toBe(409); // There is no daemon.
    const { seen } = await daemon(on.home, { ...WELL, "device.redeem": { id: "x", token: "its own" } });
    const answer = await on.post("/api/session", { link: "abc" }, { "user-agent": "Browser/1" });
    expect([answer.status, await answer.json()]).toEqual([200, { id: "x", token: "its own" }]);
    expect(seen).toEqual(["hello secret", 'device.redeem {"link":"abc","name":"Browser/1"}']);
    expect((await on.post("/api/session", { link: 1 })).status).toBe(400);
    expect((await on.post("/api/session", "not an object")).status).toBe(400);
  });

  test("G1, G2 only names of this machine are served, only for our own page, only as it asks", async () => {
    const { get, post, origin, port } = await host();
    const refused = [
      get("/", { host: "evil.example" }),
      get("/", { host: `evil.example:${port}` }),
      get("/", { host: "127.0.0.1" }),
      get("/main.js", { origin: "http://evil.example" }),
      get("/main.js", { origin: "null" }),
      get("/main.js", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }),
      get("/main.js", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }),
      get("/api/socket"),
      post("/api/session", { link: "x" }, { origin: `http://127.0.0.1:${port + 1}` }),
      fetch(`${origin}/api/session`, { method: "POST", body: '{"link":"x"}' }),
    ];
    for (const answer of await Promise.all(refused)) expect(answer.status).toBe(403);
    const allowed = [
      get("/", { host: `localhost:${port}` }),
      get("/main.js", { origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }),
      get("/", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }),
    ];
    for (const answer of await Promise.all(allowed)) expect(answer.status).toBe(200);
    for (const method of ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
      const answer = await fetch(origin, { method, headers: { origin } });
      expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "GET"]);
    }
    expect((await get("/api/session")).headers.get("allow")).toBe("POST");
    expect((await get("/api/socket", { origin })).status).toBe(426);
  });

  test("G1, G2 a WebSocket is opened only by our own page under our own name", async () => {
    const { origin, port } = await host();
    const headers: Record<string, string>[] = [
      {},
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${port + 1}` },
      { origin, "sec-fetch-site": "cross-site", "sec-fetch-mode": "websocket" },
      { origin, host: `evil.example:${port}` },
    ];
    for (const one of headers) expect([one, await new Tab(origin, one).opened]).toEqual([one, false]);
    const ours = { origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "websocket" };
    const tab = new Tab(origin, ours);
    expect(await tab.opened).toBe(true);
    tab.close();
  });

  test("a long address and a large body are refused, and an unknown path is 404", async () => {
    const { get, origin } = await host();
    expect((await get(`/?x=${"y".repeat(3000)}`)).status).toBe(414);
    expect((await fetch(origin, { method: "POST", body: "x".repeat(100_000) })).status).toBe(413);
    expect((await get("/../../etc/passwd")).status).toBe(404);
    expect((await get("/api/status.json")).status).toBe(404);
  });

  test("A1, A2 all answers forbid framing and foreign code; each page has a nonce of its own", async () => {
    const { get } = await host();
    for (const path of ["/", "/main.js", "/none", "/api/none"]) {
      const { headers } = await get(path);
      expect(headers.get("cache-control")).toBe(path === "/main.js" ? "no-cache" : "no-store");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; ");
    }
    const [one, two] = [await get("/"), await get("/")];
    const policy = one.headers.get("content-security-policy") ?? "";
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("script-src 'self'; style-src 'self' 'nonce-");
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(Buffer.from(nonce, "base64")).toHaveLength(16);
    expect(await one.text()).toContain(`content="${nonce}"`);
    expect(two.headers.get("content-security-policy")).not.toContain(nonce);
  });

  test("a file of the page is compressed for those who take it, and sent again only if it has changed", async () => {
    const { origin } = await host();
    const get = (headers: Record<string, string>) => fetch(`${origin}/main.js`, { headers, decompress: false });
    const [plain, packed] = [await get({ "accept-encoding": "br" }), await get({ "accept-encoding": "gzip, br" })];
    expect([plain.headers.get("content-encoding"), packed.headers.get("content-encoding")]).toEqual([null, "gzip"]);
    expect(Buffer.from(Bun.gunzipSync(await packed.arrayBuffer())).toString()).toBe(await plain.text());
    const etag = plain.headers.get("etag") ?? "";
    const again = await get({ "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await get({ "if-none-match": '"x"' })).status).toBe(200);
  });
});

describe("the next host", () => {
  test("has the same address, so that an open page finds it", async () => {
    const first = await host();
    await first.close();
    const second = await host(first.home);
    expect(second.url).toBe(first.url);
    expect((await second.get("/")).status).toBe(200);
  });

  test("takes another port if the last one is taken", async () => {
    const first = await host();
    const second = await host(first.home);
    expect(second.port).not.toBe(first.port);
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
    expect([target, await rawStatus(port, target)]).toEqual([target, target === "/" ? 200 : 404]);
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

test("W5 if the page cannot be built, that request fails, the host gives up once it was met, and tabs stay", async () => {
  const home = newHome();
  const why: string[] = [];
  const said: string[] = [];
  const files = () => Promise.reject(new Error("no directory"));
  const giveUp = (words: string) => void why.push(words);
  const started = await startHost(world, { home, port: 0, say: (words) => said.push(words), giveUp, files });
  cleanups.push(() => started.close());
  signedIn(home);
  const tab = await Tab.of(new URL(started.url).origin, TOKEN);
  expect(why).toEqual([]);
  expect((await fetch(started.url)).status).toBe(500);
  expect(why).toEqual(["the page could not be built: Error: no directory"]);
  expect(said.at(-1)).toContain("no directory");
  expect((await tab.call("web.state")).ok).toBe(true);
});
