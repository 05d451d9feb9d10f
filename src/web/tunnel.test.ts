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
  /** What was wrong, or should be known, at the last change. */
  why = "";
  wanted = true;
  chance = 0;
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
      ...{
        clock: this.clock,
        certificates,
        random: { fraction: () => this.chance, bytes: (count) => new Uint8Array(count) },
      },
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
      changed: ({ why }, url) => {
        this.why = why;
        this.urls.push(url);
      },
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

/** Nobody answers; returns when each of these dials was made, from the first on. */
function failing(place: Place, dials: number, end: (dial: Dial) => void = (dial) => dial.lose()): number[] {
  const began = place.clock.elapsed();
  const times: number[] = [];
  while (times.length < dials) {
    times.push(place.clock.elapsed() - began);
    expect(place.dials).toHaveLength(times.length);
    end(place.last);
    place.clock.advance((place.tunnel.view.dialAt ?? 0) - place.clock.elapsed());
  }
  return times;
}

test("TN-2 HT3 in an outage of any length a connection is tried after 1, 2, 4 … 60 s: the breaker takes no try", () => {
  for (const [chance, part] of [
    [0, 1],
    [0.999_999, 0.8],
  ] as const) {
    const place = new Place();
    place.chance = chance;
    const seconds = [0, 1, 3, 7, 15, 31, 63, 123, 183, 243];
    expect(failing(place, seconds.length)).toEqual(seconds.map((at) => Math.round(at * part * 1000)));
    place.last.open().say(FULL);
    expect(place.state).toBe("Connected");
  }
});

test("TN-3(c) HT3 a relay that refuses for now is tried after the same waits", () => {
  const place = new Place();
  const busy = (dial: Dial) => void dial.open().say({ type: "refused", reason: "busy", message: "Too many homes." });
  expect(failing(place, 8, busy)).toEqual([0, 1, 3, 7, 15, 31, 63, 123].map((at) => at * 1000));
});

test("HT3 CB-1(d) with the breaker open, turning the tunnel off and on makes no connection before it admits one", async () => {
  const place = new Place();
  failing(place, 5);
  place.last.lose();
  const { length } = place.dials;
  for (let times = 0; times < 3; times += 1) {
    for (const wanted of [false, true]) {
      place.wanted = wanted;
      place.tunnel.look();
      place.clock.advance(0);
      await place.settled();
    }
    expect([place.state, place.dials.length]).toEqual(["BackoffWait", length]);
    expect(place.tunnel.view.why).toContain("The relay is not being called");
  }
  expect((place.tunnel.view.dialAt ?? 0) - place.clock.elapsed()).toBe(12_000);
  place.clock.advance(12_000); // The probe.
  expect(place.dials).toHaveLength(length + 1);
  place.wanted = false;
  place.tunnel.look(); // It says nothing about the relay: the next one is the probe.
  place.wanted = true;
  place.tunnel.look();
  place.clock.advance(0);
  expect([place.state, place.dials.length]).toEqual(["Connecting", length + 2]);
  place.last.open().say(FULL);
  expect(place.state).toBe("Connected");
});

test("HT3 a new enrolment begins without what the last relay has done", () => {
  const place = new Place();
  failing(place, 5);
  place.last.lose();
  const { length } = place.dials;
  if (place.enrolment !== undefined) place.enrolment = { ...place.enrolment, id: "b" };
  place.tunnel.look();
  place.clock.advance(0);
  expect([place.state, place.dials.length]).toEqual(["Connecting", length + 1]);
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

test("HT6 the relay's time counts for renewal, whatever this machine's clock says, and people are told", async () => {
  for (const [aheadDays, usedDays, renews] of [
    [25, 1, false], // By this clock, the certificate is nearly over.
    [-25, 25, true], // By this clock, it is new.
    [-400, 1, false],
  ] as const) {
    const place = new Place();
    const now = place.clock.now() - aheadDays * DAY;
    place.life = { notBefore: now - usedDays * DAY, notAfter: now + (30 - usedDays) * DAY };
    const dial = place.last.open().say({ ...FULL, now });
    await place.settled();
    expect(dial.heard.map(({ type }) => type)).toEqual(renews ? ["renew"] : []);
    expect([place.state, place.why]).toEqual(["Connected", expect.stringContaining("One of two clocks is wrong")]);
    expect(place.why).toContain(new Date(now).toISOString());
    expect(place.said.join("\n")).toContain(place.why);
    place.last.lose();
    expect(place.why).toBe("reset (ECONNRESET)");
  }
});

test("HT6 HM1 a home is told that another one with its identity was cut off; clocks that agree are not mentioned", () => {
  const place = new Place();
  place.last.open().say({ ...FULL, now: place.clock.now() - 30_000, notice: "A connection was cut off." });
  expect([place.state, place.why, place.said[0]]).toEqual([
    ...["Connected", "A connection was cut off."],
    "tunnel: A connection was cut off.",
  ]);
});

test("TN-3(a) an expired certificate is renewed before anything else, then dialled with; renewed in vain, it waits; a denied renewal ends", async () => {
  const place = new Place();
  place.last.open().say({ ...FULL, mode: "renew", url: "" });
  await place.settled();
  expect([place.state, place.last.tab(), place.last.heard.length]).toEqual(["RequestRenewal", false, 1]);
  place.last.say({ type: "certificate", id: "a", certificate: `${PEM} 1`, authority: PEM });
  await place.settled();
  expect([place.state, place.last.options.identity?.certificate]).toEqual(["Connecting", `${PEM} 1`]);

  place.last.open().say({ ...FULL, mode: "renew", url: "" });
  expect([place.state, place.why]).toEqual(["BackoffWait", expect.stringContaining("does not accept it")]);
  place.clock.advance(1000);
  place.last.open().say({ ...FULL, mode: "renew", url: "" });
  await place.settled();
  place.last.say({ type: "denied", message: "Too late." });
  expect([place.state, place.tunnel.view.why]).toEqual(["Ended", "Too late."]);
  place.clock.advance(DAY);
  expect(place.dials).toHaveLength(3);
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
