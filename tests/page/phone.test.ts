// The page on a phone, in Chromium's device mode: 360 pixels, fingers, and an input method.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { attach, endBrowser, HAS_CHROMIUM, PageHome, PHONE, show, type Tab } from "./browser.ts";
import { issues } from "./issues.ts";

const home = new PageHome();

afterAll(endBrowser);
afterAll(endAll, 180_000);

/** What is wider than the window, as it would be scrolled sideways. Runs in the browser. */
const TOO_WIDE = `[...document.querySelectorAll("main *, header *")].filter((one) => {
  const { right, width } = one.getBoundingClientRect();
  const isScrolled = (at) => at !== null && (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX) && at.tagName !== "MAIN" || isScrolled(at.parentElement));
  return width > 0 && right > innerWidth + 0.5 && !isScrolled(one.parentElement);
}).map((one) => one.outerHTML.slice(0, 120))`;

test.skipIf(!HAS_CHROMIUM)(
  "every view fits into 360 pixels, and axe-core finds no serious issue there (needs chromium)",
  async () => {
    await home.ok("new", "-d", "build", "--lane", "work", "--", "cat");
    await home.ok("agent", "new", "one", "--provider", "scripted", "--", ...ACTOR);
    await home.ok("agent", "send", "one", ">> ask Bash make deploy TARGET=production-of-a-rather-long-name");
    writeFileSync(join(home.path, "push.yml"), "name: push\nsteps:\n  - id: one\n    shell: echo no >&2; exit 3\n");
    await home.run("run", "push.yml");
    const tab = await home.open("", false, PHONE);
    await tab.page.getByRole("article", { name: "one asks to use Bash" }).waitFor();
    for (const view of ["Now", "Terminals", "Agents", "Workflows", "Recovery", "Access", "Search"]) {
      await show(tab, view);
      if (view === "Access") await tab.page.getByRole("button", { name: "Mute: one, and what it starts" }).waitFor();
      expect({ view, wide: await tab.page.evaluate(TOO_WIDE), issues: await issues(tab) }).toEqual({
        view,
        wide: [],
        issues: [],
      });
    }
    await isLedTo(tab, "#/now", "Now");
    await tab.page.evaluate("document.getElementById('main').scrollTop = 500");
    await tab.page.evaluate("document.querySelector('nav').scrollLeft = 0");
    await isLedTo(tab, "#/search", "Search");
    await isLedTo(tab, "#/terminals", "Terminals");
    await tab.page.getByRole("button", { name: "New terminal" }).click();
    await tab.page.getByRole("dialog").waitFor();
    await tab.page.goBack();
    await tab.page.getByRole("dialog").waitFor({ state: "detached" }); // It ends with its view.
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

const CHOSEN = `(() => {
  const { left, right } = document.querySelector("nav [aria-current]").getBoundingClientRect();
  return { isSeen: left >= 0 && right <= innerWidth, top: document.getElementById("main").scrollTop };
})()`;

/** By the address, as a notification or the way back does: the row of views shows where one is, from the top. */
async function isLedTo({ page }: Tab, hash: string, name: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  const look = () => page.evaluate(CHOSEN);
  await until(`${name} is seen`, async () => Bun.deepEquals(await look(), { isSeen: true, top: 0 }), look);
}

async function inTerminal(name: string, ...command: readonly string[]): Promise<Tab> {
  await home.ok("new", "-d", name, "--", ...command);
  const tab = await home.open("Terminals", false, PHONE);
  await attach(tab, name);
  return tab;
}

const BYTES = "stty raw -echo; printf ready; exec od -An -v -tx1 -w1";

async function typed(name: string, bytes: string): Promise<void> {
  const seen = async () => (await home.ok("history", name)).replace(/\s+/g, " ");
  await until(`${name} has read ${bytes}`, async () => (await seen()).trim().endsWith(bytes), seen);
}

test.skipIf(!HAS_CHROMIUM)(
  "the key bar has Esc, Tab, Ctrl and arrows for the program, and an input method's text arrives once (needs chromium)",
  async () => {
    const tab = await inTerminal("keys", "sh", "-c", BYTES);
    const { page } = tab;
    await home.says("keys", "ready");
    const bar = page.getByRole("toolbar", { name: "Keys" });
    for (const key of ["Esc", "Tab", "Left", "Down", "Up", "Right"]) await bar.getByRole("button", { name: key }).tap();
    await typed("keys", "1b 09 1b 5b 44 1b 5b 42 1b 5b 41 1b 5b 43");
    expect(await page.evaluate("document.activeElement?.ariaLabel")).toBe("Terminal input"); // The keyboard stays.
    const ctrl = bar.getByRole("button", { name: "Ctrl" });
    await ctrl.tap();
    expect(await ctrl.getAttribute("aria-pressed")).toBe("true");
    await page.keyboard.type("cc");
    await typed("keys", "1b 5b 43 03 63"); // Once: the second one is a letter.
    expect(await ctrl.getAttribute("aria-pressed")).toBe("false");
    const devtools = await page.context().newCDPSession(page);
    for (const text of ["に", "にほ", "日本"])
      await devtools.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    await devtools.send("Input.insertText", { text: "日本" });
    await typed("keys", "63 e6 97 a5 e6 9c ac");
    await page.keyboard.type("x");
    await typed("keys", "e6 9c ac 78");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

async function swipeDown({ page }: Tab): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...at: readonly number[]) =>
    devtools.send("Input.dispatchTouchEvent", { type, touchPoints: at.map((y) => ({ x: 150, y })) });
  await touch("touchStart", 200);
  for (let y = 220; y <= 600; y += 20) await touch("touchMove", y);
  await touch("touchEnd");
}

test.skipIf(!HAS_CHROMIUM)(
  "a swipe scrolls the history, or what the program shows, and what a keyboard covers is not used (needs chromium)",
  async () => {
    const tab = await inTerminal("long", "sh", "-c", "seq 1 300; exec cat");
    const { page } = tab;
    const rows = page.locator(".xterm-rows");
    await until(
      "the end is seen",
      async () => (await rows.textContent())?.includes("300"),
      () => rows.textContent(),
    );
    await swipeDown(tab);
    await until(
      "earlier lines are seen",
      async () => !(await rows.textContent())?.includes("300"),
      () => rows.textContent(),
    );
    const bar = page.getByRole("toolbar", { name: "Keys" });
    await page.evaluate(
      `Object.defineProperty(visualViewport, "height", { value: 400 }); visualViewport.dispatchEvent(new Event("resize"))`,
    );
    await until(
      "the keys are above the keyboard",
      async () => {
        const box = await bar.boundingBox();
        return box !== null && box.y + box.height <= 401;
      },
      () => bar.boundingBox(),
    );
    await page.close();
    const file = join(home.path, "pager");
    const program = `printf '\\033[?1049hready'; stty raw -echo; exec cat > ${file}`;
    const pager = await inTerminal("pager", "sh", "-c", program);
    await pager.page.locator(".xterm-rows").getByText("ready").waitFor();
    await swipeDown(pager);
    const read = () => readFileSync(file, "latin1");
    // Arrows, as a wheel gives to a program on its other screen.
    await until("the program gets arrows", () => read().startsWith("\x1b[A\x1b[A"), read);
    expect([...tab.strange, ...pager.strange]).toEqual([]);
  },
  180_000,
);
