import { expect, test } from "bun:test";
import { withoutTable, withTable } from "./own-table.ts";

test("OT1 OT2 what is ours is added to any configuration, and removed again without a trace", () => {
  const settings = { url: 'postgres://a@b/"c"', host: "one" };
  const ours = /url = "postgres:\/\/a@b\/\\"c\\""\nhost = "one"\n/;
  for (const text of ["", "[web]\nport = 1\n", "[fleet]\ntake = []\n[web]\n", "a = 1\n\n", " [fleet] # ours\n"]) {
    const written = withTable(text, settings);
    expect(written).toMatch(ours);
    expect(written.match(/^ ?\[fleet\]/gm)).toHaveLength(1);
    expect(withoutTable(written)?.trimEnd()).toBe(text.trimEnd());
  }
  expect(withoutTable("[fleet]\nurl = 'mine'\n")).toBeUndefined();
});
