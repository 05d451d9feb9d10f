// The home's end of the tunnel in simulated time, with a relay that does what a test says. Real TLS is in tests/tunnel.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import type { Enrolment } from "../home/tunnel-files.ts";
import { encodeLine } from "../wire/lines.ts";
import { CONTROL_PATH, fromHome, type HomeMessage, type RelayMessage, TAB_PATH } from "../wire/tunnel/control.ts";
import type { Certificates, Life } from "../world/certificates.ts";
import type { DialEvents, DialOptions, TunnelStream, TunnelStreamEvents } from "../world/tunnel.ts";
import { HomeTunnel } from "./tunnel.ts";

const DAY = 86_400_000;
const PEM = "-----BEGIN CERTIFICATE-----";
const FULL = { type: "welcome", protocol: 1, mode: "full", heartbeatMs: 1000, url: "https://a.relay.test/" } as const;

/** One connection as the relay sees it. */
class Dial {
  readonly options: DialOptions;
  readonly events: DialEvents;
  readonly heard: HomeMessage[] = [];
  closed = false;
  #control: TunnelStreamEvents | undefined;

  constructor(options: DialOptions, events: DialEvents) {
    this.options = options;
    this.events = events;
  }

  /** TCP and TLS succeed, and the control stream is opened. */
  open(): this {
    this.events.connected();
    this.events.secured(PEM);
    const reader = fromHome();
    const send = (bytes: Uint8Array) => {
      this.heard.push(...(reader.push(bytes) ?? []));
      return true;
    };
    this.#control = this.events.stream(CONTROL_PATH, { ...streamOf(), send });
    return this;
  }

  say(message: RelayMessage): this {
    this.#control?.bytes(encodeLine(message));
    return this;
  }

  raw(text: string): void {
    this.#control?.bytes(new TextEncoder().encode(text));
  }

  close(): void {
    this.closed = true;
  }

  lose(): void {
    this.events.closed({ code: "ECONNRESET", message: "reset" });
  }

  /** Whether a browser's stream is accepted. */
  tab(): boolean {
    let accepted = true;
    const destroy = () => {
      accepted = false;
    };
    this.events.stream(TAB_PATH, { ...streamOf(), destroy });
    return accepted;
  }
}

function streamOf(): TunnelStream {
  const nothing = () => undefined;
  return { send: () => true, pause: nothing, resume: nothing, end: nothing, destroy: nothing };
}

class Place {
  readonly clock = new SimClock();
  readonly dials: Dial[] = [];
  readonly stored: Enrolment[] = [];
  readonly said: string[] = [];
  readonly urls: string[] = [];
  wanted = true;
  enrolment: Enrolment | undefined = {
    ...{ relay: { host: "relay.test", port: 4433 }, id: "a", enrolledAt: "2026-01-01", key: "-----BEGIN key 0" },
    ...{ authority: PEM, certificate: `${PEM} 0` },
  };
  life: Life = { notBefore: this.clock.now(), notAfter: this.clock.now() + 30 * DAY };
  tabs = 0;
  store: (enrolment: Enrolment) => Promise<void> = async (enrolment) => {
    this.stored.push(enrolment);
    this.enrolment = enrolment;
  };
  readonly tunnel: HomeTunnel;

  constructor() {
    const certificates: Certificates = {
      newAuthority: () => Promise.reject(new Error("a home has no authority")),
      issue: () => Promise.reject(new Error("a home issues nothing")),
      newRequest: async () => ({ key: "-----BEGIN key 1", request: "request 1" }),
      lifeOf: () => this.life,
      hashOf: () => "",
    };
    this.tunnel = new HomeTunnel({
      ...{ clock: this.clock, certificates, random: { fraction: () => 0, bytes: (count) => new Uint8Array(count) } },
      tunnels: {
        dial: (options, events) => {
          const dial = new Dial(options, events);
          this.dials.push(dial);
          return { close: () => dial.close() };
        },
        listen: () => Promise.reject(new Error("a home does not listen")),
      },
      enrolment: () => this.enrolment,
      store: (enrolment) => this.store(enrolment),
      isWanted: () => this.wanted,
      tab: () => {
        this.tabs += 1;
        return { bytes: () => undefined, drained: () => undefined, closed: () => undefined };
      },
      changed: (_, url) => void this.urls.push(url),
      say: (words) => void this.said.push(words),
    });
    this.tunnel.look();
    this.clock.advance(0);
  }

  get state(): string {
    return this.tunnel.view.state;
  }

  get last(): Dial {
    const last = this.dials.at(-1);
    if (last === undefined) throw new Error("nothing was dialled");
    return last;
  }

