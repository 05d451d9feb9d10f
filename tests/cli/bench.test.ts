// `holdfast bench` on the real commands: what it prints, and that nothing of it is left.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rejects } from "./expect.ts";
import { cli } from "./homes.ts";

const own = () => readdirSync("/tmp").filter((name) => name.startsWith("hf-bench-"));

test("bench times each command beside an empty script, and removes its home", async () => {
  const before = own();
  const { code, out, err } = await cli(["bench", "--rounds", "1", "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "holdfast: timing 5 commands, 1 times each, in a home of its own\n" });
  const rows = JSON.parse(out);
  const names = ["--version", "ls", "attach", "new -d"].map((words) => `holdfast ${words}`);
  expect(rows.map(({ name }: { name: string }) => name)).toEqual(names);
  for (const { ms, emptyMs, ratio } of rows) {
    expect(Math.min(ms, emptyMs)).toBeGreaterThan(0);
    expect(ratio).toBeCloseTo(ms / emptyMs);
  }
  expect(own()).toEqual(before);
});

test("a number of rounds that makes no sense is refused", async () => {
  rejects(await cli(["bench", "--rounds", "0"]), 2, "from 1 to 1000");
});
