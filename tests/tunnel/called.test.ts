// Phones that are called, through a real relay: the push goes from the home to the push service, and the answer of a
// notification's button through the encrypted channel, with the rights of the device.
import { afterAll, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { PushServer } from "../notify/push-server.ts";
import { endBrowser, HAS_WHOLE_CHROMIUM, newTab, PHONE, show, useWholeChromium } from "../page/browser.ts";
import { CallingHome, PushTab } from "../page/push-tab.ts";
import { RelayProcess } from "./far-home.ts";
import { serveFiles } from "./file-server.ts";
import { newDirectory } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
const push = await PushServer.open();
const home = new CallingHome(push);

useWholeChromium();
afterAll(endBrowser);
afterAll(endAll, 180_000);
afterAll(async () => {
  for (const close of [...closers].reverse()) await close();
  await push.close();
});

async function paired(name: string, rights: string, ...page: readonly string[]): Promise<PushTab> {
  const tab = await newTab(false, PHONE);
  const made = await PushTab.on(tab, push, name);
  await tab.page.goto((await home.json("pair", "--name", name, "--rights", rights, ...page)).url);
  await tab.page.getByText("Live", { exact: true }).waitFor();
  await show(tab, "Access");
  await made.turnOn();
  return made;
}

const directory = newDirectory(closers);
const origin = `http://127.0.0.1:${serveFiles(directory, closers)}`;
const begun = begin();

async function begin(): Promise<void> {
  if (!HAS_WHOLE_CHROMIUM) return;
  const relay = new RelayProcess(closers, "1s", { flags: ["--allow-origin", origin] });
  await relay.serve();
  await home.enrol(relay);
}

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a phone that may answer does so by the notification with its page closed; one that may look gets no button, and is refused (needs chromium)",
  async () => {
    await begun;
    const looks = await paired("looks", "look");
    const answers = await paired("answers", "answer");
    await home.askedBy("far", "make");
    const prompt = await home.prompt("far");
    expect(await looks.shows(prompt, "question", /far asks/)).toMatchObject({ body: "command: make", actions: [] });
    expect(await answers.shows(prompt, "question", /far asks/)).toMatchObject({ actions: ["allow", "deny"] });
    for (const phone of [looks, answers]) await phone.leave();
    await looks.click(prompt, "allow"); // As a worker would that somebody has changed.
    expect((await looks.shown())[0]?.body).toContain("This device may only look");
    expect(await home.answers("far")).toBe(0);
    await answers.click(prompt, "allow");
    const end = { title: "far: Bash was allowed", body: "Answered on answers." };
    for (const phone of [looks, answers]) expect(await phone.shows(prompt, "end", /was allowed/)).toMatchObject(end);
    expect(await home.answers("far")).toBe(1);
    expect([...looks.tab.strange, ...answers.tab.strange, ...push.wrong]).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a phone with the exported page, from another origin, is called and answers through the relay with the page closed, and opens without a network (needs chromium)",
  async () => {
    await begun;
    await home.ok("page", "export", directory);
    const phone = await paired("elsewhere", "answer", "--page", `${origin}/`);
    const { page, strange } = phone.tab;
    expect(new URL(page.url()).origin).toBe(origin);
    const worker = new URL((await phone.worker()).url());
    expect([worker.origin, new URL(worker.searchParams.get("relay") ?? "").host]).toEqual([
      origin,
      new URL((await home.tunnel()).url).host,
    ]);
    await home.askedBy("farther", "make install");
    const prompt = await home.prompt("farther");
    expect(await phone.shows(prompt, "question", /farther asks/)).toMatchObject({ actions: ["allow", "deny"] });
    await phone.leave();
    await phone.click(prompt, "allow", 2);
    const end = { title: "farther: Bash was allowed", body: "Answered on elsewhere." };
    expect(await phone.shows(prompt, "end", /was allowed/)).toMatchObject(end);
    expect(await home.answers("farther")).toBe(1);
    await phone.click(prompt); // Elsewhere on the notification: a tab at this origin, not at the relay's.
    expect(await (await phone.worker()).evaluate("self.opened")).toEqual([`${origin}/#/now/${prompt}`]);
    await page.context().setOffline(true);
    await page.goto(`${origin}/`);
    await page.getByText("There is no connection to the home.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("Live", { exact: true }).waitFor();
    expect([...strange.filter((line) => !line.includes("ERR_INTERNET_DISCONNECTED")), ...push.wrong]).toEqual([]);
  },
  180_000,
);
