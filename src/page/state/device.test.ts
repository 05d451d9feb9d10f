// A device against a home that the test plays, with a relay between them that says what the test wants.
import { expect, test } from "bun:test";
import { HOME, web } from "../../../tests/tunnel/channels.ts";
import { until } from "../../../tests/until.ts";
import { MAX_LINE } from "../../wire/lines.ts";
import { Channel } from "../../wire/noise/channel.ts";
import type { Bytes } from "../../wire/noise/crypto.ts";
import { PAIR_LINK, pairingPsk, tokenPsk } from "../../wire/noise/psk.ts";
import type { PageWireEvents } from "../../wire/page/client.ts";
import { CLOSE } from "../../wire/page/messages.ts";
import { type DeviceDoors, findWay } from "./device.ts";
import type { Way } from "./session.ts";

const SECRET = new Uint8Array(16).fill(5);
const LINK = PAIR_LINK.write({ secret: SECRET, home: HOME.publicKey });

/** A browser, and what is behind the relay. */
class Site {
  readonly vault = new Map<string, unknown>();
  readonly beats = new Set<() => void>();
  readonly heard: unknown[] = [];
  link: string | null = null;
  /** What a device must prove. */
  psk: Bytes = new Uint8Array(32);
  /** By the device's keys that the home has seen. */
  readonly peers: string[] = [];
  reloads = 0;
  changed: () => void = () => undefined;
  home: Channel | undefined;
  socket: PageWireEvents | undefined;

  readonly doors: DeviceDoors = {
    cryptography: () => crypto.subtle,
    isFramed: () => false,
    every: (_, fn) => {
      this.beats.add(fn);
      return () => void this.beats.delete(fn);
    },
    readVault: async (name) => this.vault.get(name),
    keepInVault: async (name, value) => {
      if (value === undefined) this.vault.delete(name);
      else this.vault.set(name, value);
    },
    address: {
      named: () => this.link,
      forget: () => {
        this.link = null;
      },
      whenChanged: (fn) => {
        this.changed = fn;
      },
      reload: () => {
        this.reloads += 1;
      },
    },
    connect: (_, events) => this.#connect(events),
  };

  #connect(events: PageWireEvents) {
    this.socket = events;
    const later = (fn: () => void) => queueMicrotask(fn); // As a socket does.
    const ports = {
      ...{ crypto: web, most: MAX_LINE },
      send: (bytes: Bytes) => later(() => events.bytes(bytes)),
      close: () => later(() => events.closed(1000, "")),
    };
    const home = Channel.respond(
      ports,
      { key: HOME, pskOf: () => [this.psk] },
      {
        open: (peer) => this.peers.push(peer.toHex()),
        message: (message) => this.heard.push(`home: ${message}`),
        closed: () => undefined,
      },
    );
    this.home = home;
    later(events.opened);
    return {
      send: (message: string | Bytes) => later(() => void (typeof message !== "string" && home.receive(message))),
      close: () => home.lost(),
    };
  }

  async way(): Promise<Way> {
    const found = await findWay(this.doors);
    if (!found.ok) throw new Error(found.error);
    return found.value;
  }

  connect(way: Way) {
    const told = (what: string) => void this.heard.push(what);
    return way.connect({
      opened: () => told("opened"),
      text: (message) => told(`device: ${message}`),
      bytes: (bytes) => told(`device: ${bytes.toHex()}`),
      closed: (code, why) => told(`closed ${code} ${why}`.trim()),
    });
  }

  async hears(what: string): Promise<void> {
    await until(
      `it hears ${what}`,
      () => this.heard.some((one) => String(one).startsWith(what)),
      () => this.heard,
    );
  }

  /** Until both sides are open: the home is after the device. */
  async open(way: Way) {
    this.heard.length = 0;
    const before = this.peers.length;
    const wire = this.connect(way);
    await this.hears("opened");
    await until(
      "the home is open",
      () => this.peers.length > before,
      () => this.peers,
    );
    return wire;
  }

  /** As `holdfast pair` and the home do it. */
  async paired(): Promise<Way> {
    this.link = LINK;
    this.psk = await pairingPsk(web, SECRET);
    const way = await this.way();
    this.connect(way);
    await until(
      "the channel is open",
      () => this.peers.length > 0,
      () => this.heard,
    );
    this.home?.send(JSON.stringify({ type: "paired", token: "t" }));
    await this.hears("opened");
    this.psk = await tokenPsk(web, "t");
    return way;
  }
}

