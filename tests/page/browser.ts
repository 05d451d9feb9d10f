// The page in a real Chromium, on a home of its own.
// PB1. One browser for a file, started when it is first needed; each tab has a context of its own, with nothing of the
//      others (`endBrowser`).
// PB2. No tab may load anything from elsewhere, log an error, or break the page's content policy: `strange` lists what
//      did, and each test that looks at the page ends by comparing it with nothing.
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { Home } from "../cli/terminal-home.ts";
import { withPage } from "../small-home.ts";
import { PATIENCE_MS } from "../until.ts";

/** The one without windows starts faster and takes half the processor time. */
const CHROMIUM = Bun.which("chromium-headless-shell") ?? Bun.which("chromium");
export const HAS_CHROMIUM = CHROMIUM !== null;
const WHOLE = Bun.which("chromium");
export const HAS_WHOLE_CHROMIUM = WHOLE !== null;
let program = CHROMIUM;

/** Called before the first tab of a file: only the one with windows shows notifications, and installs pages. */
export function useWholeChromium(): void {
  program = WHOLE;
}

/** A name that a stranger's name server would lead to this machine. */
export const REBOUND = "rebind.test";

/** It asks nothing of the internet, and needs no sandbox of its own: it only opens our page. */
const FLAGS = [
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
  "--disable-features=LocalNetworkAccessChecks", // Other browsers do not stop a stranger's page before it reaches us.
  "--no-sandbox",
  "--process-per-site", // Tabs that may share a process do: half as many processes, which cost most of a tab.
  "--renderer-process-limit=1",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let running: Promise<Browser> | undefined;

async function browser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath: program ?? "", args: FLAGS, timeout: PATIENCE_MS });
  return running;
}

/** PB1 */
export async function endBrowser(): Promise<void> {
  await (await running)?.close();
  running = undefined;
}

export type Tab = { readonly page: Page; readonly strange: string[] };

/** A small phone. */
export const PHONE = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** A signed-out tab. */
export async function newTab(dark = false, more: BrowserContextOptions = {}): Promise<Tab> {
  const context = await (await browser()).newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: dark ? "dark" : "light",
    ...more,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const strange: string[] = [];
  page.on("pageerror", (error) => strange.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const isNetwork = message.text().includes("WebSocket connection") || message.text().includes("Failed to load");
    if (message.type() === "error" && !isNetwork) strange.push(`console: ${message.text()}`); // Kills make those.
  });
  page.on("request", (request) => {
    if (!/^(?:http|ws):\/\/(?:127\.0\.0\.1|(?:[\w-]+\.)*localhost):|^(?:data|blob):/.test(request.url()))
      strange.push(`elsewhere: ${request.url()}`);
  });
  return { page, strange }; // PB2
}

export class PageHome extends Home {
  constructor(config = "") {
    super();
    withPage(join(this.path, "config.toml"), `[agents]\nsandbox = false\n${config}`);
  }

  /** A link that signs a browser in. */
  async link(): Promise<URL> {
    return new URL((await this.json("open")).url);
  }

  /** A tab that is signed in. */
  async open(view = "", dark = false, more: BrowserContextOptions = {}): Promise<Tab> {
    const tab = await newTab(dark, more);
    await tab.page.goto((await this.link()).href);
    await tab.page.getByText("Live", { exact: true }).waitFor();
    if (view !== "") await show(tab, view);
    return tab;
  }

  async pids(): Promise<{ readonly daemon: number | null; readonly web: number | null }> {
    const { daemon, web } = await this.status();
    return { daemon: daemon.pid, web: web.pid };
  }
}

/** Kills the daemon, and keeps the watchdog from starting the next one until the returned function is called. */
export async function daemonDown(home: PageHome): Promise<() => void> {
  const { watchdog, daemon } = await home.status();
  process.kill(watchdog.pid, "SIGSTOP");
  process.kill(daemon.pid, "SIGKILL");
  return () => process.kill(watchdog.pid, "SIGCONT");
}

/** By a link of the page, as a person would go there. */
export async function show({ page }: Tab, view: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: view }).click();
  await page.getByRole("heading", { level: 1, name: view }).waitFor();
}

/** From the list of terminals. */
export async function attach({ page }: Tab, name: string): Promise<void> {
  await page
    .getByRole("link")
    .filter({ has: page.getByText(name, { exact: true }) })
    .first()
    .click();
  await page.getByRole("region", { name: `Screen of ${name}` }).waitFor();
  await page.getByLabel("Terminal input").focus();
}
