// What waits for a person, in a real Chromium: prompts are answered once, and safe mode is left.
import { afterAll, expect, test } from "bun:test";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, PageHome, type Tab } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

async function askedBy(home: PageHome, name: string, command: string): Promise<void> {
  await home.ok("agent", "new", name, "--provider", "scripted", "--", ...ACTOR);
  await home.ok("agent", "send", name, `>> ask Bash ${command}`);
}

function card({ page }: Tab, name: string) {
  return page.getByRole("article", { name: `${name} asks to use Bash` });
}

async function answered(home: PageHome, name: string, text: string): Promise<void> {
  const log = () => home.ok("agent", "log", name);
  await until(`the log of ${name} has ${text}`, async () => (await log()).includes(text), log);
}

test.skipIf(!HAS_CHROMIUM)(
  "prompts are shown whole, allowed, denied with a message, and allowed always, and the title counts them (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await home.open();
    await askedBy(home, "one", "rm -rf /tmp/nothing && echo <b>done</b>");
    await askedBy(home, "two", "make deploy");
    await askedBy(home, "three", "make test");
    const { page } = tab;
    await card(tab, "three").waitFor();
    await until(
      "the title counts them",
      async () => (await page.title()).includes("(3)"),
      () => page.title(),
    );
    await card(tab, "one").getByText("rm -rf /tmp/nothing && echo <b>done</b>").waitFor();
    await card(tab, "one")
      .getByRole("button", { name: /^Allow/ })
      .click();
    await answered(home, "one", "allow");
    await card(tab, "two").getByRole("button", { name: /^Deny/ }).click();
    await card(tab, "two").getByRole("textbox").fill("not today");
    await card(tab, "two").getByRole("button", { name: "Deny", exact: true }).click();
    await answered(home, "two", "not today");
    await card(tab, "three")
      .getByRole("button", { name: /^Always/ })
      .click();
    await card(tab, "three").getByRole("button", { name: "Allow, and add this rule" }).click();
    await answered(home, "three", "allow");
    await until(
      "nothing waits",
      async () => !(await page.title()).includes("("),
      () => page.title(),
    );
    expect(await home.ok("rules", "ls")).toContain("make test");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a prompt that waits is still there after a kill of the daemon, and is answered once (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await home.open();
    await askedBy(home, "one", "make");
    await card(tab, "one").waitFor();
    const { daemon } = await home.pids();
    if (daemon !== null) process.kill(daemon, "SIGKILL");
    const next = async () => ![null, daemon].includes((await home.pids()).daemon);
    await until("another daemon runs", next, () => home.pids());
    await tab.page.getByText("Live", { exact: true }).waitFor();
    await card(tab, "one")
      .getByRole("button", { name: /^Allow/ })
      .click();
    await answered(home, "one", "allow");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "SM-6(b) safe mode is shown with its reason and what is off, and is left from the page (needs chromium)",
  async () => {
    const home = new PageHome("[crash_loop]\ncrashes = 1\n");
    const { page, strange } = await home.open();
    const { daemon } = await home.pids();
    if (daemon !== null) process.kill(daemon, "SIGKILL");
    const banner = page.getByRole("alert").filter({ hasText: "Safe mode" });
    await banner.getByText("crash").first().waitFor();
    await banner.getByRole("button", { name: "Leave safe mode" }).click();
    await banner.waitFor({ state: "hidden" });
    expect((await home.status()).safeMode.active).toBe(false);
    expect(strange).toEqual([]);
  },
  180_000,
);
