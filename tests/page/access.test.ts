// Who gets in, in a real Chromium: our own page with its own token, and nothing else.
import { afterAll, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { endBrowser, HAS_CHROMIUM, newTab, PageHome, REBOUND, type Tab } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

test.skipIf(!HAS_CHROMIUM)(
  "a tab without a token is asked to sign in, and so is one that is signed out meanwhile (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page, strange } = await home.open();
    const { origin } = new URL(page.url());
    expect(page.url()).not.toContain("link=");
    const other = await newTab();
    await other.page.goto(origin);
    await other.page.getByText("holdfast open").first().waitFor();
    await home.ok("devices", "revoke", "--all");
    await page.getByText("holdfast open").first().waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    expect([...strange, ...other.strange]).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a page on another port of this machine learns nothing, by request, socket, frame or storage (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page } = await home.open();
    const { origin } = new URL(page.url());
    const token = await page.evaluate(() => sessionStorage.getItem("holdfast"));
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    using hostile = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => emptyPage() });
    const tab = await newTab();
    await tab.page.goto(`http://127.0.0.1:${hostile.port}/`);
    // It could not know the token.
    expect(await tab.page.evaluate(`(${HOSTILE})(${JSON.stringify([origin, token])})`)).toEqual(NOTHING);
  },
  180_000,
);

const NOTHING = {
  ...{ fetched: "nothing", posted: "nothing", socket: "closed", framed: "nothing" },
  ...{ stored: 0, cookies: "" },
};

/** What such a page may try; runs in the browser. */
const HOSTILE = `async ([at, known]) => {
  const tried = async (what) => {
    try {
      return await what();
    } catch (error) {
      return error instanceof TypeError ? "nothing" : String(error);
    }
  };
  const fetched = await tried(async () => (await fetch(at + "/")).text());
  const opaque = { method: "POST", body: "{}", mode: "no-cors" };
  const posted = await tried(async () => (await fetch(at + "/api/session", opaque)).text());
  const socket = await new Promise((done) => {
    const made = new WebSocket(at.replace("http", "ws") + "/api/socket");
    made.onopen = () => made.send(JSON.stringify({ type: "hello", token: known }));
    made.onmessage = ({ data }) => done(data);
    made.onclose = () => done("closed");
  });
  const framed = await new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => done(frame.contentDocument?.body?.textContent ?? "nothing");
    frame.src = at + "/";
    document.body.append(frame);
  });
  return { fetched, posted, socket, framed, stored: sessionStorage.length, cookies: document.cookie };
}`;

const EMPTY = "<!doctype html><body></body>";

function emptyPage(): Response {
  return new Response(EMPTY, { headers: { "content-type": "text/html" } });
}

test.skipIf(!HAS_CHROMIUM)(
  "G1 a stranger's name that leads to this machine gets nothing, by its own origin or another port's (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page } = await home.open();
    const { origin, port } = new URL(page.url());
    const token = await page.evaluate(() => sessionStorage.getItem("holdfast"));
    const tried = (tab: Tab, at: string) => tab.page.evaluate(`(${HOSTILE})(${JSON.stringify([at, token])})`);
    const rebound = `http://${REBOUND}:${port}`;
    const refusal = "This name is not served here.\n";

    const visitor = await newTab();
    const answer = await visitor.page.goto(rebound);
    expect([answer?.status(), await answer?.text()]).toEqual([403, refusal]);

    // The page of a stranger's server, whose name then leads here: for the browser both are one origin.
    const own = await newTab();
    await own.page.route(`${rebound}/theirs`, (route) => route.fulfill({ contentType: "text/html", body: EMPTY }));
    await own.page.goto(`${rebound}/theirs`);
    expect(await tried(own, rebound)).toEqual({ ...NOTHING, fetched: refusal, posted: refusal });
    expect(await tried(own, origin)).toEqual(NOTHING);

    using hostile = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => emptyPage() });
    const other = await newTab();
    await other.page.goto(`http://${REBOUND}:${hostile.port}/`);
    for (const at of [rebound, origin]) expect([at, await tried(other, at)]).toEqual([at, NOTHING]);
  },
  180_000,
);
