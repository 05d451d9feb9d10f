// Everything that can be pressed, in a real Chromium: it has a name, the keyboard reaches it, and its outcome is seen.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { attach, endBrowser, HAS_CHROMIUM, PageHome, show, type Tab } from "./browser.ts";

let home: PageHome;
beforeAll(async () => {
  if (HAS_CHROMIUM) home = await busyHome();
}, 180_000);
afterAll(endBrowser);
afterAll(endAll, 180_000);

const FAILS = "name: push\nsteps:\n  - id: one\n    shell: exit 3\n";
const SLEEPS = "name: sleep\nsteps:\n  - id: one\n    shell: sleep 1000\n";

async function busyHome(): Promise<PageHome> {
  const made = new PageHome();
  await made.ok("new", "-d", "cat", "--", "cat");
  await made.ok("new", "-d", "over", "--", "true");
  for (const name of ["one", "two"]) {
    await made.ok("agent", "new", name, "--provider", "scripted", "--", ...ACTOR);
    await made.ok("agent", "send", name, `>> ask Bash make ${name}`);
  }
  for (const [name, text] of Object.entries({ push: FAILS, sleep: SLEEPS }))
    writeFileSync(join(made.path, `${name}.yml`), text);
  await made.run("run", "push.yml");
  await made.ok("run", "--detach", "sleep.yml");
  return made;
}

/** Numbers what can be pressed or typed into, and returns the names; runs in the browser. */
const MARK = `[...document.querySelectorAll("button, a[href], input, textarea, select, summary")]
  .filter((one) => !one.disabled && one.checkVisibility())
  .map((one, at) => {
    one.dataset.mark = at;
    return (one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent).trim();
  })`;
const TO_START = "document.body.tabIndex = -1, document.body.focus()";
const MARKED = "document.activeElement.dataset.mark ?? ''";

/** The names of those that Tab does not reach, from the beginning of the page. */
async function unreached({ page }: Tab): Promise<unknown> {
  const names = (await page.evaluate(MARK)) as string[];
  await page.evaluate(TO_START);
  const reached = new Set<string>();
  for (let presses = 0; presses < 2 * names.length + 10 && reached.size < names.length; presses += 1) {
    await page.keyboard.press("Tab");
    reached.add(String(await page.evaluate(MARKED)));
    reached.delete("");
  }
  return {
    some: names.length > 6,
    unnamed: names.includes(""),
    missed: names.filter((_, at) => !reached.has(`${at}`)),
  };
}

const ALL = { some: true, unnamed: false, missed: [] };

