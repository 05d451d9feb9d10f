// Steps that wait for a free slot: in turn over the runs, and through crashes.
import { expect, test } from "bun:test";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { StepSlots } from "../../src/daemon/workflow/step-slots.ts";
import { daemonHomes } from "../daemon/home.ts";
import { SimClock } from "../sim/clock.ts";
import { until } from "../until.ts";
import { Runs } from "./runs.ts";

class Site {
  readonly clock = new SimClock();
  readonly begun: string[] = [];
  readonly unwanted = new Set<string>();
  readonly gone = new Set<string>();
  readonly slots: StepSlots;
  off = false;

  constructor(slots: number) {
    this.slots = new StepSlots(this.clock, slots, {
      runOf: (attempt) => attempt.slice(0, attempt.lastIndexOf(".")),
      isWanted: (attempt) => !this.unwanted.has(attempt),
      isPresent: (attempt) => !this.gone.has(attempt),
      mayBegin: () => !this.off,
      begin: (attempt) => void this.begun.push(attempt),
    });
  }

  want(run: string, ...numbers: readonly number[]): void {
    for (const number of numbers) this.slots.want(`${run}.${number}`);
  }
}

test("SL1 with one slot, a run with many steps and one with a single step take turns", () => {
  const site = new Site(1);
  site.want("many", 1, 2, 3, 4);
  site.want("one", 1);
  expect([site.slots.waiting("many"), site.slots.waiting("one")]).toEqual([3, 1]);
  for (const ended of ["many.1", "one.1", "many.2"]) site.slots.over(ended);
  expect(site.begun).toEqual(["many.1", "one.1", "many.2", "many.3"]);
});

test("SS1 what was stopped while it waited is skipped, an attempt that is asked for again has one slot, and safe mode keeps all", () => {
  const site = new Site(1);
  site.want("a", 1, 2, 3, 1, 2);
  site.unwanted.add("a.2");
  expect(site.slots.waiting("a")).toBe(1);
  site.off = true;
  site.slots.over("a.1");
  site.slots.round();
  expect(site.begun).toEqual(["a.1", "a.1"]); // The second is a repeat, as after a round.
  site.off = false;
  site.slots.round();
  expect(site.begun.slice(2)).toEqual(["a.3"]);
});

test("SS2 programs of an earlier daemon have slots, though more than there are; one whose run is gone gives it back", () => {
  const site = new Site(2);
  for (const attempt of ["old.1", "old.2", "old.3"]) site.slots.runs(attempt);
  site.want("new", 1);
  site.slots.over("old.1");
  expect(site.begun).toEqual([]);
  site.gone.add("old.2");
  site.slots.round();
  expect(site.begun).toEqual(["new.1"]);
});

test("SL3 if all slots are taken and none becomes free, as by steps that wait for runs, some more are given, and taken back", () => {
  const site = new Site(2);
  site.want("outer", 1, 2);
  site.want("inner", 1, 2);
  site.clock.advance(59_000);
  site.slots.round();
  expect(site.begun).toEqual(["outer.1", "outer.2"]);
  site.clock.advance(1_000);
  site.slots.round();
  site.slots.over("inner.1"); // The next one begins at once.
  expect(site.begun.slice(2)).toEqual(["inner.1", "inner.2"]);
  for (const ended of ["inner.2", "outer.1"]) site.slots.over(ended);
  site.want("other", 1, 2);
  expect(site.begun.slice(4)).toEqual(["other.1"]);
  for (let minute = 0; minute < 20; minute += 1) {
    site.want("more", minute);
    site.clock.advance(60_000);
    site.slots.round();
  }
  expect(site.begun).toHaveLength(5 + 8);
});

const newHome = daemonHomes();
const MAP = `
name: many
mode: mapreduce
map:
  input: { command: "seq 1 40" }
  max_parallel: 40
  steps:
    - id: work
      shell: echo begun \${item} >> begun; while [ ! -e go ]; do sleep 0.05; done; echo done \${item} >> done
`;
const SINGLE = "name: single\nsteps:\n  - id: only\n    shell: echo single >> begun; touch go\n";

test("a map fills the slots, another run's single step is next, and all items are done once, also if the daemon dies", async () => {
  const home = newHome();
  appendFileSync(home.file(".config/holdfast/config.toml"), "[workflows]\nslots = 3\n");
  const daemon = await home.live();
  const runs = new Runs(home);
  const map = await runs.begin(MAP);
  await until(
    "three items run",
    () => runs.lines("begun").length === 3,
    () => runs.lines("begun"),
  );
  const single = await runs.begin(SINGLE);
  await until(
    "it is known what waits",
    async () => (await runs.show(map)).waitsForSlot === 37 && (await runs.show(single)).waitsForSlot === 1,
    async () => [await runs.show(map), await runs.show(single)],
  );
  daemon.process.kill("SIGKILL");
  await daemon.process.exited;
  await home.live();
  await until(
    "it waits again",
    async () => (await runs.show(single)).waitsForSlot === 1,
    async () => [await runs.show(map), await runs.show(single)],
  );
  expect(runs.lines("begun")).toHaveLength(3);
  expect(existsSync(home.file("go"))).toBe(false);
  writeFileSync(home.file("go"), "");
  for (const id of [map, single]) await runs.is(id, "done");
  const order = runs.lines("begun");
  expect(order.indexOf("single")).toBeLessThan(3 + 3);
  expect(runs.lines("done").sort()).toEqual(Array.from({ length: 40 }, (_, at) => `done ${at + 1}`).sort());
  expect((await runs.show(map)).waitsForSlot).toBeUndefined();
});
