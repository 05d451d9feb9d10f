// A tab through the relay, with the device's side of the channel in the same process. A browser is in tests/tunnel.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { DEVICE, HOME, web } from "../../tests/tunnel/channels.ts";
import { until } from "../../tests/until.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { Device, Devices } from "../core/devices.ts";
import { MAX_LINE } from "../wire/lines.ts";
import { Channel, type ChannelEnd } from "../wire/noise/channel.ts";
import type { Bytes } from "../wire/noise/crypto.ts";
import { sha256 } from "../world/hash.ts";
import type { WebSocketConnection } from "../world/http.ts";
import type { Browsers } from "./browsers.ts";
import { RemoteTab } from "./remote-tab.ts";

const PAIRING = sha256("pairing");
const [TIME, KEY] = ["2026-11-18T00:00:00.000Z", DEVICE.publicKey.toHex()];

function deviceWith(token: string, key: string): Device {
  return { id: `id of ${token}`, name: "phone", hash: sha256(token), madeAt: TIME, usedAt: TIME, key, rights: "look" };
}

/** The home: what is stored, and the tabs that it has accepted. */
class Place {
  readonly clock = new SimClock();
  readonly failures: unknown[] = [];
  readonly tabs: { readonly socket: WebSocketConnection; readonly heard: unknown[]; knows(token: string): boolean }[] =
    [];
  stored: Devices = { links: [{ hash: PAIRING, until: TIME, rights: "look", name: "phone" }], devices: [] };
  fails = false;
  readonly seen: string[] = [];
  readonly ends: ChannelEnd[] = [];
  isDestroyed = false;
  device: Channel | undefined;

  /** Connects a device that knows this pre-shared key. */
  async come(psk: string): Promise<Channel> {
    const browsers = {
      of: (token: string) => this.stored.devices.find(({ hash }) => hash === sha256(token)),
      remote: () => this.stored,
      wrong: () => false,
      redeem: (link: string, name: string, key = "") => this.#redeem(link, name, key),
    } as unknown as Browsers;
    const stream = {
      send: (bytes: Uint8Array) => {
        void this.device?.receive(bytes);
        return true;
      },
      ...{ pause: () => undefined, resume: () => undefined },
      end: () => this.device?.lost(),
      destroy: () => {
        this.isDestroyed = true;
        tab.closed();
      },
    };
    const tab: RemoteTab = new RemoteTab(stream, {
      ...{ clock: this.clock, crypto: web, key: HOME, browsers },
      accept: (socket, known) => {
        const heard: unknown[] = [];
        this.tabs.push({ socket, heard, knows: (token) => known.of(token) !== undefined });
        const message = (given: unknown) => {
          if (this.fails) throw new Error("a bug");
          heard.push(given);
        };
        return { message, closed: () => void heard.push("closed") };
      },
      failed: (error) => void this.failures.push(error),
    });
    const ports = { crypto: web, most: MAX_LINE, send: (bytes: Bytes) => tab.bytes(bytes), close: () => tab.closed() };
    const initiator = { key: DEVICE, home: HOME.publicKey, psk: Uint8Array.fromHex(psk) };
    const device = Channel.initiate(ports, initiator, {
      open: () => void this.seen.push("open"),
      message: (message) => void this.seen.push(String(message)),
      closed: (end) => void this.ends.push(end),
    });
    this.device = device;
    await until(
      "the channel is open, or over",
      () => this.seen.includes("open") || this.ends.length > 0,
      () => this,
    );
    return device;
  }

  async #redeem(link: string, name: string, key: string): Promise<Result<{ id: string; token: string }>> {
    const isKnown = [...this.stored.links.map(({ hash }) => hash), ...this.stored.devices.map((one) => one.link)];
    if (!isKnown.includes(link)) return refused("no-link", "It was used.", "");
    this.stored = { links: [], devices: [{ ...deviceWith("new token", key), name }] };
    return ok({ id: "1", token: "new token" });
  }

  async tab() {
    return until(
      "a tab is accepted",
      () => this.tabs[0],
      () => [this.ends, this.failures],
    );
  }
}

