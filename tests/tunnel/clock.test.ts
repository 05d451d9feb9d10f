// A home whose clock is wrong, with a real relay over real TLS. TLS takes the time of this machine, so it is the
// relay's clock that is moved: to the home, both are the same.
import { afterEach, expect, test } from "bun:test";
import type { TunnelView } from "../../src/core/tunnel/tunnel.ts";
import { enrol } from "../../src/home/enrol.ts";
import type { Enrolment } from "../../src/home/tunnel-files.ts";
import { HomeTunnel } from "../../src/web/tunnel.ts";
import { realTunnels } from "../../src/world/real/tunnel.ts";
import { realWorld } from "../../src/world/world.ts";
import { until } from "../until.ts";
import { certificates } from "./certificates.ts";
import { RelaySite } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const world = { ...realWorld(), tunnels: realTunnels(), certificates };
const NOTHING = { bytes: () => undefined, drained: () => undefined, closed: () => undefined };

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A home that has enrolled at a relay whose clock is ahead by so much, and dials it. */
class Home {
  readonly site = new RelaySite(closers);
  readonly seen: TunnelView[] = [];
  #enrolment: Enrolment | undefined;

  static async at(relayAheadMs: number): Promise<Home> {
    const home = new Home();
    home.site.movedMs = relayAheadMs;
    await home.site.start();
    const { port } = (await home.site.ask({ method: "status" })).tunnel;
    const enrolled = await enrol(world, { host: "localhost", port }, await home.site.token(), "skewed");
    if (!enrolled.ok) throw new Error(enrolled.error.message);
    home.#enrolment = enrolled.value;
    return home;
  }

  get until(): number {
    return certificates.lifeOf(this.#enrolment?.certificate ?? "")?.notAfter ?? 0;
  }

  dial(): this {
    const tunnel = new HomeTunnel({
      ...{ ...world, enrolment: () => this.#enrolment, isWanted: () => true, tab: () => NOTHING },
      store: async (renewed) => {
        this.#enrolment = renewed;
      },
      changed: (view) => void this.seen.push(view),
      say: () => undefined,
    });
    closers.push(() => tunnel.close());
    tunnel.look();
    return this;
  }

  async comesTo(state: TunnelView["state"]): Promise<string> {
    const found = () => this.seen.findLast((view) => view.state === state);
    return (await until(`it is ${state}`, found, () => this.seen)).why;
  }
}

test("TN-1(a) TN-3(a) a home whose clock is hours or weeks off enrols and connects, and renews in the relay's time", async () => {
  for (const [relayAhead, isTold] of [
    [0, false],
    [12 * HOUR, true], // The home is behind.
    [-12 * HOUR, true],
    [-80 * DAY, true], // By its own clock, its certificate has ended.
  ] as const) {
    const home = await Home.at(relayAhead);
    const why = await home.dial().comesTo("Connected");
    expect(why.includes("One of two clocks is wrong")).toBe(isTold);
    const before = home.until;
    home.site.movedMs += 25 * DAY; // Time to renew.
    home.dial();
    const isRenewed = () => home.until > before;
    await until("the certificate is renewed", isRenewed, () => home.seen);
  }
});

test("TN-3(c) a clock that is off by more than the relay's certificate lives keeps the home away, and it says so", async () => {
  for (const [relayAhead, code] of [
    [2 * DAY, "CERT_NOT_YET_VALID"],
    [-100 * DAY, "CERT_HAS_EXPIRED"],
  ] as const) {
    const why = await (await Home.at(relayAhead)).dial().comesTo("BackoffWait");
    expect(why).toContain("one of the two clocks may be wrong");
    expect(why).toContain(code);
  }
});
