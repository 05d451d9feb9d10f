// Sending to addresses that others chose (src/daemon/notify/post.ts), over a network that is played here.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { type PostPorts, post, whyNever } from "../../src/daemon/notify/post.ts";
import { retryAfterMs } from "../../src/wire/push/response.ts";
import type { Destination, Network } from "../../src/world/network.ts";
import type { ConnectionEvents } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";

const NEVER = new Promise<void>(() => undefined);
const PUBLIC = "93.184.216.34";

class Played implements Network {
  readonly clock = new SimClock();
  readonly connected: Destination[] = [];
  sent = "";
  closes = 0;
  events: ConnectionEvents | undefined;
  /** What it answers once it has a whole request; undefined for nothing. */
  answer: string | undefined = "HTTP/1.1 201 Created\r\nLocation: /m/1\r\n\r\n";
  addresses: readonly string[][] = [[PUBLIC]];
  connects = true;
  #resolved = 0;

  async resolve(name: string): Promise<readonly string[]> {
    const found = this.addresses[Math.min(this.#resolved, this.addresses.length - 1)];
    this.#resolved += 1;
    if (found === undefined || found.length === 0)
      throw new Fault({ code: "ENOTFOUND", operation: "resolve", path: name });
    return found;
  }

  async connect(to: Destination, events: ConnectionEvents) {
    this.connected.push(to);
    if (!this.connects) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path: to.address });
    this.events = events;
    const send = (bytes: Uint8Array) => {
      this.sent += Buffer.from(bytes).toString("latin1");
      if (this.sent.endsWith("BODY") && this.answer !== undefined) events.bytes(Buffer.from(this.answer, "latin1"));
    };
    const nothing = () => undefined;
    const destroy = () => {
      this.closes += 1;
      events.closed();
    };
    return { send, destroy, flush: nothing, pause: nothing, resume: nothing, end: nothing, waiting: 0 };
  }

  secure(): never {
    throw new Error("not used");
  }

  listen(): never {
    throw new Error("not used");
  }

  own(): readonly string[] {
    return ["93.184.216.99"];
  }
}

function to(network: Played, url: string, allow: readonly string[] = [], stopped = NEVER) {
  const ports: PostPorts = { network, clock: network.clock, allow };
  return post(ports, { url, headers: { TTL: "60" }, body: Buffer.from("BODY") }, stopped);
}

test("a request is one of HTTP/1.1 to the address that was judged, with the name in its certificate and its Host", async () => {
  const network = new Played();
  expect(await to(network, "https://push.example.net/p/1?x=%20y")).toEqual({
    kind: "answered",
    status: 201,
    retryAfter: undefined,
  });
  expect(network.connected).toEqual([{ address: PUBLIC, port: 443, tls: "push.example.net" }]);
  const head = [
    "POST /p/1?x=%20y HTTP/1.1",
    "Host: push.example.net",
    "TTL: 60",
    "Content-Length: 4",
    "Connection: close",
  ];
  expect(network.sent).toBe(`${head.join("\r\n")}\r\n\r\nBODY`);
  expect(network.closes).toBe(1);
});

const NEAR = [
  "127.0.0.1",
  "10.1.2.3",
  "192.168.0.1",
  "169.254.169.254",
  "::1",
  "fe80::1",
  "fd00::1",
  "::ffff:10.0.0.1",
];

test.each([...NEAR, "93.184.216.99", "0.0.0.0"])(
  "PO1 nothing is connected to %s, whatever name leads there",
  async (address) => {
    const network = new Played();
    network.addresses = [[address]];
    expect(await to(network, "https://push.example.net/p/1")).toMatchObject({ kind: "refused" });
    expect(network.connected).toEqual([]);
    const ports = { network, clock: network.clock, allow: [] };
    expect(await whyNever(ports, "https://push.example.net/p/1")).toContain("[push] allow");
  },
);

