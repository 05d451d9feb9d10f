// Passages of a proxy with a network that the test plays.
import { expect, test } from "bun:test";
import { Fault } from "../base/fault.ts";
import { upstreamOf } from "../wire/proxy/upstream.ts";
import type { Destination } from "../world/network.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { Passages } from "./passages.ts";

class End implements Connection {
  sent = "";
  waiting = 0;
  isPaused = false;
  isEnded = false;
  events: ConnectionEvents | undefined;
  send(bytes: Uint8Array): void {
    this.sent += Buffer.from(bytes).toString("latin1");
  }
  flush(): void {
    this.waiting = 0;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.isEnded = true;
    this.events?.closed();
  }
  say(text: string): void {
    this.events?.bytes(Buffer.from(text, "latin1"));
  }
}

class Site {
  readonly names = new Map<string, readonly string[]>([
    ["a.org", ["8.8.8.8"]],
    ["near.org", ["127.0.0.1"]],
    ["both.org", ["10.0.0.1", "9.9.9.9"]],
    ["metadata.org", ["169.254.169.254"]],
    ["me.org", ["44.0.0.1"]],
    ["llm.corp", ["10.0.0.9"]],
  ]);
  readonly reached: Destination[] = [];
  readonly outside: End[] = [];
  /** What became TLS, over which connection. */
  readonly secured: object[] = [];
  readonly down = new Set<string>();
  now = 0;
  readonly passages: Passages;

  constructor(
    egress: readonly string[],
    service: { url: string; identity: Record<string, string> } | null = null,
    env: Record<string, string> = {},
  ) {
    const network = {
      resolve: async (name: string) => {
        const found = this.names.get(name) ?? (/^[\d.:]+$/.test(name) ? [name] : undefined);
        if (found === undefined) throw new Fault({ code: "ENOTFOUND", operation: "resolve", path: name });
        return found;
      },
      connect: async (to: Destination, events: ConnectionEvents) => {
        this.reached.push(to);
        if (this.down.has(to.address))
          throw new Fault({ code: "ECONNREFUSED", operation: "connect", path: to.address });
        const end = new End();
        end.events = events;
        this.outside.push(end);
        return end;
      },
      secure: async (connection: Connection, name: string, events: ConnectionEvents) => {
        if (name === "forged.org") throw new Fault({ code: "CERT", operation: "connect", path: name });
        const end = new End();
        end.events = events;
        this.secured.push({ name, over: this.outside.findIndex((one) => Object.is(one, connection)) });
        this.outside.push(end);
        return end;
      },
      listen: () => undefined,
      own: () => ["44.0.0.1"],
    };
    const order = { socket: "/s", egress, service, upstream: upstreamOf(env) };
    this.passages = new Passages({ network, order, elapsed: () => this.now });
  }

  call(): End {
    const inside = new End();
    inside.events = this.passages.accept(inside);
    return inside;
  }

