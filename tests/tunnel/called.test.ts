// Phones that are called, through a real relay: the push goes from the home to the push service, and the answer of a
// notification's button through the encrypted channel, with the rights of the device.
import { afterAll, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { PushServer } from "../notify/push-server.ts";
import { endBrowser, HAS_WHOLE_CHROMIUM, newTab, PHONE, show, useWholeChromium } from "../page/browser.ts";
import { CallingHome, PushTab } from "../page/push-tab.ts";
import { RelayProcess } from "./far-home.ts";

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

async function paired(name: string, rights: string): Promise<PushTab> {
  const tab = await newTab(false, PHONE);
  const made = await PushTab.on(tab, push, name);
  await tab.page.goto((await home.json("pair", "--name", name, "--rights", rights)).url);
  await tab.page.getByText("Live", { exact: true }).waitFor();
  await show(tab, "Access");
  await made.turnOn();
  return made;
}

test.skipIf(!HAS_WHOLE_CHROMIUM)(
  "a phone that may answer does so by the notification with its page closed; one that may look gets no button, and is refused (needs chromium)",
  async () => {
    const relay = new RelayProcess(closers);
    await relay.serve();
    await home.enrol(relay);
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
