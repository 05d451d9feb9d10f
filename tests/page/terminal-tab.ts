// A tab of the page with one terminal in it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { attach, type PageHome, type Tab } from "./browser.ts";

/** A tab with one terminal, whose screen can be read: the graphics card draws only pixels. */
export async function tabWith(home: PageHome, name: string): Promise<Tab> {
  const tab = await home.open("Terminals");
  await attach(tab, name);
  await tab.page.getByRole("button", { name: "Screen reader" }).click();
  await tab.page.getByLabel("Terminal input").focus();
  return tab;
}

export async function screen({ page }: Tab): Promise<string> {
  return (await page.locator(".xterm-accessibility-tree").allInnerTexts()).join("\n");
}

export async function shows(tab: Tab, text: string): Promise<void> {
  await until(
    `the page shows ${text}`,
    async () => (await screen(tab)).includes(text),
    () => screen(tab),
  );
}

/** All that the terminal has had. */
export async function sizes(home: PageHome, name: string): Promise<{ rows: number; cols: number }[]> {
  const { id } = await home.listed(name);
  const lines = readFileSync(join(home.path, "terminals", id, "sizes.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line));
}