test("RB1 RB2 the secret of a pairing makes a device, which gets its token; only that token opens the page", async () => {
  const place = new Place();
  const device = await place.come(PAIRING);
  const tab = await place.tab();
  await until(
    "it has its token",
    () => place.seen.length > 1,
    () => place.seen,
  );
  expect(place.seen[1]).toBe(JSON.stringify({ type: "paired", token: "new token" }));
  expect(place.stored.devices).toMatchObject([{ key: KEY, name: "paired device" }]);
  const other = deviceWith("of another device", "0".repeat(64));
  place.stored = { links: [], devices: [...place.stored.devices, other] };
  expect(["new token", "of another device", "wrong"].map((token) => tab.knows(token))).toEqual([true, false, false]);
  place.stored = { links: [], devices: [other] }; // Signed out.
  expect(tab.knows("new token")).toBe(false);
  device.send("hello");
  await until(
    "the page's messages arrive",
    () => tab.heard[0] === "hello",
    () => tab.heard,
  );
  tab.socket.send("welcome");
  await until(
    "and its answers",
    () => place.seen[2] === "welcome",
    () => place.seen,
  );
});

test("RB1 a paired device comes back by its key and token; without either it gets no tab", async () => {
  const known = new Place();
  known.stored = { links: [], devices: [deviceWith("token", KEY)] };
  await known.come(sha256("token"));
  expect((await known.tab()).knows("token")).toBe(true);

  const strangers = [
    { links: [], devices: [deviceWith("token", "0".repeat(64))] }, // Another device's token.
    { links: [], devices: [deviceWith("another token", KEY)] },
    { links: [], devices: [] },
  ];
  for (const stored of strangers) {
    const place = new Place();
    place.stored = stored;
    await place.come(sha256("token"));
    await until(
      "it is refused",
      () => place.ends.length > 0,
      () => place.seen,
    );
    expect([place.ends[0]?.kind, place.tabs.length]).toEqual(["refused", 0]);
  }
});

test("RB1 DV6 a device whose token was lost on its way shows the secret again; another device cannot", async () => {
  for (const [key, end] of [
    [KEY, undefined],
    ["0".repeat(64), "refused"],
  ] as const) {
    const place = new Place();
    place.stored = { links: [], devices: [{ ...deviceWith("lost token", key), link: PAIRING, linkUntil: TIME }] };
    await place.come(PAIRING);
    await until(
      "it has another token, or is refused",
      () => place.seen.length > 1 || place.ends.length > 0,
      () => place.seen,
    );
    const token = end === undefined ? JSON.stringify({ type: "paired", token: "new token" }) : undefined;
    expect([place.ends[0]?.kind, place.seen[1]]).toEqual([end, token]);
  }
});

test("RB5 an error of ours ends this tab, and is reported once", async () => {
  const place = new Place();
  const device = await place.come(PAIRING);
  const tab = await place.tab();
  place.fails = true;
  device.send("hello");
  await until(
    "the tab is over",
    () => tab.heard.at(-1) === "closed",
    () => [tab.heard, place.failures],
  );
  expect([place.isDestroyed, place.failures.map(String)]).toEqual([true, ["Error: a bug"]]);
});

test("RB4 a channel that does not open is closed", () => {
  const clock = new SimClock();
  let isDestroyed = false;
  const nothing = () => undefined;
  const destroy = () => {
    isDestroyed = true;
  };
  const stream = { send: () => true, pause: nothing, resume: nothing, end: nothing, destroy };
  const ports = { clock, crypto: web, key: HOME, browsers: {} as Browsers, failed: nothing };
  const tab = new RemoteTab(stream, { ...ports, accept: () => ({ message: nothing, closed: nothing }) });
  clock.advance(19_999);
  expect(isDestroyed).toBe(false);
  clock.advance(1);
  expect([isDestroyed, tab.waiting]).toEqual([true, 0]);
});
