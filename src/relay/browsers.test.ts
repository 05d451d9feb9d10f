// Limits for browsers, and whose they count as. What is served, and how bytes pass, is in tests/tunnel.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { EMPTY, type EnrolledHome, type Records } from "../core/relay/records.ts";
import { TAB_CLOSED } from "../wire/tunnel/browser.ts";
import type { PublicRequest, WebSocketConnection } from "../world/http.ts";
import { realRandom } from "../world/real/random.ts";
import { Browsers } from "./browsers.ts";
import type { Homes } from "./homes.ts";

const HOME: EnrolledHome = {
  ...{ id: "1", label: "laptop", name: "laptop", enrolledAt: 0, seenAt: 0, certificates: [], revokedAt: null },
};
const RECORDS: Records = { ...EMPTY, homes: new Map([["1", HOME]]), byLabel: new Map([["laptop", "1"]]) };
const HOST = "laptop.relay.test";
const STREAM = {
  send: () => true,
  pause: () => undefined,
  resume: () => undefined,
  end: () => undefined,
  destroy: () => undefined,
};

function place(behindProxy: boolean, tabsOfHome = 0) {
  const clock = new SimClock();
  const link = { tabs: tabsOfHome, openTab: () => STREAM };
  const homes = { of: () => link } as unknown as Homes;
  const world = { clock, random: realRandom(), files: async () => new Map() };
  return {
    clock,
    browsers: new Browsers(world, { domain: "relay.test", behindProxy, origins: [], homes, records: () => RECORDS }),
  };
}

function request(address: string, headers: Readonly<Record<string, string>> = {}, target = "/x"): PublicRequest {
  const all: Readonly<Record<string, string>> = { host: HOST, ...headers };
  return { method: "GET", target, address, header: (name: string) => all[name] } as unknown as PublicRequest;
}

/** How many of so many requests are refused because there were too many. */
async function refused(browsers: Browsers, count: number, next: (at: number) => PublicRequest): Promise<number> {
  let refusals = 0;
  for (let at = 0; at < count; at += 1) {
    const answer = await browsers.answer(next(at));
    if ("status" in answer && answer.status === 429) refusals += 1;
  }
  return refusals;
}

test("BR4 an address has 600 requests a minute; others are not affected, and a minute later it has them again", async () => {
  const { clock, browsers } = place(false);
  expect(await refused(browsers, 610, () => request("192.0.2.1"))).toBe(10);
  expect(await refused(browsers, 1, () => request("192.0.2.2"))).toBe(0);
  clock.advance(61_000);
  expect(await refused(browsers, 1, () => request("192.0.2.1"))).toBe(0);
});

test("BR3 behind a proxy the address is the last that it has added, whatever the browser claims before it", async () => {
  const { browsers } = place(true);
  const claimed = (at: number) => request("127.0.0.1", { "x-forwarded-for": `10.0.0.${at % 250}, 192.0.2.1` });
  expect(await refused(browsers, 610, claimed)).toBe(10);
  expect(await refused(browsers, 1, () => request("127.0.0.1", { "x-forwarded-for": "192.0.2.2" }))).toBe(0);
  expect(await refused(browsers, 610, () => request("127.0.0.1", { "x-forwarded-for": " " }))).toBe(10);
});

test("BR3 without a proxy that header says nothing", async () => {
  const { browsers } = place(false);
  const claimed = (at: number) => request("192.0.2.1", { "x-forwarded-for": `10.0.0.${at % 250}` });
  expect(await refused(browsers, 610, claimed)).toBe(10);
});

/** Opens a tab; the code with which it was closed. */
async function tab(browsers: Browsers, at = 0): Promise<number | undefined> {
  let code: number | undefined;
  const origin = { origin: `https://${HOST}` };
  const answer = await browsers.answer(request(`192.0.2.${at % 200}`, origin, "/api/tunnel"));
  const close = (given: number) => {
    code = given;
  };
  if ("accept" in answer) answer.accept({ close, send: () => undefined, waiting: 0 } as unknown as WebSocketConnection);
  return code;
}

test("BR4 a home has 128 tabs, and all together 2,000", async () => {
  expect(await tab(place(false, 127).browsers)).toBeUndefined();
  expect(await tab(place(false, 128).browsers)).toBe(TAB_CLOSED.full);
  const { browsers } = place(false);
  for (let at = 0; at < 2_000; at += 1) expect(await tab(browsers, at)).toBeUndefined();
  expect(await tab(browsers)).toBe(TAB_CLOSED.full);
  expect(browsers.tabs).toBe(2_000);
});
