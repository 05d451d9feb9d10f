// When terminals are looked at between two checkpoints, and what is written.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sameSight } from "../../src/core/terminal/checkpoint.ts";
import type { Sighting } from "../../src/core/terminal/restoration.ts";
import type { Terminal } from "../../src/core/terminal/terminal.ts";
import { Sightings } from "../../src/daemon/terminal/sightings.ts";
import { realWorld } from "../../src/world/world.ts";

const AT = "2026-01-01T00:00:00.000Z";

function seen(workingDirectory: string, argv?: readonly string[], startedAt = AT): Sighting {
  const foreground = argv === undefined ? null : { argv, cwd: workingDirectory, startedAt };
  return { generation: 1, at: AT, workingDirectory, foreground };
}

function watching() {
  const home = mkdtempSync("/tmp/hfg-");
  const file = join(home, "recovery/sightings.json");
  const now = { end: 0, sight: seen("/a"), looks: 0 };
  const open = () =>
    new Sightings(
      { ...realWorld(), home },
      {
        running: () => [{ id: "t" } as Terminal],
        tapeEnd: () => now.end,
        prepare: async () => undefined,
        look: () => {
          now.looks += 1;
          return now.sight;
        },
        recorded: () => seen("/a"),
        guard: (_, work) => work(),
      },
    );
  const written = () => JSON.parse(readFileSync(file, "utf8")).sightings;
  return { home, file, now, open, written, end: () => rmSync(home, { recursive: true }) };
}

test("SG1 SG2 a silent terminal is not looked at, and nothing is written while nothing has changed", async () => {
  const { now, file, open, written, end } = watching();
  const sightings = open();
  for (let beat = 0; beat < 5; beat += 1) await sightings.beat();
  expect(now.looks).toBe(2); // The first time, and once more.
  expect(() => statSync(file)).toThrow();
  now.end += 10;
  await sightings.beat();
  expect(now.looks).toBe(3);
  now.sight = seen("/a", ["make"]); // It starts after its command was echoed.
  await sightings.beat();
  expect(written()).toEqual({ t: now.sight });
  const { mtimeMs } = statSync(file);
  for (let beat = 0; beat < 5; beat += 1) await sightings.beat();
  now.end += 10;
  await sightings.beat();
  expect([now.looks, statSync(file).mtimeMs]).toEqual([5, mtimeMs]);
  end();
});

test("SG3 what the daemon before has seen counts until a checkpoint has it, also if something else changes", async () => {
  const { now, open, written, file, end } = watching();
  const first = open();
  await first.beat();
  now.end += 1;
  now.sight = seen("/b");
  await first.beat();
  const other: Sighting = { ...seen("/other"), agent: { name: "opencode", session: "ses_e10a88732ffe" } };
  const bad = { ...seen("/bad"), agent: { name: "claude", session: "--print" } };
  writeFileSync(file, JSON.stringify({ v: 1, sightings: { ...written(), other, bad } }));
  const second = open();
  second.load();
  expect([second.of("t"), second.of("other"), second.of("bad")]).toEqual([now.sight, other, undefined]);
  now.sight = seen("/c");
  await second.beat();
  expect(written()).toEqual({ t: now.sight, other });
  second.covered([{ terminalId: "t", lookedAt: AT }, { terminalId: "other" }]);
  expect([second.of("t"), second.of("other")]).toEqual([undefined, other]);
  second.covered([{ terminalId: "t", lookedAt: "2025-12-31T00:00:00.000Z" }]);
  expect(second.of("other")).toEqual(other); // It was seen after that.
  second.covered([{ terminalId: "t", lookedAt: AT }]);
  expect(second.of("other")).toBeUndefined(); // It has ended.
  second.load();
  writeFileSync(file, "torn{");
  second.load();
  expect(second.of("other")).toBeUndefined();
  end();
});

test("the same program is the same sight, unless it was started again", () => {
  const make = seen("/a", ["make"]);
  expect(sameSight(make, { ...make, at: "2026-01-02T00:00:00.000Z" })).toBe(true);
  expect(sameSight(make, seen("/a", ["make"], "2026-01-01T00:00:01.000Z"))).toBe(true);
  const others = [
    seen("/a", ["make"], "2026-01-01T00:01:00.000Z"),
    seen("/a"),
    seen("/b", ["make"]),
    seen("/a", ["make", "x"]),
  ];
  const agent = { name: "claude", session: "0f7a2f8e-1111-4222-8333-444455556666" } as const;
  expect(sameSight({ ...make, agent }, { ...make, agent: { ...agent } })).toBe(true);
  const agents = [
    { ...make, agent },
    { ...make, agent: { name: "claude" } as const },
  ];
  expect(sameSight({ ...make, agent }, { ...make, agent: { name: "claude" } })).toBe(false);
  for (const other of [...others, ...agents, { ...make, generation: 2 }]) expect(sameSight(make, other)).toBe(false);
});