test("DE2, DE3 a device is stored before it says hello; the link leaves the address, and the next page is the same device", async () => {
  const site = new Site();
  const way = await site.paired();
  expect([way.token(), site.link, [...site.vault.keys()]]).toEqual(["t", null, ["device"]]);
  const wire = await site.open(await site.way());
  expect(new Set(site.peers).size).toBe(1);
  wire.send("hello");
  await site.hears("home: hello");
  site.home?.send("welcome");
  site.home?.send(new Uint8Array([1, 2]));
  await site.hears("device: 0102");
  expect(site.heard).toContain("device: welcome");
});

test("DE2 a page that was closed while it was paired tries again with the same key", async () => {
  const site = new Site();
  site.link = LINK;
  site.psk = await pairingPsk(web, SECRET);
  for (const _ of [1, 2]) site.connect(await site.way());
  await until(
    "both have come",
    () => site.peers.length === 2,
    () => site.peers,
  );
  expect(new Set(site.peers).size).toBe(1);
  expect([...site.vault.keys()]).toEqual(["pairing"]);
});

test("what a browser lacks, and a link that is none, is said", async () => {
  const trouble = async (doors: Partial<DeviceDoors>, site = new Site()) => {
    const found = await findWay({ ...site.doors, ...doors });
    return found.ok ? "" : found.error;
  };
  const fails = (name: string) => async () => {
    throw new DOMException("", name);
  };
  expect(await trouble({})).toContain("not paired");
  expect(await trouble({ isFramed: () => true })).toContain("inside of another one"); // DE6
  expect(await trouble({ cryptography: () => undefined })).toContain("HTTPS");
  expect(await trouble({ readVault: fails("SecurityError") })).toContain("keeps nothing");
  expect(await trouble({ readVault: fails("NotSupportedError") })).toContain("too old");
  const site = new Site();
  site.link = "nonsense";
  expect(await trouble({}, site)).toContain("not a whole pairing link");
  expect(site.link).toBeNull();
  site.changed();
  site.link = LINK;
  site.changed();
  expect(site.reloads).toBe(1);
});

test("DE1 the relay's close codes change what is shown, and sign nobody out", async () => {
  const site = new Site();
  const way = await site.paired();
  for (const [said, told] of [
    [CLOSE.signedOut, 1006],
    [CLOSE.noHome, CLOSE.noHome],
    [CLOSE.tooMany, CLOSE.tooMany],
  ]) {
    await site.open(way);
    site.socket?.closed(said ?? 0, "You are signed out.");
    await site.hears("closed");
    expect(site.heard.at(-1)).toBe(`closed ${told}`);
  }
  expect(site.vault.has("device")).toBe(true);
});

test("DE4 the home's own word makes a device forget; a refused handshake and a link that pairs nothing do not", async () => {
  const site = new Site();
  const way = await site.paired();
  const right = site.psk;
  site.psk = new Uint8Array(32);
  site.connect(way);
  await site.hears(`closed ${CLOSE.signedOut} The home did not accept this device`);
  site.link = LINK;
  site.connect(await site.way());
  await site.hears(`closed ${CLOSE.signedOut} This pairing link was used already`);
  expect(site.link).toBeNull();
  expect(site.vault.has("device")).toBe(true);
  site.psk = right;
  await site.open(way);
  site.home?.close(CLOSE.signedOut, "Signed out.");
  await site.hears(`closed ${CLOSE.signedOut} Signed out.`);
  expect(site.vault.has("device")).toBe(false);
});

test("DE5 a connection that is silent between two beats is given up, once", async () => {
  const site = new Site();
  const way = await site.paired();
  site.beats.clear();
  await site.open(way);
  const beat = () => {
    for (const fn of site.beats) fn();
  };
  beat(); // It was heard, and is asked now; it does not answer.
  site.home = undefined;
  beat();
  expect(site.heard.at(-1)).toBe("closed 1006");
  expect(site.beats.size).toBe(0);
});