  async ask(text: string): Promise<End> {
    const inside = this.call();
    inside.say(text);
    await turns();
    return inside;
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const connect = (to: string) => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`;

test("PS1 a tunnel leads to a listed host, by the address that was judged, and passes bytes both ways", async () => {
  const site = new Site(["a.org"]);
  const inside = await site.ask(`${connect("a.org:443")}early`);
  expect(site.reached).toEqual([{ address: "8.8.8.8", port: 443, tls: undefined }]);
  expect(inside.sent).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
  expect(inside.isPaused).toBe(false);
  inside.say(" late");
  expect(site.outside[0]?.sent).toBe("early late");
  site.outside[0]?.say("back");
  expect(inside.sent).toEndWith("\r\n\r\nback");
  site.outside[0]?.events?.closed();
  expect(inside.isEnded).toBe(true);
});

test("PS1 a host or port that is not listed is refused before anything is asked of the network", async () => {
  const site = new Site(["a.org"]);
  for (const to of ["b.org:443", "a.org:22", "127.0.0.1:443", "A.ORG.evil.org:443"]) {
    const inside = await site.ask(connect(to));
    expect(inside.sent).toStartWith("HTTP/1.1 403 Forbidden");
    expect(inside.sent).toContain("--egress");
    expect(inside.isEnded).toBe(true);
  }
  expect(site.reached).toEqual([]);
});

test("PS1 a listed name that leads to a near address is refused, unless that address is listed itself", async () => {
  const names = ["near.org", "metadata.org", "me.org"];
  const site = new Site([...names, "both.org"]);
  for (const name of names) expect((await site.ask(connect(`${name}:443`))).sent).toStartWith("HTTP/1.1 403");
  expect(site.reached).toEqual([]);
  await site.ask(connect("both.org:443"));
  expect(site.reached.map(({ address }) => address)).toEqual(["9.9.9.9"]);
  const listed = new Site(["near.org", "127.0.0.1"]);
  await listed.ask(connect("near.org:443"));
  expect(listed.reached.map(({ address }) => address)).toEqual(["127.0.0.1"]);
});

test("PS2, PS3 a request goes to the service with our identity, and no second one rides on it", async () => {
  const site = new Site([], { url: "https://llm.corp/base", identity: { "x-api-key": "real" } });
  const inside = await site.ask("POST /v1/messages HTTP/1.1\r\nX-Api-Key: word\r\nContent-Length: 4\r\n\r\nbo");
  inside.say("dyGET /stolen HTTP/1.1\r\n\r\n");
  expect(site.reached).toEqual([{ address: "10.0.0.9", port: 443, tls: "llm.corp" }]);
  expect(site.outside[0]?.sent).toBe(
    "POST /base/v1/messages HTTP/1.1\r\nhost: llm.corp\r\ncontent-length: 4\r\nx-api-key: real\r\nconnection: close\r\n\r\nbody",
  );
});

test("a plain request to a listed host goes on without our identity; without a service there is none", async () => {
  const site = new Site(["a.org:80"]);
  await site.ask("GET http://a.org/x HTTP/1.1\r\nAuthorization: own\r\n\r\n");
  expect(site.outside[0]?.sent).toBe(
    "GET /x HTTP/1.1\r\nhost: a.org\r\nauthorization: own\r\nconnection: close\r\n\r\n",
  );
  expect((await site.ask("GET /v1 HTTP/1.1\r\n\r\n")).sent).toStartWith("HTTP/1.1 404");
});

test("what is malformed, too long or of unknown length is refused", async () => {
  const site = new Site(["a.org"], { url: "https://llm.corp", identity: {} });
  expect((await site.ask("hello\r\n\r\n")).sent).toStartWith("HTTP/1.1 400");
  expect((await site.ask(`GET / HTTP/1.1\r\na: ${"x".repeat(70_000)}`)).sent).toStartWith("HTTP/1.1 431");
  const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect((await site.ask(chunked)).sent).toStartWith("HTTP/1.1 411");
  expect(site.reached).toEqual([]);
});

test("the next address is tried, and a host that cannot be reached is reported", async () => {
  const site = new Site(["two.org", "none.org"]);
  site.names.set("two.org", ["8.8.8.1", "8.8.8.2"]);
  site.down.add("8.8.8.1");
  expect((await site.ask(connect("two.org:443"))).sent).toStartWith("HTTP/1.1 200");
  site.down.add("8.8.8.2");
  expect((await site.ask(connect("two.org:443"))).sent).toStartWith("HTTP/1.1 502");
  expect((await site.ask(connect("none.org:443"))).sent).toStartWith("HTTP/1.1 502");
});

test("a side that does not accept bytes stops the reading of the other", async () => {
  const site = new Site(["a.org"]);
  const inside = await site.ask(connect("a.org:443"));
  const [outside] = site.outside;
  if (outside === undefined) throw new Error("there is a connection");
  outside.waiting = 1 << 20;
  inside.say("x");
  expect(inside.isPaused).toBe(true);
  outside.events?.drained?.();
  expect(inside.isPaused).toBe(false);
  inside.waiting = 1 << 20;
  outside.say("x");
  expect(outside.isPaused).toBe(true);
  inside.events?.drained?.();
  expect(outside.isPaused).toBe(false);
});

test("a caller that sends no head, and a tunnel that nobody uses, are closed; there are only so many", async () => {
  const site = new Site(["a.org"]);
  const silent = site.call();
  const tunnel = await site.ask(connect("a.org:443"));
  site.now = 31_000;
  site.passages.look();
  expect([silent.isEnded, tunnel.isEnded]).toEqual([true, false]);
  site.now = 1_900_000;
  site.passages.look();
  expect([tunnel.isEnded, site.outside[0]?.isEnded]).toEqual([true, true]);
  const many = Array.from({ length: 256 }, () => site.call());
  expect(many.some(({ isEnded }) => isEnded)).toBe(false);
  expect(site.call().sent).toStartWith("HTTP/1.1 503");
  many[0]?.destroy();
  expect(site.call().sent).toBe("");
});

test("PS4 a caller that leaves while the way is being opened leaves nothing open", async () => {
  const site = new Site(["a.org"]);
  const inside = site.call();
  inside.say(connect("a.org:443"));
  expect(inside.isPaused).toBe(true);
  inside.destroy();
  await turns();
  expect(site.outside.every(({ isEnded }) => isEnded)).toBe(true);
});

const PROXY = { HTTPS_PROXY: "http://me:word@10.1.1.1:3128", HTTP_PROXY: "10.1.1.2:3128", NO_PROXY: "a.org" };
const ASKED = "\r\nproxy-authorization: Basic bWU6d29yZA==\r\n\r\n";
const OPENED = "HTTP/1.1 200 OK\r\nvia: x\r\n\r\n";

test("PS5, TN1 a tunnel goes through the user's proxy by name, and what NO_PROXY lists does not", async () => {
  const site = new Site(["a.org", "only-there.org"], null, PROXY);
  const inside = await site.ask(`${connect("only-there.org:443")}early`);
  expect(site.reached).toEqual([{ address: "10.1.1.1", port: 3128, tls: undefined }]);
  const [proxy] = site.outside;
  expect(proxy?.sent).toBe(`CONNECT only-there.org:443 HTTP/1.1\r\nhost: only-there.org:443${ASKED}`);
  expect([inside.sent, inside.isPaused]).toEqual(["", true]);
  proxy?.say(OPENED.slice(0, 9));
  proxy?.say(`${OPENED.slice(9)}first`);
  await turns();
  expect(inside.sent).toBe("HTTP/1.1 200 Connection established\r\n\r\nfirst");
  expect(proxy?.sent).toEndWith(`${ASKED}early`);
  inside.say(" late");
  proxy?.say(" second");
  expect([proxy?.sent.endsWith("early late"), inside.sent.endsWith("first second")]).toEqual([true, true]);
  proxy?.events?.closed();
  expect(inside.isEnded).toBe(true);
  await site.ask(connect("a.org:443"));
  expect(site.reached.at(-1)).toEqual({ address: "8.8.8.8", port: 443, tls: undefined });
});

test("PS1, PS5 behind the user's proxy, too, a sandbox reaches only what is listed, and no name that leads near", async () => {
  const site = new Site(["near.org", "127.0.0.1:80"], null, PROXY);
  for (const to of ["b.org:443", "near.org:443", "10.1.1.1:3128"])
    expect((await site.ask(connect(to))).sent).toStartWith("HTTP/1.1 403");
  expect(site.reached).toEqual([]);
  await site.ask(connect("127.0.0.1:80"));
  expect(site.reached).toEqual([{ address: "127.0.0.1", port: 80, tls: undefined }]);
});

test("TN2 the service is reached in a tunnel with TLS of our own, and a plain request goes to the proxy itself", async () => {
  const service = { url: "https://llm.corp/base", identity: { "x-api-key": "real" } };
  const site = new Site(["b.org:80"], service, PROXY);
  const inside = await site.ask("GET /v1 HTTP/1.1\r\n\r\n");
  site.outside[0]?.say(OPENED);
  await turns();
  expect(site.secured).toEqual([{ name: "llm.corp", over: 0 }]);
  expect(site.outside[0]?.sent).not.toContain("real");
  expect(site.outside[1]?.sent).toStartWith("GET /base/v1 HTTP/1.1\r\nhost: llm.corp\r\nx-api-key: real\r\n");
  site.outside[1]?.say("back");
  expect(inside.sent).toBe("back");
  const plain = await site.ask("GET http://b.org/x HTTP/1.1\r\nProxy-Authorization: own\r\n\r\n");
  expect(site.reached.at(-1)).toEqual({ address: "10.1.1.2", port: 3128, tls: undefined });
  expect(site.outside[2]?.sent).toBe("GET http://b.org/x HTTP/1.1\r\nhost: b.org\r\nconnection: close\r\n\r\n");
  site.outside[2]?.say("page");
  expect(plain.sent).toBe("page");
});

test("a proxy that refuses, is not there, is none or vouches for nobody is reported, without its password", async () => {
  const site = new Site(["b.org", "forged.org"], { url: "https://forged.org", identity: {} }, PROXY);
  const refused = await site.ask(connect("b.org:443"));
  site.outside[0]?.say("HTTP/1.1 407 No\r\n\r\n");
  await turns();
  expect(refused.sent).toContain("10.1.1.1:3128 answered 407");
  expect([refused.sent.includes("word@"), refused.isEnded, site.outside[0]?.isEnded]).toEqual([false, true, true]);
  for (const answer of ["SSH-2.0\r\n\r\n", "x".repeat(70_000)]) {
    const malformed = await site.ask(connect("b.org:443"));
    site.outside.at(-1)?.say(answer);
    await turns();
    expect([malformed.sent.slice(0, 12), site.outside.at(-1)?.isEnded]).toEqual(["HTTP/1.1 502", true]);
  }
  const forged = await site.ask("GET / HTTP/1.1\r\n\r\n");
  site.outside.at(-1)?.say(OPENED);
  await turns();
  expect(forged.sent).toStartWith("HTTP/1.1 502");
  site.down.add("10.1.1.1");
  expect((await site.ask(connect("b.org:443"))).sent).toContain("10.1.1.1:3128 cannot be reached");
  const socks = new Site(["a.org"], null, { ALL_PROXY: "socks5://10.1.1.1:1080" });
  expect((await socks.ask(connect("a.org:443"))).sent).toContain("NO_PROXY");
  expect(socks.reached).toEqual([]);
});

test("PS4 a caller that leaves, or waits too long, takes its half of a tunnel with it", async () => {
  const site = new Site(["b.org"], null, PROXY);
  (await site.ask(connect("b.org:443"))).destroy();
  const silent = await site.ask(connect("b.org:443"));
  site.now = 31_000;
  site.passages.look();
  await turns();
  expect([site.outside.map(({ isEnded }) => isEnded), silent.isEnded]).toEqual([[true, true], true]);
});
