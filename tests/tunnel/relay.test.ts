// The relay and its homes: enrolment, renewal, revocation, and everybody who is turned away. Real TLS on loopback.
import { afterEach, expect, test } from "bun:test";
import * as http2 from "node:http2";
import { createConnection } from "node:net";
import * as tls from "node:tls";
import { encodeLine } from "../../src/wire/lines.ts";
import { fromRelay, type RelayMessage } from "../../src/wire/tunnel/control.ts";
import type { TunnelIdentity } from "../../src/world/tunnel.ts";
import { until } from "../until.ts";
import { Authority, certificates } from "./certificates.ts";
import { type PlayedHome, RelaySite } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function denied(home: PlayedHome, token: string, request?: string): Promise<string> {
  await home.heard("welcome");
  home.say({ type: "enrol", token, request: request ?? (await certificates.newRequest()).request, name: "x" });
  return (await home.heard("denied")).message;
}

/** Why a home with this identity is refused; if it is not, how it is welcomed. */
async function refusal(site: RelaySite, identity: TunnelIdentity): Promise<string> {
  const home = await site.dial({ identity });
  const first = await until(
    "the first line",
    () => home.seen[0],
    () => home.end,
  );
  if (first.type === "refused") await home.ended();
  return first.type === "refused" ? first.reason : first.type === "welcome" ? first.mode : first.type;
}

test("a home enrols with a token, connects with its certificate, and is told where browsers find it", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled("My Laptop!");
  const home = await site.dial({ identity, authority: { pem: identity.authority } });
  const welcome = await home.heard("welcome");
  const [listed] = await site.ask({ method: "ls" });
  expect(listed).toMatchObject({ id: identity.id, name: "My Laptop!", connected: true, revokedAt: null });
  expect(listed?.label).toMatch(/^my-laptop-[0-9a-f]{6}$/);
  expect(welcome).toMatchObject({ mode: "full", url: `http://${listed?.label}.relay.localhost/` });
  expect(welcome.notice).toBeUndefined();
  const events = (await site.ask({ method: "log", count: 100 })).map(({ event, by }) => [event, by]);
  expect(events).toEqual([
    ["relay.token.made", { operator: true }],
    ["relay.home.enrolled", { address: "127.0.0.1", home: identity.id }],
  ]);
});

test("RG1 a token works once, and not after its time; EN2 too many wrong ones are not even looked at", async () => {
  const site = await RelaySite.start(closers);
  const [used, old] = [await site.token(), await site.token(1000, "named")];
  const first = await site.dial();
  await first.heard("welcome");
  const { request } = await certificates.newRequest();
  first.say({ type: "enrol", token: used, request, name: "x" });
  await first.heard("certificate");
  expect(await denied(await site.dial(), used)).toContain("used already");
  site.movedMs = 2000;
  expect(await denied(await site.dial(), old)).toContain("expired");
  for (let at = 0; at < 8; at += 1) expect(await denied(await site.dial(), `${used}x`)).toContain("not known");
  expect(await denied(await site.dial(), await site.token())).toContain("too many");
  expect(await site.ask({ method: "ls" })).toHaveLength(1);
});

test("CT2 a request that is none gets no certificate, and the token stays good", async () => {
  const site = await RelaySite.start(closers);
  const token = await site.token();
  expect(await denied(await site.dial(), token, "nonsense")).toContain("not valid");
  const home = await site.dial();
  await home.heard("welcome");
  home.say({ type: "enrol", token, request: (await certificates.newRequest()).request, name: "x" });
  await home.heard("certificate");
});

test("two enrolments with one token at the same moment: one gets a certificate", async () => {
  const site = await RelaySite.start(closers);
  const token = await site.token();
  const homes = [await site.dial(), await site.dial()];
  const { request } = await certificates.newRequest();
  for (const home of homes) await home.heard("welcome");
  for (const home of homes) home.say({ type: "enrol", token, request, name: "x" });
  const outcomes = homes.map(
    (home) => () => home.seen.find(({ type }) => type === "certificate" || type === "denied")?.type,
  );
  const found = await until(
    "both are answered",
    () => outcomes.every((look) => look() !== undefined) && outcomes.map((look) => look()),
    () => homes.map(({ seen }) => seen),
  );
  expect(found.sort()).toEqual(["certificate", "denied"]);
  expect(await site.ask({ method: "ls" })).toHaveLength(1);
});

