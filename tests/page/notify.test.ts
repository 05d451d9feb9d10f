// Being called, in a real Chromium with its real service worker: one home, one push service of our own.
import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { endAll } from "../cli/terminal-home.ts";
import { PushServer } from "../notify/push-server.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_WHOLE_CHROMIUM, newTab, show, useWholeChromium } from "./browser.ts";
import { CallingHome, PushTab } from "./push-tab.ts";

const push = await PushServer.open();
const home = new CallingHome(push);

useWholeChromium();
afterAll(endBrowser);
afterAll(endAll, 180_000);
afterAll(() => push.close());

async function called(name: string): Promise<PushTab> {
  const tab = await newTab();
  const made = await PushTab.on(tab, push, name);
  await tab.page.goto((await home.link()).href);
  await tab.page.getByText("Live", { exact: true }).waitFor();
  await show(tab, "Access");
  await made.turnOn();
  return made;
}

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a prompt is one notification, whatever comes twice, and its button answers once with the page closed (needs chromium)",
  async () => {
    await home.newAgent("one");
    const phone = await called("phone");
    const { page, strange } = phone.tab;
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await phone.shows("test", "test", /A test of Holdfast/);
    await home.asks("one");
    const prompt = await home.prompt("one");
    expect(await phone.shows(prompt, "question", /one asks for Bash/)).toMatchObject({
      body: "command: make",
      actions: ["allow", "deny"],
    });
    const question = push.browser("phone").arrived.at(-1)?.message;
    await phone.pushed(JSON.stringify(question)); // Once more, as after a lost reply.
    await phone.leave();
    await phone.click(prompt, "allow", 2); // A finger that trembles.
    await phone.shows(prompt, "end", /one: Bash was allowed/);
    await phone.pushed(JSON.stringify(question)); // A push service turned them round.
    await phone.pushed("nonsense");
    expect(await phone.shown()).toHaveLength(3); // With the test: something is shown for every message.
    expect((await phone.shown()).find(({ tag }) => tag === prompt)).toMatchObject({
      title: "one: Bash was allowed",
      actions: [],
    });
    expect(await home.answers("one")).toBe(1);
    expect(strange).toEqual([]);
  },
  180_000,
);

async function hasFocus(page: Page, prompt: string): Promise<void> {
  const focused = () => page.evaluate("document.activeElement?.dataset.prompt");
  await until("the prompt has the focus", async () => (await focused()) === prompt, focused);
}

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a click leads to the prompt, in an open tab or a new one that is signed in; muted lanes and agents call nobody (needs chromium)",
  async () => {
    await home.newAgent("two", "--lane", "night");
    const desk = await called("desk");
    const { page, strange } = desk.tab;
    await page.getByRole("button", { name: "Mute: two, and what it starts" }).click();
    await page.getByRole("button", { name: "Let two call" }).click();
    await page.getByRole("button", { name: "Mute for 1 h: everything" }).click();
    await page.getByRole("button", { name: "Let everything call" }).click();
    await page.getByRole("button", { name: "Mute: lane night" }).click();
    await page.getByText("muted, like its lane").waitFor();
    await home.asks("two", "quietly");
    const prompt = await home.prompt("two");
    expect(JSON.parse(await home.ok("notify", "status", "--json"))).toMatchObject({
      muted: [],
      mutes: [{ of: "lane", key: "night", until: null }],
    });
    const { daemon } = await home.pids();
    process.kill(daemon ?? 0, "SIGKILL"); // The choice is on disk.
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Let lane night call" }).click();
    await desk.shows(prompt, "question", /two asks for Bash/); // What is still open is called about then.
    expect(push.browser("desk").arrived.filter(({ message }) => message.tag === prompt)).toHaveLength(1);
    await desk.click(prompt);
    await hasFocus(page, prompt);
    const next = await page.context().newPage();
    await next.goto(`${new URL(page.url()).origin}/#/now/${prompt}`); // As the worker opens it.
    await hasFocus(next, prompt);
    await show(desk.tab, "Access");
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByText("This browser is not called", { exact: true }).waitFor();
    const last = await page.context().newPage();
    await last.goto(new URL(page.url()).origin);
    await last.getByText("This browser is not signed in.").waitFor(); // Its token is not kept any longer.
    expect(strange).toEqual([]);
  },
  180_000,
);
