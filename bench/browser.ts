// A home with the page, and a real Chromium that opens it.
import { type Browser, chromium, type Page } from "playwright-core";
import type { StatusResult } from "../src/wire/rpc/rpc.ts";
import { Home } from "./home.ts";
import type { Bench } from "./scratch.ts";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

export type Web = { readonly home: Home; readonly browser: Browser; readonly bench: Bench };

/** Says so if there is no Chromium. */
export async function withBrowser(bench: Bench, config: string, work: (web: Web) => Promise<void>): Promise<void> {
  const executablePath = Bun.which("chromium");
  if (executablePath === null) {
    bench.say("skipped: web: chromium is not installed");
    return;
  }
  const home = await Home.start(bench, "w", config);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    await work({ home, browser, bench });
  } finally {
    await browser.close();
    await home.end();
  }
}

/** Browsers report tasks of this length and more; of a page without any, it is all that is known. */
const SEEN_FROM_MS = 50;

/** Begins to look for the longest task of the page's thread; `longestTask` tells it. */
export const WATCH_TASKS = `globalThis.longest = ${SEEN_FROM_MS};
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: "longtask" });`;

export async function longestTask(page: Page): Promise<number> {
  return Number(await page.evaluate("longest"));
}

/** A tab of its own, signed in. */
export async function signedIn({ home, browser }: Web, prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await prepare?.(page);
  await page.goto(await linkOf(home));
  await page.getByText("Live", { exact: true }).waitFor();
  return page;
}

export async function statusOf(home: Home): Promise<StatusResult> {
  const status = await home.status();
  if (status === undefined) throw new Error("the daemon does not answer");
  return status;
}

/** A link that signs a browser in. */
async function linkOf(home: Home): Promise<string> {
  const client = await home.dial();
  const made = await client?.call("device.link", {});
  client?.close();
  if (made?.ok !== true) throw new Error("there is no link");
  return `${(await statusOf(home)).web.url}#link=${made.value.link}`;
}

/** Opens it from the list, with the focus in it. */
export async function terminal(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: "Terminals" }).click();
  await page
    .getByRole("link")
    .filter({ has: page.getByText(name, { exact: true }) })
    .first()
    .click();
  await page.getByLabel("Terminal input").focus();
}