test.skipIf(!HAS_CHROMIUM)(
  "everything in every view has a name and is reached by Tab (needs chromium)",
  async () => {
    const tab = await home.open();
    for (const [view, isThere] of [
      ["Now", "asks to use"],
      ["Terminals", "Start again"],
      ["Agents", "one"],
      ["Recovery", "What takes room"],
      ["Access", "this browser"],
      ["Workflows", "push"],
    ] as const) {
      await show(tab, view);
      await tab.page.getByText(isThere).first().waitFor();
      expect([view, await unreached(tab)]).toEqual([view, ALL]);
    }
    await show(tab, "Terminals");
    await attach(tab, "cat");
    await tab.page.getByRole("button", { name: "End…" }).waitFor();
    expect(await unreached(tab)).toEqual(ALL);
    for (const hash of ["#/now", "#/access"]) {
      await tab.page.evaluate(`location.hash = "${hash}"`);
      await tab.page.evaluate(TO_START);
      await tab.page.keyboard.press("Tab");
      await tab.page.keyboard.press("Enter"); // Skip to the content.
      expect([await tab.page.evaluate("document.activeElement.id"), new URL(tab.page.url()).hash]).toEqual([
        "main",
        hash,
      ]);
    }
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

/** In this order, on one home: a view, what is pressed there, one after the other, and what is seen then. */
const ACTIONS: readonly (readonly [view: string, press: readonly string[], seen: string])[] = [
  ["Recovery", ["Check everything"], "The checks are done."],
  ["Recovery", ["Report an issue…", "Save to a file"], "The report is saved"],
  ["Terminals", ["Start again: over"], "over runs its command again."],
  ["Terminals", ["Remove over"], "over is removed."],
  ["Terminals", ["New terminal", "Cancel"], "No such text"],
  ["Now", ["Interrupt sleep"], "sleep is interrupted"],
  ["Now", ["Resume sleep"], "sleep goes on."],
  ["Now", ["Give up"], "push is given up."],
];

test.skipIf(!HAS_CHROMIUM)(
  "each action shows its outcome (needs chromium)",
  async () => {
    const tab = await home.open();
    const { page, strange } = tab;
    for (const [view, press, seen] of ACTIONS) {
      await show(tab, view);
      for (const name of press) await page.getByRole("button", { name, exact: true }).click();
      if (press.at(-1) === "Cancel") await page.getByRole("dialog").waitFor({ state: "detached" });
      else await page.getByText(seen).first().waitFor();
    }
    await show(tab, "Terminals");
    await page.getByRole("button", { name: "New terminal" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("cat");
    await dialog.getByLabel("Directory").fill("/no/such");
    await dialog.getByRole("button", { name: "Open" }).click();
    await dialog.getByText("There is no directory /no/such.").waitFor(); // In the form, not behind it.
    await dialog.getByLabel("Directory").fill("");
    await dialog.getByRole("button", { name: "Open" }).click();
    await dialog.getByText("There is already a terminal named cat.").waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a second click on Allow reaches no other prompt, and who was answering one that is closed elsewhere is told (needs chromium)",
  async () => {
    const tab = await home.open();
    const { page, strange } = tab;
    const card = (name: string) => page.getByRole("article", { name: `${name} asks to use Bash` });
    const box = await card("one")
      .getByRole("button", { name: /^Allow/ })
      .boundingBox();
    const at = { x: (box?.x ?? 0) + 5, y: (box?.y ?? 0) + 5 };
    await page.mouse.click(at.x, at.y);
    await card("one").getByText("It is closed.").waitFor();
    await page.mouse.click(at.x, at.y);
    await card("one").waitFor({ state: "detached" });
    const prompts = await home.json("prompts");
    expect(prompts.map(({ name }: { name: string }) => name)).toEqual(["two"]);

    await card("two").getByRole("button", { name: /^Deny/ }).click();
    await card("two")
      .getByLabel(/^Message/)
      .fill("not now");
    await home.ok("answer", prompts[0].id, "allow");
    await page.getByText("two does not wait any more").waitFor();
    expect(strange).toEqual([]);
  },
  180_000,
);

/** Presses the main button of the first prompt, if it can be pressed; runs in the browser. */
const PRESS = "document.querySelector('.prompt .more .primary:not(:disabled)')?.click()";

test.skipIf(!HAS_CHROMIUM)(
  "an edited Always makes one rule, however often it is pressed while the daemon is killed (needs chromium)",
  async () => {
    await home.ok("agent", "send", "one", ">> ask Bash make again");
    const { page } = await home.open();
    const card = page.getByRole("article", { name: "one asks to use Bash" });
    await card.getByRole("button", { name: /^Always/ }).click();
    await card.getByRole("textbox", { name: "command" }).fill("make a*");
    const { daemon } = await home.pids();
    await page.evaluate(PRESS);
    if (daemon !== null) process.kill(daemon, "SIGKILL"); // It may have been taken, or not.
    const isGone = async () => {
      await page.evaluate(PRESS);
      return (await card.count()) === 0;
    };
    await until("the prompt is answered", isGone, () => card.allTextContents());
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await home.json("rules", "ls")).toMatchObject([{ tool: "Bash", args: { command: "make a*" } }]);
  },
  180_000,
);
