// What a browser adds to a terminal, in a real Chromium: links, the clipboard, sizes, drawing, and text for screen
// readers.
import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { attach, endBrowser, HAS_CHROMIUM, newTab, PageHome, show, type Tab } from "./browser.ts";
import { screen, shows, sizes, tabWith } from "./terminal-tab.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

/** A tab with a terminal that has printed this, and shows it as elements of the document. */
async function printed(home: PageHome, script: string): Promise<Tab> {
  await home.ok("new", "-d", "t", "--", "sh", "-c", `${script}; exec cat`);
  const tab = await home.open("Terminals");
  await attach(tab, "t");
  return tab;
}

/** The middle of a text on the screen. */
async function middleOf(page: Page, text: string): Promise<{ readonly x: number; readonly y: number }> {
  const drawn = page.locator(".xterm-rows").getByText(text).first();
  const box = await until(
    `${text} is drawn`,
    async () => (await drawn.boundingBox()) ?? undefined,
    () => undefined,
  );
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

test.skipIf(!HAS_CHROMIUM)(
  "LI1, LI2 a link is opened with Ctrl only, alone in its tab, and only if it is one of the web (needs chromium)",
  async () => {
    const asked: (string | null)[] = [];
    using site = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        if (!request.url.endsWith("/favicon.ico")) asked.push(request.headers.get("referer"));
        return new Response("<!doctype html><title>there</title>", { headers: { "content-type": "text/html" } });
      },
    });
    const home = new PageHome();
    const at = `http://127.0.0.1:${site.port}`;
    const hyperlink = (to: string, text: string) => `printf '\\033]8;;${to}\\033\\\\${text}\\033]8;;\\033\\\\\\n'`;
    const links = [`echo ${at}/printed`, hyperlink(`${at}/hidden`, "press-me"), hyperlink("javascript:1", "code-here")];
    const { page, strange } = await printed(home, links.join("; "));
    const point = async (text: string) => {
      const { x, y } = await middleOf(page, text);
      await page.mouse.move(x, y);
      return page.mouse;
    };
    for (const [text, path] of [
      ["/printed", "/printed"],
      ["press-me", "/hidden"],
    ] as const) {
      const mouse = await point(text);
      await page.getByText(`${at}${path} Ctrl-click opens it`).waitFor();
      await mouse.down();
      await mouse.up();
      await page.keyboard.down("Control");
      const opened = page.context().waitForEvent("page");
      await mouse.down();
      await mouse.up();
      await page.keyboard.up("Control");
      const other = await opened;
      await other.waitForLoadState();
      expect([other.url(), await other.evaluate("window.opener")]).toEqual([`${at}${path}`, null]);
      await other.close();
    }
    expect(asked).toEqual([null, null]); // Without Ctrl nothing was opened; and no one learns of the page.
    const mouse = await point("code-here");
    await page.keyboard.down("Control");
    await mouse.down();
    await mouse.up();
    await page.keyboard.up("Control");
    await point("/printed");
    await page.getByText(`${at}/printed Ctrl-click opens it`).waitFor();
    expect([page.context().pages().length, strange]).toEqual([1, []]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "what is selected is copied by key, without reaching the program (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page, strange } = await printed(home, "echo some chosen words");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.keyboard.press("Control+Shift+C"); // Nothing is selected: nothing is copied.
    const { x, y } = await middleOf(page, "some chosen words");
    await page.mouse.dblclick(x, y);
    await page.keyboard.press("Control+Shift+C");
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("chosen");
    expect(await home.ok("history", "t")).toBe("some chosen words\n");
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "the program gets each size at which the browser's window rests (needs chromium)",
  async () => {
    const home = new PageHome();
    const program = "trap 'echo now $(stty size)' WINCH; echo ready; while :; do read -r _ || sleep 0.1; done";
    await home.ok("new", "-d", "t", "--", "sh", "-c", program);
    const tab = await tabWith(home, "t");
    await shows(tab, "ready");
    for (const [width, height] of [
      [900, 500],
      [1400, 900],
    ] as const) {
      const before = (await sizes(home, "t")).at(-1);
      await tab.page.setViewportSize({ width, height });
      const changed = async () => {
        const now = (await sizes(home, "t")).at(-1);
        const isWider = width > 1000;
        return now !== undefined && before !== undefined && now.cols > before.cols === isWider && now !== before && now;
      };
      const { rows, cols } = await until("another size", changed, () => sizes(home, "t"));
      await shows(tab, `now ${rows} ${cols}`);
    }
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "screen readers get the lines of the screen and what is new, and the browser remembers it (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await printed(home, "echo first line");
    const { page } = tab;
    const reader = page.getByRole("button", { name: "Screen reader" });
    expect(await reader.getAttribute("aria-pressed")).toBe("false");
    await reader.click();
    await page.getByRole("listitem").filter({ hasText: "first line" }).waitFor();
    await page.getByLabel("Terminal input").focus();
    await page.keyboard.type("more\n");
    await page.locator("[aria-live=assertive]").filter({ hasText: "more" }).waitFor({ state: "attached" });
    await page.reload();
    await page.getByRole("listitem").filter({ hasText: "first line" }).waitFor();
    expect(await reader.getAttribute("aria-pressed")).toBe("true");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

/** Runs in the browser. */
const LOOKS = `(() => {
  const span = [...document.querySelectorAll(".xterm-rows span")].find((one) => one.textContent === "coloured");
  const { color, backgroundColor } = getComputedStyle(span);
  return [color, backgroundColor];
})()`;

test.skipIf(!HAS_CHROMIUM)(
  "MA1 colours of 24 bits are drawn without a graphics card, within the page's content policy (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page, strange } = await printed(home, "printf '\\033[38;2;250;10;20;48;2;1;2;3mcoloured\\033[0m\\n'");
    const drawn = page.locator(".xterm-rows span").filter({ hasText: "coloured" });
    await drawn.waitFor();
    const looks = await page.evaluate(LOOKS);
    expect(looks).toEqual(["rgb(250, 10, 20)", "rgb(1, 2, 3)"]);
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "emoji and wide characters take two columns (needs chromium)",
  async () => {
    const home = new PageHome();
    // Two, two and one; then it asks where the cursor is, and shows the answer.
    const program = "echo ready; read -r _; stty raw -echo; printf '\\r\u{1f389}\u6f22\u2014\\033[6n'; exec cat -v";
    await home.ok("new", "-d", "t", "--", "sh", "-c", program);
    const tab = await tabWith(home, "t");
    await shows(tab, "ready");
    await tab.page.keyboard.press("Enter");
    await shows(tab, ";6R");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

/** Runs in the browser: WebGL says that it is a graphics card's. */
const CARD = `WebGL2RenderingContext.prototype.getParameter = new Proxy(WebGL2RenderingContext.prototype.getParameter, {
  apply: (plain, self, [what]) => (what === 37446 ? "A Card of Test" : Reflect.apply(plain, self, [what])),
});`;

test.skipIf(!HAS_CHROMIUM)(
  "WI2 a graphics card draws the terminal; a processor that plays one does not (needs chromium)",
  async () => {
    const home = new PageHome();
    await home.ok("new", "-d", "t", "--", "sh");
    for (const [prepare, canvases] of [
      ["", 0],
      [CARD, 1],
    ] as const) {
      const tab = await newTab();
      await tab.page.addInitScript(prepare);
      const files: string[] = [];
      tab.page.on("requestfinished", (request) => files.push(new URL(request.url()).pathname));
      await tab.page.goto((await home.link()).href);
      await tab.page.getByText("Live", { exact: true }).waitFor();
      await show(tab, "Terminals");
      await attach(tab, "t");
      await tab.page.getByRole("button", { name: "Screen reader" }).click();
      await tab.page.getByLabel("Terminal input").focus();
      await tab.page.keyboard.type(`echo dra''wn by ${canvases}\n`);
      await shows(tab, `drawn by ${canvases}`);
      const drawn = async () => (await tab.page.locator(".xterm-screen > canvas").count()) > 0;
      await until(
        "it is drawn as it should be",
        async () => (await drawn()) === canvases > 0,
        () => screen(tab),
      );
      expect(files.some((file) => file.includes("webgl"))).toBe(canvases > 0);
      expect(tab.strange).toEqual([]);
    }
  },
  180_000,
);
