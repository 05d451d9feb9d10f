// Pictures of every view of the page, light and dark, in windows of four sizes, the last one a phone's, from a real
// home with a real browser.
//   npm run screenshots            all of them, into docs/images/
//   npm run screenshots -- --readme    only those in README and docs, which are the committed ones
//   npm run screenshots -- --to DIR    elsewhere, to look at them
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { ROOT } from "./files.ts";
import { ScreenshotHome } from "./screenshot-home.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const ARGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const ARGUMENTS = process.argv.slice(2);
const TO = ARGUMENTS.indexOf("--to") + 1;
const FOLDER = TO === 0 ? join(ROOT, "docs/images") : resolve(ARGUMENTS[TO] ?? ".");
const SIZES = [
  { width: 1280, height: 800 },
  { width: 1440, height: 900 },
  { width: 800, height: 900 },
];
const PHONE = { width: 360, height: 740 };
const PHONE_MODE = { isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const SCHEMES = ["light", "dark"] as const;

type View = { readonly name: string; readonly hash: string; prepare?(page: Page): Promise<void> };

const NOW: View = { name: "now", hash: "#/now", prepare: (page) => page.getByText("asks to use").first().waitFor() };

const VIEWS: readonly View[] = [
  NOW,
  { name: "terminals", hash: "#/terminals", prepare: drawn },
  {
    name: "terminal",
    hash: "#/terminals/build",
    prepare: (page) => page.locator(".xterm-rows, canvas").first().waitFor(),
  },
  {
    name: "history",
    hash: "#/terminals/build?at=end",
    prepare: (page) => page.locator(".screen[data-until]").waitFor(),
  },
  { name: "agents", hash: "#/agents", prepare: (page) => page.getByText("turn 1 for").first().waitFor() },
  { name: "agent", hash: "#/agents", prepare: agent },
  {
    name: "workflows",
    hash: "#/workflows",
    prepare: (page) => page.getByRole("link", { name: "index-documents" }).waitFor(),
  },
  { name: "run", hash: "#/workflows", prepare: (page) => run(page, "backup", "uploaded 41 of 97 parts") },
  { name: "items", hash: "#/workflows", prepare: (page) => run(page, "index-documents", "Failed items") },
  { name: "start", hash: "#/workflows", prepare: start },
  { name: "search", hash: "#/search?words=compiled", prepare: (page) => page.locator("mark").first().waitFor() },
  { name: "evidence", hash: "#/now", prepare: evidence },
  { name: "recovery", hash: "#/recovery", prepare: (page) => page.getByText("takes writes").waitFor() },
  { name: "health", hash: "#/recovery", prepare: health },
  { name: "access", hash: "#/access", prepare: (page) => page.getByRole("heading", { name: "Access" }).waitFor() },
  { name: "palette", hash: "#/now", prepare: (page) => page.keyboard.press("Control+k") },
];

async function agent(page: Page): Promise<void> {
  await page.getByRole("link", { name: "release" }).first().click();
  await page.getByText("turn 1 began").waitFor();
}

async function run(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole("link", { name }).first().click();
  await page.getByText(text).first().waitFor();
}

async function start(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start a workflow" }).click();
  await page.getByRole("dialog").waitFor();
}

async function evidence(page: Page): Promise<void> {
  const card = page.getByRole("article", { name: "Failed items of index-documents" });
  await card.getByText("no %PDF- header at byte 0", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Try all again" }).scrollIntoViewIfNeeded();
}

/** With everything unfolded. */
async function health(page: Page): Promise<void> {
  await page.getByText("What takes room").click();
  await page.getByRole("button", { name: "Check everything" }).click();
  await page.getByText(/^\d+ checks: /).waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page
    .getByRole("link", { name: /Recovered from/ })
    .first()
    .click();
  await page.getByRole("table").last().scrollIntoViewIfNeeded();
}

/** A picture in view has its size, not that of a new one. As text: the types of browsers are not known here. */
const DRAWN = "[...document.querySelectorAll('canvas')].some((one) => one.width !== 300)";

async function drawn(page: Page): Promise<void> {
  while (!(await page.evaluate(DRAWN))) await page.waitForTimeout(100);
}

async function shoot(browser: Browser, home: ScreenshotHome, wanted: Wanted): Promise<void> {
  const { size, scheme, views, suffix } = wanted;
  const mode = size === PHONE ? PHONE_MODE : {};
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, ...mode });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && console.error(`console: ${message.text()}`));
  page.on("pageerror", (error) => console.error(`page: ${error.message}`));
  await page.goto(home.link());
  await page.getByRole("link", { name: /^Now/ }).waitFor();
  for (const { name, hash, prepare } of views) {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await prepare?.(page);
    await page.waitForTimeout(1_200); // Pictures of terminals are drawn twice a second.
    await page.screenshot({ path: join(FOLDER, `${name}${suffix}.png`) });
    console.log(`${name}${suffix}.png`);
  }
  await context.close();
}

type Wanted = {
  readonly size: { readonly width: number; readonly height: number };
  readonly scheme: (typeof SCHEMES)[number];
  readonly views: readonly View[];
  readonly suffix: string;
};

function wantedOf(args: readonly string[]): Wanted[] {
  const [first] = SIZES;
  const readme = VIEWS.filter(({ name }) => ["now", "terminals", "recovery"].includes(name));
  if (args.includes("--readme") && first !== undefined)
    return [
      { size: first, scheme: "light", views: readme, suffix: "" },
      { size: PHONE, scheme: "light", views: [{ ...NOW, name: "phone" }], suffix: "" },
    ];
  return [...SIZES, PHONE].flatMap((size) =>
    SCHEMES.map((scheme) => ({ size, scheme, views: VIEWS, suffix: `-${size.width}-${scheme}` })),
  );
}

mkdirSync(FOLDER, { recursive: true });
const home = new ScreenshotHome();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
try {
  await home.fill();
  for (const wanted of wantedOf(ARGUMENTS)) await shoot(browser, home, wanted);
} finally {
  await browser.close();
  home.close();
}