test("AM1 AM2 who is not known here, or not in its time, is told why and cut off", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled();
  const stranger = await Authority.create();
  expect(await refusal(site, await stranger.client(identity.id))).toBe("unknown");
  site.movedMs = -DAY;
  expect(await refusal(site, identity)).toBe("early");
  site.movedMs = 61 * DAY;
  expect(await refusal(site, identity)).toBe("expired");
  site.movedMs = 0;
  expect((await (await site.dial({ identity })).heard("welcome")).mode).toBe("full");
});

test("TU3 an expired certificate that names a home, with its serial, but is signed by someone else is unknown", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled();
  const { X509Certificate } = await import("node:crypto");
  const serial = new X509Certificate(identity.certificate).serialNumber;
  const stranger = await Authority.create();
  const { key, request } = await certificates.newRequest();
  const life = { notBefore: Date.now() - DAY, notAfter: Date.now() - 1000 };
  const certificate = await certificates.issue(stranger.identity, request, { serial, name: identity.id, ...life });
  expect(await refusal(site, { key, certificate: certificate ?? "" })).toBe("unknown");
});

test("AM3 an expired certificate opens a connection on which nothing but renewal works; renewed, it opens all", async () => {
  const site = await RelaySite.start(closers, { lifeMs: 1000 });
  const identity = await site.enrolled();
  await until(
    "it has expired",
    () => (certificates.lifeOf(identity.certificate)?.notAfter ?? 0) < Date.now() - 1000,
    Date.now,
  );
  const late = await site.dial({ identity });
  expect(await late.heard("welcome")).toMatchObject({ mode: "renew", url: "" });
  expect((await site.ask({ method: "ls" }))[0]?.connected).toBe(false);
  const { key, request } = await certificates.newRequest();
  late.say({ type: "enrol", token: await site.token(), request, name: "x" });
  await late.heard("denied");
  await site.stop();
  await site.start({ lifeMs: DAY });
  const again = await site.dial({ identity });
  expect((await again.heard("welcome")).mode).toBe("renew");
  again.say({ type: "renew", request });
  const { id, certificate } = await again.heard("certificate");
  expect(id).toBe(identity.id);
  const home = await site.dial({ identity: { key, certificate } });
  expect((await home.heard("welcome")).mode).toBe("full");
  home.say({ type: "renew", request });
  await home.heard("certificate");
});

test("AM1 a resumed TLS session does not make an expired certificate good", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled();
  const { port } = (await site.ask({ method: "status" })).tunnel;
  const first = rawHome(port, identity);
  expect((await first.first()).type).toBe("welcome");
  const session = await until("TLS gives a session", first.session, () => first.seen);
  site.movedMs = 61 * DAY;
  const second = rawHome(port, identity, session);
  expect(await second.first()).toMatchObject({ type: "refused", reason: "expired" });
  expect(second.isResumed()).toBe(true);
});

/** A home that keeps TLS sessions, which ours do not. */
function rawHome(port: number, { key, certificate }: TunnelIdentity, session?: Buffer) {
  const seen: RelayMessage[] = [];
  let kept: Buffer | undefined;
  const server = http2.createServer();
  const resumed = session === undefined ? {} : { session };
  const options = { host: "localhost", port, key, cert: certificate, ALPNProtocols: ["h2"], rejectUnauthorized: false };
  const socket = tls.connect({ ...options, ...resumed });
  socket.on("session", (given: Buffer) => {
    kept = given;
  });
  socket.once("secureConnect", () => server.emit("connection", socket));
  socket.on("error", () => undefined);
  server.on("stream", (stream: http2.ServerHttp2Stream) => {
    const reader = fromRelay();
    stream.respond({ ":status": 200 });
    stream.on("data", (bytes: Buffer) => seen.push(...(reader.push(bytes) ?? [])));
    stream.on("error", () => undefined);
  });
  closers.push(() => socket.destroy());
  const first = () =>
    until(
      "the first line",
      () => seen[0],
      () => seen,
    );
  return { seen, session: () => kept ?? socket.getSession(), first, isResumed: () => socket.isSessionReused() };
}

test("RD2 a revoked home is cut off, its tabs too, and stays out", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled();
  const home = await site.dial({ identity });
  await home.heard("welcome");
  const revoked = await site.ask({ method: "revoke", home: identity.id.slice(0, 8) });
  expect(revoked.revokedAt).not.toBeNull();
  expect(revoked.connected).toBe(false);
  expect((await home.heard("refused")).reason).toBe("revoked");
  await home.ended();
  expect(await refusal(site, identity)).toBe("revoked");
});