test("PO1 a name that leads elsewhere with the second look is judged again, and only what was judged is used", async () => {
  const network = new Played();
  network.addresses = [[PUBLIC], ["127.0.0.1"]];
  expect(await to(network, "https://rebind.example/1")).toMatchObject({ kind: "answered" });
  expect(await to(network, "https://rebind.example/1")).toMatchObject({ kind: "refused" });
  expect(network.connected.map(({ address }) => address)).toEqual([PUBLIC]);
  network.addresses = [["127.0.0.1", PUBLIC]];
  await to(network, "https://rebind.example/1");
  expect(network.connected.map(({ address }) => address)).toEqual([PUBLIC, PUBLIC]);
});

test("PO1 what is listed is reached, with its port, and without TLS only then", async () => {
  const network = new Played();
  network.addresses = [["127.0.0.1"]];
  expect(await to(network, "https://127.0.0.1:8443/x", ["127.0.0.1:8443"])).toMatchObject({ kind: "answered" });
  expect(await to(network, "https://ntfy.lan/x", ["ntfy.lan"])).toMatchObject({ kind: "answered" });
  expect(await to(network, "https://ntfy.lan:444/x", ["ntfy.lan"])).toMatchObject({ kind: "refused" });
  expect(await to(network, "http://ntfy.lan/x", ["ntfy.lan:80"])).toMatchObject({ kind: "answered" });
  expect(network.connected.at(-1)).toEqual({ address: "127.0.0.1", port: 80, tls: undefined });
  const count = network.connected.length;
  network.addresses = [[PUBLIC]];
  for (const url of ["http://93.184.216.34/x", "file:///etc/passwd", "nonsense", "https://a b/"])
    expect(await to(network, url)).toMatchObject({ kind: "refused" });
  expect(network.connected).toHaveLength(count);
});

test("PO2 no redirect is followed, provisional answers are skipped, and no body is read", async () => {
  const network = new Played();
  network.answer = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n";
  expect(await to(network, "https://a.example/1")).toMatchObject({ kind: "answered", status: 302 });
  network.answer = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 429\r\nRetry-After: 7\r\n\r\n${"x".repeat(1 << 20)}`;
  expect(await to(network, "https://a.example/1")).toEqual({ kind: "answered", status: 429, retryAfter: "7" });
  expect(network.connected).toHaveLength(2);
});

test("PO2 PO3 a server that says nothing, too much, nonsense, or goes away has perhaps taken it", async () => {
  for (const answer of [`HTTP/1.1 200 OK\r\nX: ${"y".repeat(20_000)}`, "SSH-2.0-x\r\n", "HTTP/1.1 999 What\r\n\r\n"]) {
    const network = new Played();
    network.answer = answer;
    expect(await to(network, "https://a.example/1")).toMatchObject({ kind: "lost" });
  }
  const silent = new Played();
  silent.answer = undefined;
  const waiting = to(silent, "https://a.example/1");
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  silent.clock.advance(15_000);
  expect(await waiting).toMatchObject({ kind: "lost" });
  expect(silent.closes).toBe(1);
  const leaving = new Played();
  leaving.answer = undefined;
  const left = to(leaving, "https://a.example/1");
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  leaving.events?.closed();
  expect(await left).toMatchObject({ kind: "lost" });
});

test("PO3 what never left is refused: no address, no connection, no time", async () => {
  const network = new Played();
  network.connects = false;
  expect(await to(network, "https://a.example/1")).toMatchObject({ kind: "refused" });
  network.addresses = [[]];
  expect(await to(network, "https://a.example/1")).toMatchObject({ kind: "refused" });
  expect(await to(new Played(), "https://a.example/1", [], Promise.resolve())).toMatchObject({ kind: "refused" });
  const ports = { network, clock: network.clock, allow: [] };
  expect(await whyNever(ports, "https://a.example/1")).toBeUndefined();
  expect(await whyNever(ports, "http://a.example/1")).toContain("http://");
});

test("Retry-After is a number of seconds or a time, and has a limit", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const texts = ["7", "Thu, 01 Jan 2026 00:01:00 GMT", "Wed, 31 Dec 2025 00:00:00 GMT", "999999999", "soon", undefined];
  expect(texts.map((text) => retryAfterMs(text, now, 100_000))).toEqual([
    7_000,
    60_000,
    0,
    100_000,
    undefined,
    undefined,
  ]);
});
