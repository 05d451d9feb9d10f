// `holdfast usage disk` as a user sees it.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

type Kind = { readonly kind: string; readonly files: number; readonly bytes: number };

/** The files below a directory and their sizes, without what links lead to. */
function sizesBelow(path: string): (readonly [number, number])[] {
  return readdirSync(path).flatMap((name) => {
    const found = lstatSync(join(path, name));
    if (found.isDirectory()) return sizesBelow(join(path, name));
    return found.isFile() ? [[found.ino, found.size] as const] : [];
  });
}

function bytesBelow(path: string): number {
  return [...new Map(sizesBelow(path)).values()].reduce((sum, size) => sum + size, 0);
}

test("usage disk counts every file of a home once, by kind, says what gc would free, and works without a daemon", async () => {
  const home = new Home();
  appendFileSync(join(home.path, "config.toml"), "[retention]\nremoved_days = 0\nrun_days = 0\n");
  await home.ok("new", "-d", "stays", "--", "sh", "-c", "seq 1 20000; exec sleep 1000");
  await home.says("stays", "20000");
  writeFileSync(join(home.path, "flow.yml"), "steps:\n  - shell: seq 1 10000; seq 1 10000 >&2\n");
  await home.ok("run", "flow.yml");
  const agent = (await home.ok("agent", "new", "alpha", "--provider", "scripted", "--", ...ACTOR)).trim();
  await home.ok("agent", "ask", "alpha", ">> say hello");
  mkdirSync(join(home.path, "worktrees/one"), { recursive: true });
  writeFileSync(join(home.path, "worktrees/one/file"), "x".repeat(5000));
  symlinkSync("/usr", join(home.path, "worktrees/link"));
  const live = await home.json("usage", "disk");
  const dry = await home.json("gc", "--dry-run");
  expect(live.gc).toEqual({ bytes: dry.bytes, items: dry.items.length });
  expect(dry.bytes).toBeGreaterThan(90_000); // Both outputs of the step.
  const { out, err } = await home.run("usage", "disk");
  expect(out).toMatch(/output of steps/);
  expect(err).toMatch(/gc` would free .* KB in 1 item now/);
  await home.ok("agent", "terminate", "alpha");
  await home.ok("down", "--kill");
  const down = await until(
    "nothing changes any more",
    async () => {
      const used = await home.json("usage", "disk");
      return used.bytes === bytesBelow(home.path) ? used : undefined;
    },
    () => bytesBelow(home.path),
  );
  expect(down.gc).toBeNull();
  expect((await home.run("usage", "disk")).err).toContain("no daemon answers");
  const kinds: Kind[] = down.kinds;
  expect(kinds.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(down.bytes);
  expect(kinds.map(({ bytes }) => bytes)).toEqual(kinds.map(({ bytes }) => bytes).toSorted((a, b) => b - a));
  const of = (name: string) => kinds.find(({ kind }) => kind === name);
  expect(of("worktrees of runs")).toEqual({ kind: "worktrees of runs", files: 1, bytes: 5000 });
  expect(of("output of terminals")?.bytes).toBeGreaterThan(100_000);
  const isTests = (name: string) => name.startsWith(".") || name === "config.toml" || name === "flow.yml";
  const others = readdirSync(home.path).filter(isTests);
  const bytesOf = (path: string) => (lstatSync(path).isFile() ? lstatSync(path).size : bytesBelow(path));
  const bytes = others.reduce((sum, name) => sum + bytesOf(join(home.path, name)), 0);
  expect(of("other files")?.bytes).toBe(bytes); // Everything of Holdfast is of another kind.
  expect(readdirSync(join(home.path, "agents"))).toContain(agent);
  for (const kind of ["write-ahead log", "logs of terminals, agents and runs", "records and checkpoints of agents"])
    expect([kind, (of(kind)?.bytes ?? 0) > 0]).toEqual([kind, true]);
});
