// The page in a real Chromium, on a home of its own.
// web.bytes: everything that the first visit of Now loads, as it crosses the wire, in KB (10³ bytes); the peer is the
// bar.
// web.paint: from the navigation to the first content of the page, in milliseconds; the peer is an empty page of the
// same browser, in turn.
// web.echo: from a key to the arrival of its echo in the window's terminal, in milliseconds; the peer is `attach`,
// right after it: the one that types owns the size, so that in turn each key would draw the screen anew. Neither counts
// the drawing of the glyph: that is the emulator's.
// web.flood: 10 MB printed by a program, from the key that starts it until the last of it has come; the peer is
// `attach`.
// web.flood.blocked: the longest time that the page's only thread did nothing else meanwhile.
// web.thumbnails: CPU of the web host and all of the browser's processes with 25 terminals that each print a line a
// second, in percent of one core; the peer is the browser with an empty page.
// Not measured: a graphics card, phones, a slow line.
import type { Page } from "playwright-core";
import type { Run } from "./benches.ts";
import { signedIn, statusOf, terminal, type Web, withBrowser } from "./browser.ts";
import { cpuMsBetween, cpuTimesOf } from "./processes.ts";
import { inTurn, median } from "./rounds.ts";
import { costRow, type Row, timeRow } from "./row.ts";
import { until } from "./waiting.ts";
import { Window } from "./window.ts";

const MAX_KB = 200;
const MAX_BLOCKED_MS = 100;
/** On a busy machine. */
const FLOOD_MS = 120_000;
const TERMINALS = 25;
const FLOOD = "while read -r go; do seq 1 1400000; echo the flood is ov''er; done";

type Measure = (web: Web) => Promise<Row[]>;

const MEASURES: readonly { readonly names: readonly string[]; readonly measure: Measure }[] = [
  { names: ["web.bytes"], measure: bytes },
  { names: ["web.paint"], measure: paint },
  { names: ["web.echo"], measure: echo },
  { names: ["web.flood", "web.flood.blocked"], measure: flood },
  { names: ["web.thumbnails"], measure: thumbnails },
];

export const web: Run = (names, bench, emit) =>
  withBrowser(bench, "", async (tools) => {
    for (const one of MEASURES) {
      if (!one.names.some((name) => names.includes(name))) continue;
      for (const row of await one.measure(tools)) if (names.includes(row.name)) emit(row);
    }
  });

async function bytes(web: Web): Promise<Row[]> {
  let sum = 0;
  const page = await signedIn(web, async (fresh) => {
    const network = await fresh.context().newCDPSession(fresh);
    await network.send("Network.enable");
    network.on("Network.loadingFinished", ({ encodedDataLength }) => {
      sum += encodedDataLength;
    });
  });
  await page.waitForLoadState("networkidle");
  await page.context().close();
  return [costRow({ name: "web.bytes", value: sum / 1000, unit: "KB", bar: MAX_KB })];
}

async function paint(web: Web): Promise<Row[]> {
  const page = await signedIn(web);
  const { origin } = new URL(page.url());
  using empty = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => document("<p>empty</p>") });
  const painted = async (url: string) => {
    await page.goto("about:blank");
    await page.goto(url);
    const entry = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    await page.waitForFunction(entry);
    return (await page.evaluate(entry)) ?? Number.NaN;
  };
  const works = [`${origin}/`, `http://127.0.0.1:${empty.port}/`].map((url) => () => painted(url));
  const [value = 0, peerValue = 0] = (await inTurn(web.bench.quick ? 2 : 15, works)).map(median);
  await page.context().close();
  return [timeRow({ name: "web.paint", value, peer: "an empty page", peerValue })];
}

function document(body: string): Response {
  return new Response(`<!doctype html><title>x</title>${body}`, { headers: { "content-type": "text/html" } });
}

/** Notes in the page when a key was pressed, and when bytes of a stream came. */
function listen(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const seen = { pressed: 0, came: 0 };
    Object.assign(globalThis, { seen });
    addEventListener("keydown", () => Object.assign(seen, { pressed: performance.now(), came: 0 }), { capture: true });
    const Plain = WebSocket;
    globalThis.WebSocket = class extends Plain {
      constructor(url: string | URL) {
        super(url);
        this.addEventListener("message", ({ data }) => {
          if (typeof data === "string") return;
          const view = new DataView(data);
          // Behind the stream's number, frames: their length, and their tag. OUTPUT is 65.
          for (let at = 4; at + 5 <= view.byteLength; at += 4 + view.getUint32(at))
            if (view.getUint8(at + 4) === 65 && seen.came === 0) seen.came = performance.now();
        });
      }
    };
  });
}

