// The search of the page, in a real Chromium, by keyboard alone.
import { afterAll, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { endBrowser, HAS_CHROMIUM, PageHome } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

test.skipIf(!HAS_CHROMIUM)(
  "/ opens the search, lines come newest first with the words marked, and Enter leads to the place (needs chromium)",
  async () => {
    const home = new PageHome();
    const script = "printf 'first \\033[31mneedle\\033[m here\\nsecond <b>Needle</b> there\\n'; exec sleep 1000";
    await home.ok("new", "-d", "sewing", "--", "sh", "-c", script);
    await home.says("sewing", "second");
    const { page, strange } = await home.open();
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await page.keyboard.press("/");
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.type("needle");
    const hits = page.getByRole("main").getByRole("listitem");
    await hits.nth(1).waitFor();
    expect(await page.locator(".hit code").allTextContents()).toEqual([
      "second <b>Needle</b> there",
      "first needle here",
    ]);
    expect(await page.locator("mark").allTextContents()).toEqual(["Needle", "needle"]);
    const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    expect(await page.evaluate(isWide)).toBe(false);
    await page.getByRole("searchbox").fill("nothing like this");
    await page.getByText("0 found").waitFor();
    await page.goBack();
    await page.getByText("2 found").waitFor();
    await hits.first().getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/terminals\/[0-9a-f]{32}\?at=\d+$/);
    expect(strange).toEqual([]);
  },
);
