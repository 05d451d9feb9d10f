// The relay and browsers: which host serves what, who may open a tab, and how bytes pass both ways.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import * as tls from "node:tls";
import type { RelaySettings } from "../../src/wire/relay/serve.ts";
import { TAB_CLOSED } from "../../src/wire/tunnel/browser.ts";
import type { TunnelStream } from "../../src/world/tunnel.ts";
import { until } from "../until.ts";
import { Authority, certificates } from "./certificates.ts";
import { newDirectory, type PlayedHome, RelaySite } from "./relay-site.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Connected = { readonly site: RelaySite; readonly home: PlayedHome; readonly host: string; readonly port: number };

async function connected(more: Partial<RelaySettings> = {}): Promise<Connected> {
  const site = await RelaySite.start(closers, more);
  const home = await site.dial({ identity: await site.enrolled() });
  const { url } = await home.heard("welcome");
  const { browsers } = await site.ask({ method: "status" });
  return { site, home, host: new URL(url).host, port: browsers.port };
}

/** A tab of a page at `host`. */
function browser({ port, host }: Pick<Connected, "port" | "host">, origin = `https://${host}`) {
  const seen = { open: false, bytes: 0, text: "", code: undefined as number | undefined };
  const options: Bun.WebSocketOptions = { headers: { host, origin } };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/tunnel`, options);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    seen.open = true;
  });
  socket.addEventListener("message", ({ data }) => {
    seen.bytes += data.byteLength;
    if (seen.bytes < 10_000) seen.text += new TextDecoder().decode(data);
  });
  socket.addEventListener("close", ({ code }) => {
    seen.code = code;
  });
  closers.push(() => socket.terminate());
  const opened = () =>
    until(
      "the tab is open",
      () => seen.open,
      () => seen,
    );
  const closed = () =>
    until(
      "the tab is closed",
      () => seen.code,
      () => seen,
    );
  return { socket, seen, opened, closed };
}

test("BR1 a home's host name serves the page, with its headers; every other name a bare 404", async () => {
  const { site, home, host, port } = await connected();
  const get = (path: string, name: string, method = "GET") =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { host: name } });
  const page = await get("/", host);
  expect(page.status).toBe(200);
  expect(await page.text()).toMatch(/^<p>[\w+/]+=*$/);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect((await get("/main.js", `${host}:8443`)).status).toBe(200);
  expect((await get("/api/other", host)).status).toBe(404);
  expect((await get("/", host, "POST")).status).toBe(405);
  for (const name of ["relay.localhost", "other.relay.localhost", `x.${host}`, "localhost", "127.0.0.1"]) {
    const answer = await get("/", name);
    expect([answer.status, await answer.text()]).toEqual([404, "There is nothing here.\n"]);
  }
  await site.ask({ method: "revoke", home: host.split(".")[0] ?? "" });
  expect((await get("/", host)).status).toBe(404);
  await home.ended();
});

test("a tab's bytes reach its home and come back, and its end is the stream's end", async () => {
  const { site, home, ...at } = await connected();
  const [one, two] = [browser(at), browser(at, `http://${at.host}`)];
  await one.opened();
  await two.opened();
  one.socket.send(Buffer.from("one"));
  two.socket.send(Buffer.from("two"));
  await until(
    "the echoes",
    () => one.seen.text === "one" && two.seen.text === "two",
    () => [one.seen, two.seen],
  );
  expect((await site.ask({ method: "status" })).tabs).toBe(2);
  one.socket.close();
  await until(
    "its stream is closed",
    () => home.closedTabs === 1,
    () => home.closedTabs,
  );
  for (const tab of home.tabs) tab.destroy();
  expect(await two.closed()).toBe(TAB_CLOSED.ended);
  await until(
    "no tab is left",
    async () => (await site.ask({ method: "status" })).tabs === 0,
    () => home.closedTabs,
  );
});

test("BR2 an exported page opens a tab from the origin that was named, and from no other", async () => {
  const at = await connected({ origins: ["https://page.example.org"] });
  for (const [origin, isLetIn] of [
    ["https://page.example.org", true],
    ["http://page.example.org", false],
    ["https://page.example.org:8443", false],
    ["https://x.page.example.org", false],
    ["https://page.example.org.evil.test", false],
  ] as const) {
    const { seen } = browser(at, origin);
    await until(
      "it is answered",
      () => seen.open || seen.code !== undefined,
      () => seen,
    );
    expect([origin, seen.open]).toEqual([origin, isLetIn]);
  }
});

test("BR2 a page of another host opens no tab", async () => {
  const at = await connected();
  for (const origin of ["https://evil.test", `https://x.${at.host}`, "null"]) {
    const { seen } = browser(at, origin);
    await until(
      "it is answered",
      () => seen.open || seen.code !== undefined,
      () => seen,
    );
    expect(seen.open).toBe(false);
  }
  expect(at.home.tabs).toHaveLength(0);
});

test("a tab is closed with its own code if its home is away, leaves, or is revoked", async () => {
  const { site, home, ...at } = await connected();
  const tab = browser(at);
  await tab.opened();
  await until(
    "its stream",
    () => home.tabs.length === 1,
    () => home.tabs,
  );
  home.close();
  await tab.closed();
  await until(
    "it has left",
    async () => (await site.ask({ method: "ls" }))[0]?.connected === false,
    () => home.end,
  );
  expect(await browser(at).closed()).toBe(TAB_CLOSED.away);
});

test("RD2 revoking a home closes its tabs", async () => {
  const { site, home, ...at } = await connected();
  const tab = browser(at);
  await tab.opened();
  await until(
    "its stream",
    () => home.tabs.length === 1,
    () => home.tabs,
  );
  await site.ask({ method: "revoke", home: at.host.split(".")[0] ?? "" });
  await tab.closed();
  await home.ended();
});

