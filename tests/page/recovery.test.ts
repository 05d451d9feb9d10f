// Recovery in a real Chromium: the health of the home, what happened to it, and what looking costs.
import { afterAll, expect, test } from "bun:test";
import type { Page, WebSocket } from "playwright-core";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { daemonDown, endBrowser, HAS_CHROMIUM, newTab, PageHome, show } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

/** A fact of Health: what is below its name. */
function fact(page: Page, name: string) {
  return page.locator(".facts > div").filter({ has: page.getByText(name, { exact: true }) });
}

test.skipIf(!HAS_CHROMIUM)(
  "health shows disk, log, programs and holders, also while the daemon is down, and the crash is on the line of time (needs chromium)",
  async () => {
    const home = new PageHome();
    await home.ok("new", "-d", "a", "--", "cat");
    const { page, strange } = await home.open("Recovery");
    const { daemon } = await home.pids();
    await page.getByText("No crash is on record, and nothing was recovered.").or(page.getByText("Started")).waitFor();
    await fact(page, "Disk").getByText(/ free/).waitFor();
    await fact(page, "Log").getByText("takes writes").waitFor();
    // Beside the terminal's there is a spare, for two minutes.
    await fact(page, "Holders")
      .getByText(/^memory of (?:1 holder|2 holders)$/)
      .waitFor();
    await fact(page, "Daemon").getByText(`process ${daemon}`).waitFor();
    await fact(page, "Daemon")
      .getByText(/\d MB$/)
      .waitFor();
    const back = await daemonDown(home);
    await fact(page, "Daemon").getByText("not running").waitFor();
    await fact(page, "Log").getByText("takes nothing now").waitFor();
    await page.getByText("What takes room").press("Enter");
    await page.getByRole("row").filter({ hasText: "write-ahead log" }).getByText("MB").waitFor();
    await page.getByRole("button", { name: "Check everything" }).click();
    await page.getByText(/^\d+ checks: \d problem/).waitFor();
    await page.getByRole("listitem").filter({ hasText: "the daemon is not running" }).first().waitFor();
    back();
    const crash = page.getByRole("listitem").filter({ hasText: "daemon crashed: SIGKILL" });
    await crash.getByText(`process ${daemon}`).waitFor();
    await page.getByRole("link", { name: /Recovered from a crash of the daemon/ }).press("Enter");
    await page.getByRole("row").filter({ hasText: "terminal a" }).getByText("back as it was").waitFor();
    await fact(page, "Log").getByText("takes writes").waitFor();
    const next = (await home.pids()).daemon;
    await fact(page, "Daemon").getByText(`process ${next}`).waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

/** The calls of one method on all sockets of a tab. */
class Calls {
  sent = 0;
  readonly #method: string;
  readonly #waiting = new Set<number>();

  constructor(page: Page, method: string) {
    this.#method = method;
    page.on("websocket", (socket) => this.#listen(socket));
  }

  #listen(socket: WebSocket): void {
    socket.on("framesent", ({ payload }) => {
      const { type, id, method } = messageIn(payload);
      if (type !== "call" || method !== this.#method) return;
      this.sent += 1;
      this.#waiting.add(id);
    });
    socket.on("framereceived", ({ payload }) => this.#waiting.delete(messageIn(payload).id));
  }

  async answered(): Promise<void> {
    await until(
      `every ${this.#method} is answered`,
      () => this.#waiting.size === 0,
      () => this.sent,
    );
  }
}

function messageIn(payload: string | Buffer) {
  return typeof payload === "string" ? JSON.parse(payload) : {};
}

test.skipIf(!HAS_CHROMIUM)(
  "HF1 health is asked for while its view is open and visible, and at no other time (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await newTab();
    const { page } = tab;
    const calls = new Calls(page, "web.health");
    await page.clock.install();
    await page.goto((await home.link()).href);
    await page.getByText("Live", { exact: true }).waitFor();
    /** How often it is asked for in three minutes of the page's time. */
    const asked = async () => {
      await calls.answered();
      await page.clock.runFor(1_000); // What was still wanted is asked for.
      await calls.answered();
      const before = calls.sent;
      for (let minute = 0; minute < 3; minute += 1) {
        await page.clock.runFor(60_000);
        await calls.answered();
      }
      return calls.sent - before;
    };
    expect(await asked()).toBe(0);
    await show(tab, "Recovery");
    await fact(page, "Disk").waitFor();
    expect(await asked()).toBeGreaterThanOrEqual(3);
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true })`);
    await hide(true);
    expect(await asked()).toBe(0);
    await hide(false);
    expect(await asked()).toBeGreaterThanOrEqual(3);
    await show(tab, "Now");
    expect(await asked()).toBe(0);
  },
  180_000,
);
