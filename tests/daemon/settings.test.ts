// Settings, from the configuration file to their effect in a real daemon.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { type DaemonHome, daemonHomes } from "./home.ts";

const newHome = daemonHomes();

async function configured(home: DaemonHome, ...lines: readonly string[]) {
  writeFileSync(home.file("config.toml"), [...lines, ""].join("\n"));
  return home.live({ HOLDFAST_CONFIG: home.file("config.toml") });
}

const segments = (home: DaemonHome) => readdirSync(home.file("wal")).filter((name) => name.endsWith(".wal")).length;
const ballast = (home: DaemonHome) =>
  existsSync(home.file("ballast")) ? statSync(home.file("ballast")).size : undefined;

test("[log] ballast_bytes sets space aside, gives it back when it is less, and none for 0", async () => {
  const home = newHome();
  for (const [bytes, kept] of [
    [2_097_152, 2_097_152],
    [1_048_576, 1_048_576],
    [0, undefined],
  ] as const) {
    const daemon = await configured(home, "[log]", `ballast_bytes = ${bytes}`);
    expect(ballast(home)).toBe(kept);
    await home.stop(daemon);
  }
});

test("[log] max_segments is how many files the write-ahead log has, also after it was more", async () => {
  const home = newHome();
  const daemon = await configured(home, "[log]", "max_segments = 4", "segment_bytes = 2097152");
  await home.stop(daemon);
  const first = readdirSync(home.file("wal")).find((name) => name.endsWith(".wal")) ?? "";
  for (const more of [90, 91, 92, 93]) {
    const name = String(more).padStart(first.length - ".wal".length, "0");
    writeFileSync(home.file(`wal/${name}.wal`), Buffer.alloc(2_097_152));
  }
  expect(segments(home)).toBeGreaterThan(4);
  await configured(home, "[log]", "max_segments = 2", "segment_bytes = 2097152");
  expect(segments(home)).toBeLessThanOrEqual(2);
  await home.open("one", ["sleep", "1000"]);
});

test("UC-4(b) [retention] histories is how many older checkpoints of a run are kept", async () => {
  const home = newHome();
  await configured(home, "[retention]", "histories = 3");
  const runs = new Runs(home);
  const steps = Array.from({ length: 8 }, (_, n) => `  - shell: sleep 0.2; echo ${n}`);
  const id = await runs.begin(`steps:\n${steps.join("\n")}\n`);
  await runs.is(id, "done");
  const [repo = ""] = readdirSync(home.file("state"));
  const kept = () => readdirSync(home.file(`state/${repo}/sessions/${id}/history`)).length;
  await until("three are left", () => kept() === 3, kept);
});
