// Agents and the past of terminals in the page, in a real Chromium.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, PageHome, show, type Tab } from "./browser.ts";

let home: PageHome;
beforeAll(async () => {
  if (!HAS_CHROMIUM) return;
  home = new PageHome();
  await home.ok("new", "-d", "steps", "--", "sh", "-c", "echo one; sleep 1.5; echo two; sleep 1.5; echo three; cat");
  await home.ok("agent", "new", "lead", "--provider", "scripted", "--", ...ACTOR);
}, 180_000);
afterAll(endBrowser);
afterAll(endAll, 180_000);

const tree = (page: Page) => page.getByRole("region", { name: "Tree" });
const talk = (page: Page, name: string) => page.getByRole("region", { name: `Conversation of ${name}` });

async function open(tab: Tab, name: string): Promise<void> {
  const { page } = tab;
  await show(tab, "Agents");
  await tree(page).getByRole("link", { name }).click();
  await talk(page, name).waitFor();
}

async function send(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel(`Message to ${name}`).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

const SPAWN = JSON.stringify({ name: "child", instructions: ">> say Hello from below." });

test.skipIf(!HAS_CHROMIUM)(
  "a message is sent, and what the agent says, calls and fails with is shown as it comes (needs chromium)",
  async () => {
    const tab = await home.open("Agents");
    const { page, strange } = tab;
    await open(tab, "lead");
    await send(page, "lead", `>> say <b>bold</b>\n>> call spawn_agent ${SPAWN}\n>> used\n>> fail out of tokens`);
    const said = talk(page, "lead");
    await said.getByText("<b>bold</b>", { exact: true }).waitFor();
    const call = said.getByRole("group").filter({ hasText: "spawn_agent" });
    await call.getByText("done").waitFor();
    await call.locator("summary").click();
    await call.getByRole("region", { name: "Result" }).getByText('"name": "child"').waitFor();
    await said.getByText("out of tokens").first().waitFor();
    expect(await page.getByLabel("Message to lead").inputValue()).toBe("");
    await show(tab, "Agents");
    await tree(page).getByText("Turn 1 failed: out of tokens").waitFor();
    await tree(page).getByText("1.2k in, 56 out, $0.500").waitFor();
    await tree(page).getByRole("link", { name: "level 2 child" }).waitFor();
    await page.getByRole("region", { name: "Messages" }).getByText("Hello from below.").first().waitFor();
    await open(tab, "lead");
    await page.getByRole("button", { name: "Try again: lead" }).click();
    await said.getByText("turn 2 began").waitFor();
    await show(tab, "Now");
    await page.reload(); // What was sent before the page was opened is there, too.
    await show(tab, "Agents");
    const rows = page.getByRole("region", { name: "Messages" }).getByRole("listitem");
    await rows.filter({ hasText: "Hello from below." }).first().waitFor();
    process.kill((await home.pids()).daemon ?? 0, "SIGKILL");
    await home.ok("agent", "send", "lead", "while nobody listened");
    await rows.filter({ hasText: "while nobody listened" }).waitFor();
    expect(await rows.filter({ hasText: "while nobody listened" }).count()).toBe(1);
    const texts = await rows.allTextContents();
    expect(new Set(texts).size).toBe(texts.length);
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "an agent is started by the form, interrupted, and ended after a question (needs chromium)",
  async () => {
    const tab = await home.open("Agents");
    const { page, strange } = tab;
    await show(tab, "Agents");
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel(/^Name/).fill("second");
    await page.getByLabel("Instructions").fill(">> hang");
    await page.getByLabel(/^Provider/).fill("scripted");
    await page.getByLabel(/^Command/).fill(ACTOR.join(" "));
    await page.getByRole("button", { name: "Start" }).click();
    await talk(page, "second").getByText("turn 1 began").waitFor();
    await send(page, "second", "never mind");
    await page.getByText("Inbox 1").click();
    await page.getByRole("button", { name: "Drop the message from user" }).click();
    await page.getByText("It has read everything.").waitFor();
    await page.getByRole("button", { name: "Interrupt second" }).click();
    await talk(page, "second").getByText("turn 1 interrupted").waitFor();
    await page.getByRole("button", { name: "End second…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(JSON.stringify(await home.json("agent", "tree"))).toContain("second");
    await page.getByRole("button", { name: "End second…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await page.getByText("second is ended.").waitFor();
    await show(tab, "Agents");
    await tree(page).getByRole("link", { name: "second" }).waitFor({ state: "detached" });
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a rule says who made it and what it matched; a prompt is answered beside its conversation (needs chromium)",
  async () => {
    const tab = await home.open("Agents");
    const { page, strange } = tab;
    await home.ok("rules", "add", "allow", "Bash", "--arg", "command=make test");
    await open(tab, "lead");
    await send(page, "lead", ">> ask Bash make test\n>> ask Bash make clean");
    await talk(page, "lead").getByText("by a rule").waitFor();
    await page.getByRole("button", { name: "Allow Bash for lead", exact: true }).click();
    await talk(page, "lead").getByText("by a person").waitFor();
    await show(tab, "Agents");
    const rules = page.getByRole("region", { name: "Rules" });
    await rules.getByText(/added in a shell .* matched 1 prompt lately, last .* for lead: Bash make test/).waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

const MANY = 1_200;
const PRINTER = `
for await (const bytes of Bun.stdin.stream()) {
  if (!new TextDecoder().decode(bytes).includes('"type":"prompt"')) continue;
  const lines = Array.from({ length: ${MANY} }, (_, at) => JSON.stringify({ type: "text", text: "line " + at + ";" }));
  await Bun.write(Bun.stdout, lines.join("\\n") + "\\n" + JSON.stringify({ type: "done", response: "over" }) + "\\n");
}`;

test.skipIf(!HAS_CHROMIUM)(
  "a long conversation begins at its end and is scrolled to its beginning with few items at a time (needs chromium)",
  async () => {
    const tab = await home.open("Agents");
    const { page, strange } = tab;
    const command = [BUN, "--no-env-file", "--no-install", "-e", PRINTER];
    await home.ok("agent", "new", "long", "--provider", "scripted", "--instructions", "Go.", "--", ...command);
    await open(tab, "long");
    const said = talk(page, "long");
    const inView = () =>
      said.evaluate((place) => {
        const edge = place.getBoundingClientRect();
        const items = [...place.querySelectorAll("li")];
        const seen = items.filter((item) => item.getBoundingClientRect().bottom > edge.top + 1);
        return {
          first: seen[0]?.textContent ?? "",
          last: items.at(-1)?.textContent ?? "",
          many: items.length,
          top: place.scrollTop,
        };
      });
    await until("the end is shown", async () => (await inView()).last.includes("turn 1 complete"), inView);
    const last = said.getByText(`line ${MANY - 1};`, { exact: true });
    expect(await last.evaluate((line) => line.getBoundingClientRect().bottom < 800)).toBe(true);
    await said.focus();
    let most = 0;
    await until(
      "the beginning is shown",
      async () => {
        await said.evaluate((place) => place.scrollTo(0, 0));
        const seen = await inView();
        most = Math.max(most, seen.many);
        return seen.first.startsWith("Created") && seen.top === 0;
      },
      inView,
    );
    expect(most).toBeLessThanOrEqual(270);
    await said.getByText("line 0;", { exact: true }).waitFor();
    await said.getByRole("button", { name: "To the end" }).click();
    await last.waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a place in a conversation is shown by its address, with what is around it (needs chromium)",
  async () => {
    const { page } = await home.open("Agents");
    const { id } = (await home.json("agent", "tree")).find(({ name }: { name: string }) => name === "long");
    const entries = await home.json("agent", "log", "--lines", "100", "long");
    const { seq, data } = entries.find(({ event }: { event: string }) => event === "agent.read");
    await page.evaluate(`location.hash = "#/agents/${id}?at=${seq}"`);
    const here = talk(page, "long").locator("li.here").first();
    await here.waitFor();
    expect(await here.textContent()).toBe(data.events[0].text);
    expect(await here.evaluate((item) => item.getBoundingClientRect().top > 0)).toBe(true);
  },
  180_000,
);

async function showsPast({ page }: Tab, text: RegExp): Promise<void> {
  const screen = async () => (await page.locator(".past .xterm-rows > div").allTextContents()).join("\n").trim();
  await until(`the past shows ${text}`, async () => text.test(await screen()), screen);
}

test.skipIf(!HAS_CHROMIUM)(
  "a terminal's past is shown by the slider, by keys, by a link and played; and there is a way back (needs chromium)",
  async () => {
    const tab = await home.open("Agents");
    const { page, strange } = tab;
    const id = (await home.listed("steps")).id;
    await until(
      "all is printed",
      async () => (await home.ok("history", "steps")).includes("three"),
      () => "",
    );
    await show(tab, "Terminals");
    await page.getByRole("link", { name: "steps" }).click();
    await page.getByRole("link", { name: "History" }).click();
    await showsPast(tab, /three/);
    await page.getByRole("slider", { name: "Moment" }).focus();
    await page.keyboard.press("Home");
    await showsPast(tab, /^one\s*$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await showsPast(tab, /^one\s+two\s*$/);
    const link = page.url();
    await page.getByRole("button", { name: "Play" }).click();
    await showsPast(tab, /three/);
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
    await showsPast(tab, /^one\s+two\s*$/);
    await page.evaluate(`location.hash = "#/terminals/${id}?at=4"`);
    await showsPast(tab, /^one\s*$/);
    await page.getByRole("link", { name: "Back to live" }).click();
    await page.getByLabel("Terminal input").waitFor();
    rmSync(join(home.path, "terminals", id, "times"), { recursive: true });
    await page.getByRole("link", { name: "History" }).click();
    await page.getByText("This tape has no times").waitFor();
    await page.getByRole("slider", { name: "Moment" }).fill("4");
    await showsPast(tab, /^one\s*$/);
    expect(strange).toEqual([]);
  },
  180_000,
);
