// The page's own files, kept by its service worker in a real Chromium: for times without a network, and never in the
// way of a newer version.
import { afterAll, expect, test } from "bun:test";
import { VERSION } from "../../src/wire/version.ts";
import { SmallRelay } from "../tunnel/small-relay.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_WHOLE_CHROMIUM, newTab, PHONE, type Tab, useWholeChromium } from "./browser.ts";

useWholeChromium();
afterAll(endBrowser);

const CONTROLLED = "navigator.serviceWorker.controller?.state === 'activated'";

/** Through a relay of the test's own, and until its worker keeps the page. */
async function kept(relay: SmallRelay): Promise<Tab> {
  const tab = await newTab(false, PHONE);
  await tab.page.goto(relay.pairUrl);
  await tab.page.getByText("Live", { exact: true }).waitFor();
  await until(
    "its worker is there",
    () => tab.page.evaluate(CONTROLLED),
    () => tab.page.evaluate("navigator.serviceWorker.controller?.state"),
  );
  return tab;
}

const CACHED = `(async () => (await Promise.all((await caches.keys()).map(async (name) =>
  (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).flat().sort())()`;

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "the page can be installed, keeps its own files and nothing else, and is there without a network (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await kept(relay);
    const devtools = await page.context().newCDPSession(page);
    const { installabilityErrors: no } = await devtools.send("Page.getInstallabilityErrors");
    expect(no.map(({ errorId }) => errorId)).toEqual(["in-incognito"]); // A tab of a test is always one of these.
    const { errors, data = "" } = await devtools.send("Page.getAppManifest");
    expect([errors, JSON.parse(data)["display"]]).toEqual([[], "standalone"]);
    const cached: string[] = await page.evaluate(CACHED);
    expect(cached.filter((path) => !/^\/(?:[\w-]+\.(?:js|css))?$/.test(path))).toEqual([]);
    expect(cached).toContain("/main.js");
    expect(cached).not.toContain("/worker.js");
    relay.isDown = true;
    await page.reload();
    await page.getByText("There is no connection to the home.").waitFor();
    relay.isDown = false;
    await page.getByText("Live", { exact: true }).waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

/** A cache that has everything, and all of it wrong. Runs in the browser. */
const BREAK = `(async () => {
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys())
      await cache.put(request, new Response("broken", { headers: { "content-type": "text/html" } }));
  }
})()`;

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a broken cache locks nobody out, and a new version of the page replaces the old one by itself (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    const { page, strange } = await kept(relay);
    await page.evaluate(BREAK);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    relay.isNewer = true;
    await page.reload();
    expect(await page.content()).toContain('name="newer"');
    const names = "(async () => (await caches.keys()).length)()";
    await until(
      "the next worker keeps the new page",
      async () => String(await page.evaluate(CACHED_PAGE)).includes('name="newer"'),
      () => page.evaluate(names),
    );
    expect(strange).toEqual([]);
  },
  180_000,
);

const CACHED_PAGE = `(async () => {
  const name = (await caches.keys()).at(-1);
  return (await (await caches.open(name)).match(new URL("./", location.href)))?.text() ?? "";
})()`;

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "PV1 PV2 a page of another version than its home loads itself again once, and then says so (needs chromium)",
  async () => {
    using relay = await SmallRelay.start();
    relay.version = "99.0.0";
    const tab = await newTab(false, PHONE);
    await tab.page.goto(relay.pairUrl);
    await tab.page.getByText(`This page is of version ${VERSION}, and the home of 99.0.0.`).waitFor();
    await until(
      "it was loaded twice",
      () => relay.pages === 2,
      () => relay.pages,
    );
    await tab.page.getByText("Live", { exact: true }).waitFor();
    relay.version = VERSION;
    await tab.page.reload();
    await tab.page.getByText("Live", { exact: true }).waitFor();
    await tab.page.getByText("This page is of version").waitFor({ state: "detached" });
    expect(relay.pages).toBe(3);
    expect(tab.strange).toEqual([]);
  },
  180_000,
);
