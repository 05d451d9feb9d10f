// What axe-core finds on the page as it is: serious issues only.
import axe from "axe-core";
import type { Tab } from "./browser.ts";

/** A document that has axe already keeps it. Of what passed, only as much as axe needs is gathered and sent. */
export async function issues({ page }: Tab): Promise<unknown[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const here = (globalThis as unknown as { axe: typeof axe }).axe;
    return (await here.run({ resultTypes: ["violations"] })).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]) }));
}