test("HM1 of two homes with one identity the older is cut off, and both are told", async () => {
  const site = await RelaySite.start(closers);
  const identity = await site.enrolled();
  const older = await site.dial({ identity });
  await older.heard("welcome");
  const newer = await site.dial({ identity });
  expect((await newer.heard("welcome")).notice).toContain("was cut off");
  expect((await older.heard("refused")).reason).toBe("replaced");
  await older.ended();
  expect((await site.ask({ method: "ls" }))[0]?.connected).toBe(true);
  const events = async () => (await site.ask({ method: "log", count: 100 })).map(({ event }) => event);
  await until("it is on record", async () => (await events()).includes("relay.home.replaced"), events);
});

test("TC2 a silent home is closed, one that answers stays; HL2 one whose certificate ends is closed", async () => {
  const site = await RelaySite.start(closers, { heartbeatMs: 200 });
  const [silentOne, lively] = [await site.enrolled("silent"), await site.enrolled("lively")];
  const [silent, home] = [await site.dial({ identity: silentOne }), await site.dial({ identity: lively })];
  silent.answersPings = false;
  await silent.ended();
  await until(
    "four pings",
    () => home.seen.filter(({ type }) => type === "ping").length >= 4,
    () => home.seen,
  );
  expect(home.end).toBeUndefined();
  home.say({ type: "ping" });
  await home.heard("pong");
  site.movedMs = 31 * DAY;
  await home.ended();
  expect(home.seen.some(({ type }) => type === "refused")).toBe(false);
});

test("HL2 a tunnel over which the certificate was renewed lives as long as the new one", async () => {
  const site = await RelaySite.start(closers, { heartbeatMs: 200 });
  const [identity, other] = [await site.enrolled("renews"), await site.enrolled("does not")];
  const [home, late] = [await site.dial({ identity }), await site.dial({ identity: other })];
  for (const one of [home, late]) await one.heard("welcome");
  site.movedMs = 20 * DAY;
  home.say({ type: "renew", request: (await certificates.newRequest()).request });
  await home.heard("certificate");
  site.movedMs = 31 * DAY;
  await late.ended(); // The same heartbeats have looked at both.
  const pings = () => home.seen.filter(({ type }) => type === "ping").length;
  const before = pings();
  await until("it is still asked", () => pings() > before + 2, pings);
  expect(home.end).toBeUndefined();
  site.movedMs = 51 * DAY;
  await home.ended();
});

test("HL3 who does not show who it is has little time", async () => {
  const site = new RelaySite(closers);
  site.haste = 100;
  await site.start();
  const home = await site.dial();
  await home.heard("welcome");
  await home.ended();
});

test("TC3 HL4 garbage, long lines and floods close the tunnel, and bytes one at a time are as good as any", async () => {
  const site = await RelaySite.start(closers);
  const hostile: ((home: PlayedHome) => void)[] = [
    (home) => void home.control?.send(Buffer.from("garbage\n")),
    (home) => void home.control?.send(Buffer.alloc(100 << 10, 65)),
    (home) => void home.control?.send(Buffer.from('{"type":"enrol","token":1}\n')),
    (home) => {
      for (let at = 0; at < 100; at += 1) home.say({ type: "ping" });
    },
  ];
  for (const act of hostile) {
    const home = await site.dial();
    await home.heard("welcome");
    act(home);
    await home.ended();
  }
  const slow = await site.dial();
  await slow.heard("welcome");
  const { request } = await certificates.newRequest();
  for (const byte of encodeLine({ type: "enrol", token: await site.token(), request, name: "slow", newer: [1] }))
    slow.control?.send(Uint8Array.of(byte));
  await slow.heard("certificate");
});

test("bytes that are not TLS end that connection, and no other", async () => {
  const site = await RelaySite.start(closers);
  const { port } = (await site.ask({ method: "status" })).tunnel;
  const closed = Promise.withResolvers<void>();
  const socket = createConnection(port, "127.0.0.1", () => void socket.write("GET / HTTP/1.1\r\n\r\n"));
  socket.on("error", () => undefined);
  socket.on("close", () => closed.resolve());
  socket.resume();
  await closed.promise;
  expect((await (await site.dial()).heard("welcome")).mode).toBe("enrol");
});

test("AU3 a relay whose authority has ended does not start, and says what to do", async () => {
  const site = await RelaySite.start(closers);
  for (const days of [3_640, 3_651]) {
    await site.stop();
    site.movedMs = days * DAY;
    const started = site.start();
    if (days === 3_640) await started;
    else await expect(started).rejects.toThrow("has ended");
  }
});
