// The page in a real Chromium, through a relay that cannot be trusted.
import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { CLOSE } from "../../src/wire/page/messages.ts";
import { SmallRelay } from "../tunnel/small-relay.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, newTab, show, type Tab } from "./browser.ts";

afterAll(endBrowser);

const live = (page: Page) => page.getByText("Live", { exact: true }).waitFor();

async function paired(relay: SmallRelay): Promise<Tab> {
  const tab = await newTab();
  await tab.page.goto(relay.pairUrl);
  await live(tab.page);
  return tab;
}

test.skipIf(!HAS_CHROMIUM)(
  "a device is paired by a link that works once, stays paired, and the relay sees nothing (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await paired(relay);
    expect(page.url()).not.toContain("pair=");
    const [[, token = ""] = []] = relay.devices;
    await page.reload();
    await live(page);
    expect(relay.devices.size).toBe(1);
    const seen = Buffer.concat(relay.connections.flatMap(({ toHome, toDevice }) => [...toHome, ...toDevice]));
    for (const secret of [token, "welcome", "hello", "status"]) expect(seen.includes(secret)).toBe(false);
    const kept = await page.evaluate(KEPT);
    expect(kept).toEqual({ names: ["device"], extractable: false, token, session: 0 });
    const other = await newTab();
    await other.page.goto(relay.pairUrl);
    await other.page.getByText("This pairing link was used already").waitFor();
    await other.page.getByText("holdfast pair").waitFor();
    expect(other.page.url()).not.toContain("pair=");
    expect([...strange, ...other.strange]).toEqual([]);
  },
  180_000,
);

/** What the browser has stored; runs there. */
const KEPT = `new Promise((done) => {
  const opening = indexedDB.open("holdfast");
  opening.onsuccess = () => {
    const vault = opening.result.transaction("holdfast").objectStore("holdfast");
    const [names, device] = [vault.getAllKeys(), vault.get("device")];
    device.onsuccess = () => {
      const { keys, token } = device.result;
      opening.result.close();
      const { extractable } = keys.privateKey;
      done({ names: names.result, extractable, token, session: sessionStorage.length + localStorage.length });
    };
  };
})`;

test.skipIf(!HAS_CHROMIUM)(
  "a device that is not paired is told how to be, and a link in the same tab pairs it (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await newTab();
    await page.goto(relay.url);
    await page.getByText("This device is not paired.").waitFor();
    await page.getByText("holdfast pair").waitFor();
    await page.goto(`${relay.url}#pair=nonsense`);
    await page.getByText("This is not a whole pairing link.").waitFor();
    expect(relay.connections).toEqual([]);
    await page.goto(relay.pairUrl);
    await live(page);
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a link that pairs nothing leaves an earlier pairing alone, whoever refuses it (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await paired(relay);
    for (const [isFull, why] of [
      [false, "This pairing link was used already"],
      [true, "This link is too old."],
    ] as const) {
      relay.isFull = isFull;
      await page.goto(relay.pairUrl);
      await page.getByText(why).waitFor();
      expect(page.url()).not.toContain("pair=");
      await page.reload();
      await live(page);
    }
    expect(relay.devices.size).toBe(1);
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a flipped byte of an answer shows nothing as done: the page connects again (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const tab = await paired(relay);
    await show(tab, "Access");
    await tab.page.getByRole("button", { name: /Sign out/ }).waitFor();
    const before = relay.connections.length;
    relay.meddle = (bytes, passed) =>
      passed === relay.connections[before - 1] && relay.calls.includes("device.revoke")
        ? bytes.with(-1, (bytes.at(-1) ?? 0) ^ 1)
        : bytes;
    await tab.page.getByRole("button", { name: /Sign out/ }).click();
    await tab.page.getByText("Look whether it was done").waitFor();
    expect(await tab.page.getByText("a phone is signed out.").count()).toBe(0);
    await until(
      "the page connects again",
      () => relay.connections.length > before,
      () => relay.connections.length,
    );
    await live(tab.page);
    expect(relay.calls.filter((method) => method === "device.revoke")).toHaveLength(1);
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "what was recorded of an earlier session is refused by the page, which comes back with the real home (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await paired(relay);
    const recorded = relay.connections[0];
    const before = relay.connections.length;
    relay.meddle = (bytes, passed) => {
      const isNext = passed === relay.connections[before];
      return (isNext ? recorded?.toDevice[passed.toDevice.length - 1] : undefined) ?? bytes;
    };
    await page.reload();
    await until(
      "a third session",
      () => relay.connections.length > before + 1,
      () => relay.connections.length,
    );
    await live(page);
    expect(relay.connections[before]?.toHome).toHaveLength(1); // The device has said nothing of its own.
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a connection that has become silent is given up, and a page without HTTPS says what it lacks (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await newTab();
    await page.clock.install();
    await page.goto(relay.pairUrl);
    await live(page);
    relay.isSilent = true;
    const before = relay.connections.length;
    for (const _ of [1, 2]) await page.clock.fastForward(10_000);
    await until(
      "the page connects again",
      () => relay.connections.length > before,
      () => relay.connections.length,
    );
    relay.isSilent = false;
    await page.clock.fastForward(10_000);
    await live(page);
    await page.addInitScript("Object.defineProperty(globalThis, 'isSecureContext', { value: false })");
    await page.reload();
    await page.getByText("This page was not loaded over HTTPS").waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "the relay's close codes only change what is shown; the home's own sign a device out for good (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await paired(relay);
    const before = relay.connections.length;
    relay.cut(CLOSE.signedOut);
    await until(
      "the page connects again",
      () => relay.connections.length > before,
      () => relay.connections.length,
    );
    await live(page);
    relay.isHomeAway = true;
    relay.cut(1001);
    await page.getByText("The home is not connected to the relay.").waitFor();
    relay.isHomeAway = false;
    await live(page);
    relay.signOut();
    await page.getByText("This browser is not signed in.").waitFor();
    await page.reload();
    await page.getByText("This device is not paired.").waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);
