// What checkpoints of runs take on the disk of this machine (checkpoint-cost.test.ts counts what they do).
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionOf } from "../../src/core/workflow/run.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { realWorld } from "../../src/world/world.ts";
import { Story, shell } from "./stories.ts";

const home = mkdtempSync(join(tmpdir(), "hfct-"));
afterAll(() => rmSync(home, { recursive: true }));

/** What a long workflow has, with some output of each step. */
const STEPS = Array.from({ length: 30 }, (_, at) => shell(`s${at}`, { capture: { [`v${at}`]: "stdout" } }));
/** The median of so many is not that of a busy moment. */
const TIMES = 15;

function finished() {
  const story = new Story(STEPS);
  for (const { id } of STEPS) story.ends(id, 0, "some output of this step\n".repeat(20));
  return story.run;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

test("UC-9(a,b) a run of thirty steps is saved in less than 100 ms, durable and verified, and loaded in less than 50", async () => {
  const run = finished();
  const { clock, disk } = realWorld();
  const [saves, loads]: [number[], number[]] = [[], []];
  for (let seq = 1; seq <= TIMES; seq += 1) {
    const storage = new CheckpointStorage({ clock, disk, home }); // Nothing is known to it yet, as after a start.
    const began = clock.elapsed();
    expect((await storage.save(run, "Manual", seq)).ok).toBe(true);
    const saved = clock.elapsed();
    const loaded = new CheckpointStorage({ clock, disk, home }).load(sessionOf(run));
    loads.push(clock.elapsed() - saved);
    saves.push(saved - began);
    expect(loaded).toMatchObject({ ok: true, value: { newest: { seq }, problems: [] } });
    if (loaded.ok) expect(loaded.value.newest?.saved.completed_steps).toHaveLength(STEPS.length);
  }
  expect(median(saves)).toBeLessThan(100);
  expect(median(loads)).toBeLessThan(50);
});
