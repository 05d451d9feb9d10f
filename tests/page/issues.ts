// What axe-core finds on the page as it is: serious issues only.
import axe from "axe-core";
import type { Tab } from "./browser.ts";

export async function issues({ page }: Tab): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]) }));
}
