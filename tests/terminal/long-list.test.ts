// A real list in several pages: rows so long that a page has room for few of them.
import { afterAll, expect, test } from "bun:test";
import { PAGE_LIMITS } from "../../src/daemon/pages.ts";
import { endAll, Home } from "../cli/terminal-home.ts";

afterAll(endAll, 180_000);

const COUNT = 8;
/** Three fill a page. */
const LONG = "x".repeat(90 << 10);

test("PS1 terminals whose rows are longer than a page together are all listed, found by name and removed", async () => {
  const home = new Home();
  for (let at = 0; at < COUNT; at += 1) await home.ok("new", "-d", `t${at}`, "--", "sh", "-c", "exit 0", LONG);
  const text = await home.ok("ls", "--json");
  expect(text.length).toBeGreaterThan(2 * PAGE_LIMITS.length);
  const names = (list: string) => (JSON.parse(list) as { name: string }[]).map(({ name }) => name);
  expect(names(text)).toEqual(Array.from({ length: COUNT }, (_, at) => `t${at}`));
  expect(await home.ok("ls")).toContain(`t${COUNT - 1} `);
  await home.ok("rm", "t3", "t5");
  expect(names(await home.ok("ls", "--json"))).toEqual(["t0", "t1", "t2", "t4", "t6", "t7"]);
  expect(await home.run("rm", "t33")).toMatchObject({ code: 4 });
  await home.ok("down");
  expect(names(await home.ok("ls", "--json"))).toEqual(["t0", "t1", "t2", "t4", "t6", "t7"]); // From disk.
});