  /** What waits for promises and for `soon` has happened. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setImmediate(done));
  }
}

test("TN-1(a) an enrolled home dials with its certificate, is welcomed, and takes browsers only then", () => {
  const place = new Place();
  expect(place.last.options).toMatchObject({ host: "relay.test", port: 4433, identity: { key: "-----BEGIN key 0" } });
  expect(place.state).toBe("Connecting");
  place.last.open();
  expect([place.state, place.last.tab(), place.tabs]).toEqual(["Authenticating", false, 0]); // HT5
  place.last.say(FULL);
  expect([place.state, place.last.tab(), place.tabs]).toEqual(["Connected", true, 1]);
  expect(place.urls.at(-1)).toBe(FULL.url);
  place.last.lose();
  expect([place.state, place.urls.at(-1)]).toEqual(["Disconnected", ""]);
});

test("HT2 TN-1(b) heartbeats go both ways; a silent relay is given up after two intervals and dialled again", () => {
  const place = new Place();
  const first = place.last.open().say(FULL);
  for (let beat = 0; beat < 5; beat += 1) {
    place.clock.advance(1000);
    first.say({ type: "pong" }).say({ type: "ping" });
  }
  expect(first.heard.filter(({ type }) => type === "pong")).toHaveLength(5);
  expect(first.heard.filter(({ type }) => type === "ping")).toHaveLength(5);
  place.clock.advance(2000);
  expect([place.state, first.closed]).toEqual(["Connected", false]);
  place.clock.advance(1000);
  expect([place.state, first.closed, place.tunnel.view.why]).toEqual([
    ...["Disconnected", true],
    "The relay sent nothing for too long.",
  ]);
  place.clock.advance(1000);
  expect(place.dials).toHaveLength(2);
  first.say(FULL); // HT4
  expect(place.state).toBe("Connecting");
});

test("TN-2 HT3 CB-1(d) tries come after 1, 2, 4 … 60 s; with the breaker open a try makes no connection", async () => {
  const place = new Place();
  const waits: number[] = [];
  const dialled: number[] = [];
  for (let tries = 0; tries < 9; tries += 1) {
    if (place.state === "Connecting" && place.dials.length > dialled.length) place.last.lose();
    await place.settled(); // Without a connection, a try fails by itself.
    dialled.length = place.dials.length;
    const wait = (place.tunnel.view.dialAt ?? 0) - place.clock.elapsed();
    waits.push(wait);
    place.clock.advance(wait);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1000));
  expect(place.dials).toHaveLength(8); // Of ten tries, two came while the breaker was open.
  place.last.open().say(FULL);
  expect(place.state).toBe("Connected");
});

test("TN-3(a) HT1 a certificate in its last third is renewed over the live tunnel, which stays; the new one is stored first", async () => {
  const place = new Place();
  place.life = { notBefore: place.clock.now() - 21 * DAY, notAfter: place.clock.now() + 9 * DAY };
  const dial = place.last.open().say(FULL);
  await place.settled();
  expect(dial.heard).toEqual([{ type: "renew", request: "request 1" }]);
  dial.say({ type: "certificate", id: "a", certificate: `${PEM} 1`, authority: PEM });
  await place.settled();
  expect(place.stored).toMatchObject([{ key: "-----BEGIN key 1", certificate: `${PEM} 1` }]);
  expect([place.state, place.dials.length]).toEqual(["Connected", 1]);
  dial.say({ type: "certificate", id: "a", certificate: `${PEM} 2`, authority: PEM });
  await place.settled();
  expect(place.stored).toHaveLength(1); // Nobody asked for it.
});

test("TN-3(a) an expired certificate is renewed before anything else, then dialled with; a denied renewal ends", async () => {
  const place = new Place();
  place.last.open().say({ ...FULL, mode: "renew", url: "" });
  await place.settled();
  expect([place.state, place.last.tab(), place.last.heard.length]).toEqual(["RequestRenewal", false, 1]);
  place.last.say({ type: "certificate", id: "a", certificate: `${PEM} 1`, authority: PEM });
  await place.settled();
  expect([place.state, place.last.options.identity?.certificate]).toEqual(["Connecting", `${PEM} 1`]);

  place.last.open().say({ ...FULL, mode: "renew", url: "" });
  await place.settled();
  place.last.say({ type: "denied", message: "Too late." });
  expect([place.state, place.tunnel.view.why]).toEqual(["Ended", "Too late."]);
  place.clock.advance(DAY);
  expect(place.dials).toHaveLength(2);
});

test("TN-3(b,c) a revoked certificate ends, until there is a new enrolment; other refusals are tried again", async () => {
  const place = new Place();
  place.last.open().say({ type: "refused", reason: "busy", message: "Too many homes." });
  expect([place.state, place.tunnel.view.why]).toEqual(["BackoffWait", "Too many homes."]);
  place.clock.advance(1000);
  place.last.open().say({ type: "refused", reason: "revoked", message: "It was revoked." });
  expect(place.state).toBe("Ended");
  place.tunnel.look();
  place.clock.advance(DAY);
  expect([place.state, place.dials.length]).toEqual(["Ended", 2]);
  if (place.enrolment !== undefined) place.enrolment = { ...place.enrolment, enrolledAt: "2026-02-01" };
  place.tunnel.look();
  place.clock.advance(0);
  expect([place.state, place.dials.length]).toEqual(["Connecting", 3]);
});

test("SM-3(c) turned off, by the operator or by safe mode, it closes; turned on, it dials at once", () => {
  const place = new Place();
  const dial = place.last.open().say(FULL);
  place.wanted = false;
  place.tunnel.look();
  place.clock.advance(DAY);
  expect([place.state, dial.closed, place.dials.length]).toEqual(["Disconnected", true, 1]);
  place.wanted = true;
  place.tunnel.look();
  place.clock.advance(0);
  expect(place.dials).toHaveLength(2);
});

test("TC3 a relay that does not speak the protocol is given up, and tried again later", () => {
  const place = new Place();
  const dial = place.last.open();
  dial.raw("{}\nno JSON\n");
  expect([place.state, dial.closed]).toEqual(["BackoffWait", true]);
});
