// checkpoint.workflow.save: the checkpoint of a typical run (30 finished steps with a kilobyte of output each), from
// the run in memory to durable under its name, the one before it kept in the history; the peer writes the same bytes
// atomically with bare node:fs.
// checkpoint.workflow.load: the file, its hash checked, with the tail of the log folded in (two events); the peer reads
// the file and parses it.
// Both in milliseconds, one of ours and one of the peer's in turn. Not measured: a cold page cache, the first save of a
// process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "../src/core/workflow/definition.ts";
import type { Run } from "../src/core/workflow/run.ts";
import { WorkflowStore } from "../src/daemon/workflow/store.ts";
import { CheckpointStorage } from "../src/home/checkpoint-storage.ts";
import { EventLog } from "../src/log/event-log.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { writeAtomically } from "./atomically.ts";
import { median, timed } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const STEPS = 30;
const OUTPUT = "ok: 12 files checked, nothing to do\n".repeat(28);
const ID = "0190b6a0c0de4000800000000000000a";

type Site = { readonly log: EventLog; readonly store: WorkflowStore; readonly storage: CheckpointStorage };

export async function workflowCheckpoint(
  names: readonly string[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  const times = bench.quick ? 5 : 100;
  bench.say(`checkpoint.workflow: ${times} times`);
  const home = makePlace(bench, "run-checkpoint");
  const site = await openSite(home);
  await toStep(site, STEPS);
  const path = join(home, `state/bench/sessions/${ID}/checkpoint.json`);
  const raw = join(makePlace(bench, "run-checkpoint/raw"), "checkpoint.json");
  await save(site);
  await save(site);
  const peer = (what: string) => `${what} of the same ${readFileSync(path).length} bytes`;
  const [saves, loads] = await inTurns(site, { path, raw, times });
  await site.log.close();
  const rows = [
    timeRow({ name: "checkpoint.workflow.save", ...saves, peer: peer("raw atomic write") }),
    timeRow({ name: "checkpoint.workflow.load", ...loads, peer: peer("read and parse") }),
  ];
  for (const row of rows) if (names.includes(row.name)) emit(row);
}

type Pair = { readonly value: number; readonly peerValue: number };

async function inTurns(
  site: Site,
  { path, raw, times }: { readonly path: string; readonly raw: string; readonly times: number },
): Promise<[Pair, Pair]> {
  const bytes = readFileSync(path);
  const seen = { save: [] as number[], raw: [] as number[], load: [] as number[], parse: [] as number[] };
  for (let at = 0; at < times; at += 1) {
    seen.save.push(await timed(() => save(site)));
    seen.raw.push(await timed(() => writeAtomically(raw, bytes)));
  }
  await toStep(site, STEPS + 1); // The tail that a load folds in.
  for (let at = 0; at < times; at += 1) {
    seen.load.push(await timed(() => load(site)));
    seen.parse.push(await timed(() => JSON.parse(readFileSync(path, "utf8"))));
  }
  return [
    { value: median(seen.save), peerValue: median(seen.raw) },
    { value: median(seen.load), peerValue: median(seen.parse) },
  ];
}

async function openSite(home: string): Promise<Site> {
  const place = { disk: realDisk(), clock: realClock(), home };
  const log = await EventLog.open(place, { ballastBytes: 0 });
  const onBug = (error: unknown) => {
    throw error;
  };
  const store = new WorkflowStore(log, place.clock, { publish: () => undefined, perform: () => undefined, onBug });
  const storage = new CheckpointStorage(place);
  const steps = Array.from(
    { length: STEPS + 2 },
    (_, at): Step => ({ id: `step-${at}`, work: { kind: "shell", command: `./check part-${at}` } }),
  );
  const definition = { name: "bench", flow: { mode: "standard", steps } } as const;
  const where = { path: "/w/flow.yml", repo: "bench", cwd: "/w", worktree: undefined, environment: { CI: "1" } };
  const made = await store.submit({
    kind: "create",
    id: ID,
    ...where,
    definition,
    sourceSha256: "0",
    parameters: {},
  });
  if (!made.ok) throw new Error(made.error.message);
  return { log, store, storage };
}

function runOf({ store }: Site): Run {
  const run = store.states.get(ID);
  if (run === undefined) throw new Error("there is a run");
  return run;
}

/** Steps end until so many have. */
async function toStep(site: Site, ended: number): Promise<void> {
  while (runOf(site).records.length < ended) {
    const attempt = runOf(site).main.attempt?.id ?? "";
    const output = { text: OUTPUT, bytes: OUTPUT.length };
    const report = { kind: "attempt-ended", id: ID, attempt, code: 0, signal: null, output } as const;
    const done = await site.store.submit(report);
    if (!done.ok) throw new Error(done.error.message);
  }
}

async function save(site: Site): Promise<void> {
  const saved = await site.storage.save(runOf(site), "AfterStep", site.log.durable);
  if (!saved.ok) throw new Error(saved.error.message);
}

function load(site: Site): void {
  const loaded = site.storage.current(site.log, `state/bench/sessions/${ID}`);
  if (!loaded.ok || loaded.value.checkpoint.completed_steps.length !== STEPS + 1) throw new Error("it was not loaded");
}