async function echo(web: Web): Promise<Row[]> {
  const { home, bench } = web;
  await home.run("new", "-d", "echo", "--", "cat");
  const page = await signedIn(web, listen);
  await terminal(page, "echo");
  let key = 0;
  const nextKey = () => String.fromCharCode(97 + (key++ % 26));
  const inPage = async () => {
    await page.keyboard.press(nextKey());
    const took = () => {
      const { pressed, came } = (globalThis as unknown as { seen: { pressed: number; came: number } }).seen;
      return came > 0 && came - pressed;
    };
    return Number(await (await page.waitForFunction(took)).jsonValue());
  };
  const inWindow = async (window: Window) => {
    const letter = nextKey();
    const shown = window.shows(letter);
    const before = performance.now();
    window.type(letter);
    await shown;
    return performance.now() - before;
  };
  const rounds = bench.quick ? 3 : 100;
  const [mine = []] = await inTurn(rounds, [inPage]);
  await page.context().close();
  const window = new Window([...home.words, "attach", "echo"], home.env);
  await window.shows("a");
  const [theirs = []] = await inTurn(rounds, [() => inWindow(window)]);
  await window.close();
  return [timeRow({ name: "web.echo", value: median(mine), peer: "attach", peerValue: median(theirs) })];
}

async function flood(web: Web): Promise<Row[]> {
  const { home, bench } = web;
  await home.run("new", "-d", "flood", "--", "sh", "-c", FLOOD);
  const page = await signedIn(web, (fresh) =>
    fresh.addInitScript(`
      Object.assign(globalThis, { longest: 0, lastPressed: 0, lastCame: Infinity });
      addEventListener("keydown", () => (lastPressed = performance.now()), { capture: true });
      const Plain = WebSocket;
      globalThis.WebSocket = class extends Plain {
        constructor(url) {
          super(url);
          this.addEventListener("message", ({ data }) => {
            if (typeof data !== "string" && lastPressed > 0) lastCame = performance.now();
          });
        }
      };
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
      }).observe({ type: "longtask" });
    `),
  );
  await terminal(page, "flood");
  await page.evaluate("longest = 0");
  const screen = async () => (await page.locator(".xterm-accessibility-tree").allInnerTexts()).join("\n");
  await page.keyboard.type("go\n");
  const isQuiet = async () => Boolean(await page.evaluate("performance.now() - lastCame > 1000")) || undefined;
  await until("the end of the flood in the page", FLOOD_MS, isQuiet);
  const [value, longest] = (await page.evaluate("[lastCame - lastPressed, longest]")) as [number, number];
  await page.getByRole("button", { name: "Screen reader" }).click();
  const isShown = async () => /1400000\s+the flood is over/.test(await screen()) || undefined;
  await until("the last screen in the page", FLOOD_MS, isShown);
  await page.context().close();
  const window = new Window([...home.words, "attach", "--read-only", "flood"], home.env);
  await window.shows("the flood is over"); // The one before, on the restored screen.
  const shown = window.shows("the flood is over");
  const before = performance.now();
  await home.run("send", "flood", "go\n");
  await shown;
  const peerValue = performance.now() - before;
  await window.close();
  bench.say(`  the longest task: ${longest} ms`);
  return [
    timeRow({ name: "web.flood", value, peer: "attach", peerValue }),
    costRow({ name: "web.flood.blocked", value: longest, unit: "ms", bar: MAX_BLOCKED_MS }),
  ];
}

async function thumbnails(web: Web): Promise<Row[]> {
  const { home, bench } = web;
  await home.open(TERMINALS, ["sh", "-c", "while :; do date; sleep 1; done"]);
  const page = await signedIn(web);
  const ms = bench.quick ? 500 : 10_000;
  await page.getByRole("navigation").getByRole("link", { name: "Terminals" }).click();
  await page
    .locator("canvas")
    .nth(TERMINALS - 1)
    .waitFor({ state: "attached" });
  const value = await busy(web, ms);
  await page.goto("about:blank");
  const peerValue = await busy(web, ms);
  await page.context().close();
  return [{ name: "web.thumbnails", value, unit: "% CPU", peer: "an empty page", peerValue, ratio: peerValue / value }];
}

/** Percent of one core that the web host and the browser use. */
async function busy({ home, browser }: Web, ms: number): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const pids = [...processInfo.map(({ id }) => id), (await statusOf(home)).web.pid ?? 0];
  const before = cpuTimesOf(pids);
  await Bun.sleep(ms);
  return (cpuMsBetween(before, cpuTimesOf(pids)) * 100) / ms;
}