test("text closes a tab: only bytes are passed on", async () => {
  const { home, ...at } = await connected();
  const tab = browser(at);
  await tab.opened();
  tab.socket.send("text");
  expect(await tab.closed()).toBe(TAB_CLOSED.notBinary);
});

const FLOOD = 32 << 20;

/** Sends a flood on the first tab, as fast as it is read, and echoes on the others. */
function flooding(home: PlayedHome): { readonly sent: () => number } {
  let sent = 0;
  const piece = new Uint8Array(16 << 10);
  const more = (stream: TunnelStream) => {
    while (sent < FLOOD) {
      sent += piece.length;
      if (!stream.send(piece)) return;
    }
  };
  home.play = {
    bytes: (stream, bytes) => (stream === home.tabs[0] ? more(stream) : void stream.send(bytes)),
    drained: (stream) => (stream === home.tabs[0] ? more(stream) : undefined),
  };
  return { sent: () => sent };
}

test("TA1 a browser that does not read stops its home's stream, and no other tab", async () => {
  const { home, ...at } = await connected();
  const { sent } = flooding(home);
  const stalled = rawTab(at);
  await stalled.opened;
  stalled.send(Uint8Array.of(1));
  const lively = browser(at);
  await lively.opened();
  let [before, same] = [-1, 0];
  for (let count = 1; same < 50; count += 1) {
    lively.socket.send(Buffer.from("echo"));
    await until(
      "the echo",
      () => lively.seen.bytes === 4 * count,
      () => lively.seen,
    );
    same = sent() === before && before > 0 ? same + 1 : 0;
    before = sent();
  }
  expect(sent()).toBeLessThan(FLOOD);
  stalled.resume();
  await until(
    "all of it has come",
    () => stalled.count() >= FLOOD,
    () => [sent(), stalled.count()],
  );
});

test("TN-3(a) renewal during a flood loses no byte of it, and the tunnel stays", async () => {
  const { home, ...at } = await connected();
  const { sent } = flooding(home);
  const tab = browser(at);
  await tab.opened();
  tab.socket.send(Uint8Array.of(1));
  for (let renewals = 1; renewals <= 3; renewals += 1) {
    const before = tab.seen.bytes;
    home.say({ type: "renew", request: (await certificates.newRequest()).request });
    await until(
      "a certificate, and more of the flood",
      () =>
        home.seen.filter(({ type }) => type === "certificate").length === renewals &&
        (tab.seen.bytes > before || sent() >= FLOOD),
      () => [home.seen, tab.seen.bytes],
    );
  }
  await until(
    "all of it has come",
    () => tab.seen.bytes >= FLOOD,
    () => [sent(), tab.seen.bytes],
  );
  expect([tab.seen.bytes, home.end]).toEqual([FLOOD, undefined]);
});

/** A WebSocket by hand, which can stop reading. */
function rawTab({ port, host }: Pick<Connected, "port" | "host">) {
  const opened = Promise.withResolvers<void>();
  let got = 0;
  const socket = createConnection(port, "127.0.0.1", () => {
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
    const head = `GET /api/tunnel HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://${host}\r\nUpgrade: websocket`;
    socket.write(`${head}\r\nConnection: Upgrade\r\n${key}\r\n\r\n`);
  });
  socket.once("data", () => {
    socket.pause();
    opened.resolve();
    socket.on("data", (bytes) => {
      got += bytes.length;
    });
    socket.pause();
  });
  closers.push(() => socket.destroy());
  /** Up to 125 bytes, or 64 KiB; the mask is zero. */
  const send = (bytes: Uint8Array) => {
    const length = bytes.length < 126 ? [0x80 | bytes.length] : [0xfe, bytes.length >> 8, bytes.length & 0xff];
    socket.write(Buffer.concat([Buffer.from([0x82, ...length, 0, 0, 0, 0]), bytes]));
  };
  return { opened: opened.promise, send, resume: () => socket.resume(), count: () => got };
}

test("TA2 a browser that sends much more than its home reads is closed", async () => {
  const { home, ...at } = await connected();
  home.play = { bytes: () => undefined, opened: (stream) => stream.pause() };
  const tab = browser(at);
  await tab.opened();
  await until(
    "its stream",
    () => home.tabs.length === 1,
    () => home.tabs,
  );
  home.tabs[0]?.pause();
  const send = () => {
    if (tab.seen.code === undefined) tab.socket.send(new Uint8Array(60 << 10));
    return tab.seen.code;
  };
  expect(await until("it is closed", send, () => tab.seen)).toBe(TAB_CLOSED.flooded);
});

test("RY3 HTTPS: the certificate from files is read again on request, and one that cannot be used changes nothing", async () => {
  const directory = newDirectory(closers);
  const [certificate, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const authority = await Authority.create();
  const write = async () => {
    const made = await authority.server(["*.relay.localhost"]);
    writeFileSync(certificate, made.certificate);
    writeFileSync(key, made.key);
    return made;
  };
  const first = await write();
  const site = new RelaySite(closers);
  await site.start({ https: { at: "127.0.0.1:0", certificate, key }, http: undefined as never });
  const { browsers } = await site.ask({ method: "status" });
  expect(await serialAt(browsers.port)).toBe(first.serial);
  const second = await write();
  site.reread();
  await until(
    "the next one",
    async () => (await serialAt(browsers.port)) === second.serial,
    () => site.said,
  );
  await write();
  writeFileSync(key, first.key);
  site.reread();
  expect(site.said.at(-1)).toContain("keeps its certificate");
  expect(await serialAt(browsers.port)).toBe(second.serial);
});

function serialAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber.toLowerCase().replace(/^0+/, ""));
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
