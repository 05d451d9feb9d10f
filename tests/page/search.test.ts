// The search of the page, in a real Chromium, by keyboard alone.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
    writeFileSync(join(home.path, "zoo.yml"), "name: zoo\nsteps:\n  - shell: echo fed the walrus; seq 1 20000\n");
    await home.ok("run", join(home.path, "zoo.yml"));
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
    await page.goto(`${new URL(page.url()).origin}/#/search?words=walrus`);
    await page.getByText("1 found").waitFor();
    await hits.first().getByRole("link").click(); // What a step printed, and its run's log does not have.
    await page.getByRole("article", { name: "Attempt 1" }).getByText("19999").waitFor();
    expect(strange).toEqual([]);
  },
);
