// Rules that are made in the page, in a real Chromium: what is shown is what is made.
import { afterAll, expect, test } from "bun:test";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, PageHome, show } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

test.skipIf(!HAS_CHROMIUM)(
  "an edited rule is exactly the one shown: it allows what it matches, asks for the rest, and is removed (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await home.open();
    const { page, strange } = tab;
    const { id } = JSON.parse(await home.ok("agent", "new", "one", "--json", "--provider", "scripted", "--", ...ACTOR));
    const asks = (command: string) => home.ok("agent", "send", "one", `>> ask Bash ${command}`);
    const card = page.getByRole("article", { name: "one asks to use Bash" });
    await asks("make test");
    await card.getByRole("button", { name: /^Always/ }).click();
    const pattern = card.getByRole("textbox", { name: "command" });
    expect(await pattern.inputValue()).toBe("make test");
    await pattern.fill("make **");
    await card.getByText("Careful:").first().waitFor(); // It seems to allow only make.
    await pattern.fill("make [lt]*");
    await card.getByRole("button", { name: "Allow, and add this rule" }).click();
    await card.waitFor({ state: "detached" });
    const rule = { tool: "Bash", args: { command: "make [lt]*" }, decision: "allow" };
    expect(await home.json("rules", "ls")).toMatchObject([{ agent: id, ...rule }]);

    await asks("make lint");
    await asks("make deploy");
    await card.getByText("make deploy").waitFor();
    const answers = async () => (await home.json("log", "show", id)).filter(isAnswered).length;
    await until("the lint was allowed without asking", async () => (await answers()) === 2, answers);
    expect((await home.json("prompts")).map(({ input }: { input: unknown }) => input)).toEqual([
      { command: "make deploy" },
    ]);
    await show(tab, "Access");
    await page.getByText("make [lt]*").waitFor();
    await page.getByRole("button", { name: /^Remove/ }).click();
    await page.getByText("make [lt]*").waitFor({ state: "detached" });
    expect(await home.json("rules", "ls")).toEqual([]);
    expect(strange).toEqual([]);
  },
  180_000,
);

const isAnswered = ({ event }: { readonly event: string }) => event === "prompt.answered";
