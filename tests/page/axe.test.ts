// Every view of the page, in light and dark, by the rules of axe-core; and everything by keyboard.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { attach, endBrowser, HAS_CHROMIUM, PageHome, show, type Tab } from "./browser.ts";
import { issues } from "./issues.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

const INDEX = `name: index
mode: mapreduce
setup: [{ shell: "true" }]
map:
  input: items.json
  steps: [{ id: read, shell: "[ \${item} = 2 ]" }]
`;

async function busyHome(): Promise<PageHome> {
  const home = new PageHome();
  await home.ok("new", "-d", "build", "--lane", "work", "--", "sh", "-c", "printf '\\033[32mok\\033[0m\\n'; cat");
  await home.ok("agent", "new", "one", "--provider", "scripted", "--", ...ACTOR);
  await home.ok("agent", "send", "one", ">> call list_children {}\n>> ask Bash make deploy");
  writeFileSync(join(home.path, "push.yml"), "name: push\nsteps:\n  - id: one\n    shell: echo refused >&2; exit 3\n");
  await home.run("run", "push.yml");
  writeFileSync(join(home.path, "index.yml"), INDEX);
  writeFileSync(join(home.path, "items.json"), "[1, 2]");
  await home.run("run", "index.yml");
  return home;
}

/** Everything in it that is folded at first. */
async function unfold({ page }: Tab, view: string): Promise<void> {
  if (view === "Search") {
    await page.getByRole("searchbox").fill("deploy");
    await page.getByRole("link", { name: "prompt one" }).first().waitFor();
  }
  if (view === "Now") await page.getByRole("region", { name: "Last lines of stderr" }).waitFor();
  if (view !== "Recovery") return;
  await page.getByText("What takes room").click();
  await page.getByRole("button", { name: "Check everything" }).click();
  await page.getByText(/checks? (?:is|are) fine/).click();
  await page.getByRole("link", { name: /^Started/ }).click();
  await page.getByText("There was nothing to bring back.").waitFor();
}

/** A step of a run, and an item if it has a map. */
async function openAll({ page }: Tab): Promise<void> {
  await page.getByRole("list", { name: "Steps" }).getByRole("button").first().click();
  await page.getByRole("article", { name: /^Step 1: / }).waitFor();
  if ((await page.getByRole("application").count()) === 0) return;
  await page.getByRole("application").press("ArrowDown");
  await page.getByRole("article", { name: "Item 0" }).waitFor();
}

/** With a call of a tool, and what is folded beside its conversation. */
async function oneAgent(tab: Tab): Promise<void> {
  await show(tab, "Agents");
  await tab.page.getByRole("link", { name: "one" }).first().click();
  await tab.page.getByText("list_children", { exact: true }).click();
  await tab.page.getByRole("region", { name: "Result" }).waitFor();
  await tab.page.getByText("Inbox").click();
  await tab.page.getByText("It has read everything.").waitFor();
  await tab.page.getByText("About", { exact: true }).click();
  await tab.page.getByText("Directory").waitFor();
}

test.skipIf(!HAS_CHROMIUM)(
  "axe-core finds no serious issue in any view, light or dark (needs chromium)",
  async () => {
    const home = await busyHome();
    for (const dark of [false, true]) {
      const tab = await home.open("", dark);
      await tab.page.getByRole("article").first().waitFor();
      for (const view of ["Now", "Terminals", "Agents", "Workflows", "Recovery", "Access", "Search"]) {
        await show(tab, view);
        await unfold(tab, view);
        expect({ dark, view, issues: await issues(tab) }).toEqual({ dark, view, issues: [] });
      }
      for (const name of ["push", "index"]) {
        await show(tab, "Workflows");
        await tab.page.getByRole("link", { name, exact: true }).click();
        await openAll(tab);
        expect({ dark, view: name, issues: await issues(tab) }).toEqual({ dark, view: name, issues: [] });
      }
      await tab.page.getByRole("navigation").getByRole("link", { name: "Terminals" }).click();
      await attach(tab, "build");
      expect({ dark, view: "one terminal", issues: await issues(tab) }).toMatchObject({ issues: [] });
      await tab.page.getByRole("link", { name: "History" }).click();
      await tab.page.getByRole("slider").waitFor();
      expect({ dark, view: "its past", issues: await issues(tab) }).toMatchObject({ issues: [] });
      await oneAgent(tab);
      expect({ dark, view: "one agent", issues: await issues(tab) }).toMatchObject({ issues: [] });
    }
  },
  300_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a prompt is answered and a terminal opened with the keyboard alone (needs chromium)",
  async () => {
    const home = await busyHome();
    const { page } = await home.open();
    await page.getByRole("article", { name: "one asks to use Bash" }).waitFor();
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      const label = String(await page.evaluate("document.activeElement?.ariaLabel"));
      if (label.startsWith("Allow Bash")) break;
    }
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "one asks to use Bash" }).waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    await page.keyboard.type("build");
    await page.keyboard.press("Enter");
    await page.getByLabel("Terminal input").waitFor({ state: "attached" });
  },
  180_000,
);
