// What checkpoints cost, counted and not timed (bench/ has the times): calls and bytes of a save and a load, and what
// delays a step.
import { expect, test } from "bun:test";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import type { WorkflowEvent } from "../../src/core/workflow/events.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import { RunCheckpoints } from "../../src/daemon/workflow/checkpoints.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";
import { sha256 } from "../../src/world/hash.ts";
import { simWorld } from "../sim/world.ts";

const ID = "0123456789ab4def8123456789abcdef";
const SESSION = `state/w/sessions/${ID}`;
const PATH = `/h/${SESSION}/checkpoint.json`;
const AT = "2026-01-01T00:00:00.000Z";

function created(more = ""): WorkflowEvent {
  const definition = readWorkflow(
    Buffer.from(`${more}steps:\n  - id: s\n    shell: x\n  - id: t\n    shell: y\n`),
    "flow",
  );
  if (!definition.ok) throw new Error("the flow is right");
  const place = {
    name: "flow",
    path: "/w/flow.yml",
    repo: "w",
    cwd: "/w",
    worktree: null,
    environment: {},
    source_sha256: "0",
  };
  return {
    event: "workflow.created",
    id: ID,
    data: { ...place, definition: definition.value, parameters: {}, at: AT },
  };
}

function stepEnded(): WorkflowEvent {
  const data = {
    step: "s",
    item: null,
    outcome: "succeeded",
    error: null,
    variables: {},
    output: "said",
    duration_ms: 1,
    at: AT,
  } as const;
  return { event: "workflow.step.ended", id: ID, data };
}

const started = (number: number, step = "s"): WorkflowEvent => ({
  event: "workflow.attempt.started",
  id: ID,
  data: { attempt: `${ID}.${number}`, step, item: null, try: 1, at: AT },
});

/** Saves as a daemon does, counting the calls that change something and those that wait for the disk. */
class Counted {
  readonly world = { ...simWorld(1), home: "/h" };
  readonly storage = new CheckpointStorage(this.world);
  readonly checkpoints = new RunCheckpoints(this.world.clock, this.storage, {
    ...{ intervalMs: 60_000, isOff: () => false, lastSeq: () => this.log.length },
    say: (words) => expect(words).toBe(""),
  });
  readonly calls: string[] = [];
  readonly log: WorkflowEvent[] = [];
  reads = 0;
  #run: Run | undefined;

  constructor() {
    this.world.disk.onCall = ({ operation, path }) =>
      void this.calls.push(`${operation} ${path.replace(/[0-9a-f]{12}\.|-\d{4}-.*/, "")}`);
  }

  /** The run as a reader beside the daemon sees it. */
  current() {
    const log = { read: () => this.#after(0), readAfter: (_: string, seq: number) => this.#after(seq) };
    return this.storage.current({ ...log, poisons: { skipped: () => new Set() } }, SESSION);
  }

  *#after(seq: number) {
    this.reads += 1;
    for (const [at, { event, id, data }] of this.log.entries())
      if (at >= seq) yield { kind: "entry", entry: { seq: at + 1, session_id: id, event, data } } as never;
  }

  /** Events of one decision. */
  hear(...events: readonly WorkflowEvent[]): void {
    const first = this.log.length + 1;
    this.log.push(...events);
    for (const event of events) this.#run = applyWorkflow(this.#run, event);
    if (this.#run === undefined) throw new Error("a run begins with its creation");
    const bytes = JSON.stringify(events).length;
    this.checkpoints.heard(events, this.#run, { first, last: this.log.length, bytes });
  }

  get run(): Run {
    if (this.#run === undefined) throw new Error("there is none");
    return this.#run;
  }

  /** Waits until everything due is saved. */
  async saved(ms = 500): Promise<string[]> {
    this.calls.length = 0;
    this.world.clock.advance(ms);
    await this.settled();
    return this.calls.filter((call) => /^(?:write|sync|datasync|syncDirectory|rename|link)/.test(call));
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
  }

  saves(calls: readonly string[]): number {
    return calls.filter((call) => call.startsWith("rename") && call.includes("checkpoint.json")).length;
  }
}

test("UC-9(c) no step waits for a checkpoint: handling its end touches no disk, and a hundred ends at once are one save", async () => {
  const counted = new Counted();
  counted.hear(created());
  await counted.saved();
  counted.calls.length = 0;
  for (let step = 1; step <= 100; step += 1) {
    counted.hear(stepEnded());
    counted.hear(started(step));
  }
  expect(counted.calls).toEqual([]);
  expect(counted.saves(await counted.saved())).toBe(1);
});

test("UC-9(a) a save costs the same calls at the tenth step and at the thousandth; a long run is rewritten only when its tail has outgrown it", async () => {
  const counted = new Counted();
  counted.hear(created());
  await counted.saved();
  const step = async (number: number) => {
    counted.hear(stepEnded());
    counted.hear(started(number));
    return counted.saved();
  };
  const costs: string[][] = [];
  for (let number = 1; number <= 1000; number += 1) costs.push(await step(number));
  const some = costs.filter((calls) => calls.length > 0);
  expect(some[9]?.length).toBeLessThan(12);
  expect(some.at(-1)?.length).toBe(some[9]?.length ?? 0);
  const late = costs.slice(500).filter((calls) => calls.length > 0).length;
  expect(late).toBeGreaterThan(0);
  expect(late).toBeLessThan(10); // Of five hundred steps.
});

test("UC-9(b) a load reads the checkpoint once, and folds only later events", async () => {
  const counted = new Counted();
  counted.hear(created());
  for (let number = 1; number <= 50; number += 1) {
    counted.hear(stepEnded());
    counted.hear(started(number));
  }
  await counted.saved();
  counted.calls.length = 0;
  const loaded = counted.current();
  expect(loaded.ok && loaded.value.from).toContain("checkpoint.json");
  expect(counted.calls.filter((call) => call.startsWith("open"))).toHaveLength(1);
  expect(counted.reads).toBe(1);
  let run = applyWorkflow(undefined, created());
  for (const event of counted.log.slice(1)) run = applyWorkflow(run, event);
  expect(loaded.ok && loaded.value.checkpoint.completed_steps).toHaveLength(run.records.length);
});

test("UC-2(b) UC-3(e) in a long step there is a checkpoint every minute, with its reason", async () => {
  const counted = new Counted();
  counted.hear(created());
  counted.hear(started(1));
  await counted.saved();
  counted.checkpoints.startPolling();
  expect(counted.saves(await counted.saved(60_000))).toBe(1);
  const text = JSON.stringify(counted.current());
  expect(text).toContain('"reason":"TimeInterval"');
  expect(counted.saves(await counted.saved(60_000))).toBe(1);
  counted.hear({ event: "workflow.close.requested", id: ID, data: { as: "interrupted", at: AT } });
  await counted.saved();
  expect(JSON.stringify(counted.current())).toContain('"reason":"Signal"');
  await counted.checkpoints.finish();
});

/** The states of the files of a run, the newest first. */
function statesOf(counted: Counted): string[] {
  return counted.storage.files(SESSION).map(({ found }) => {
    if (found.kind !== "whole") return found.kind;
    const { state, reason } = found.checkpoint;
    return `${reason} ${state.kind} ${state.step_index}`;
  });
}

test("UC-3(a,b) RC3 the end of a step reaches the file as Completed before the next step's BeforeStep, and stays in the history", async () => {
  const counted = new Counted();
  counted.hear(created());
  counted.hear(started(1));
  await counted.saved();
  counted.hear(stepEnded(), started(2, "t"));
  await counted.saved();
  expect(statesOf(counted)).toEqual(["BeforeStep BeforeStep 1", "AfterStep Completed 0", "BeforeStep BeforeStep 0"]);
  const [, completed] = counted.storage.files(SESSION);
  expect(completed?.found).toMatchObject({ seq: 3, checkpoint: { state: { output: "said" } } });
  expect(counted.current()).toMatchObject({ ok: true, value: { checkpoint: { state: { kind: "BeforeStep" } } } });
});

test("UC-3(e) in a long step it is saved at the interval of the configuration, or at the workflow's own", async () => {
  for (const [more, everyMs] of [
    ["", 60_000],
    ["checkpoint: { interval: 5s }\n", 5_000],
  ] as const) {
    const counted = new Counted();
    counted.checkpoints.startPolling();
    counted.hear(created(more));
    counted.hear(started(1));
    await counted.saved();
    const times: number[] = [];
    for (let ms = 0; ms < 2 * everyMs + 1000; ms += 1000) {
      const saves = counted.saves(await counted.saved(1000));
      if (saves > 0) times.push(counted.world.clock.elapsed());
    }
    expect(times.map((time) => Math.floor(time / everyMs))).toEqual([1, 2]);
    expect(statesOf(counted)[0]).toBe("TimeInterval BeforeStep 0");
  }
});

test("UC-3(a) RC4 a workflow that says before_step has its file on disk before a step begins; others do not wait", async () => {
  const waits = async (more: string) => {
    const counted = new Counted();
    counted.hear(created(more));
    counted.hear(started(1));
    let begun = false;
    const before = counted.checkpoints.beforeStep(counted.run).then((ready) => {
      begun = ready.ok;
      return counted.storage.files(SESSION).length;
    });
    await counted.settled();
    return { begun, files: await before };
  };
  expect(await waits("")).toEqual({ begun: true, files: 0 });
  expect((await waits("checkpoint: { before_step: true }\n")).files).toBe(1);
});

test("UC-2(b) a checkpoint that a person asks for is Manual, whether or not anything has happened since the last", async () => {
  const counted = new Counted();
  counted.hear(created());
  counted.hear(started(1));
  await counted.saved();
  const done = counted.checkpoints.saveNow(counted.run);
  await counted.settled();
  expect(await done).toMatchObject({ ok: true });
  expect(statesOf(counted)).toEqual(["Manual BeforeStep 0", "BeforeStep BeforeStep 0"]);
});

test("UC-2(b) what happens while a Manual checkpoint is written replaces it as the newest, and not in the reply", async () => {
  const counted = new Counted();
  counted.hear(created());
  counted.hear(started(1));
  await counted.saved();
  let isHeard = false;
  counted.world.disk.onCall = ({ operation }) => {
    if (operation !== "rename" || isHeard) return;
    isHeard = true;
    counted.hear(stepEnded(), started(2));
  };
  const done = counted.checkpoints.saveNow(counted.run);
  await counted.settled();
  expect(await done).toMatchObject({ ok: true, value: { seq: 2 } });
  await counted.saved();
  const [newest, older] = counted.storage.files(SESSION).map(({ found }) => found);
  expect(newest).toMatchObject({ kind: "whole", seq: 4, checkpoint: { reason: "BeforeStep" } });
  expect(statesOf(counted)).toContain("Manual BeforeStep 0");
  expect(older).toMatchObject({ kind: "whole" });
});

/** The file of the run, as text. */
function fileOf({ world }: Counted): string {
  return Buffer.from(readWhole(world.disk, PATH) ?? []).toString();
}

test("UC-1(a) the file has the fields of the document at its top, and sed and sha256sum can check its hash", async () => {
  const counted = new Counted();
  counted.hear(created());
  await counted.saved();
  const text = fileOf(counted);
  const { integrity_hash, ...file } = JSON.parse(text);
  expect(integrity_hash).toBe(sha256(text.replace(/"integrity_hash":"[0-9a-f]*",/, "")));
  expect(Object.keys(file).sort()).toEqual(
    [
      ...["kind", "version", "fold", "seq", "session_id", "workflow_path", "worktree_path", "state", "completed_steps"],
      ...["variables", "workflow_type", "mapreduce_state", "created_at", "reason", "run"],
    ].sort(),
  );
});

test("UC-1(a) a file of version 1 is read, and replaced by one of version 3; a newer one is left alone", async () => {
  const counted = new Counted();
  counted.hear(created());
  await counted.saved();
  const { kind, fold, seq, created_at: time, integrity_hash: _, ...body } = JSON.parse(fileOf(counted));
  const old = { ...body, version: 1, created_at: time, integrity_hash: "" };
  const { bytes } = encodeEnvelope({ kind, version: 1, fold, seq, time }, JSON.stringify(old));
  counted.world.disk.plant(PATH, bytes);
  const storage = new CheckpointStorage(counted.world);
  expect(storage.load(SESSION)).toMatchObject({ ok: true, value: { newest: { saved: { ...body, version: 3 } } } });
  expect((await storage.save(counted.run, "Manual", seq)).ok).toBe(true);
  expect(JSON.parse(fileOf(counted))).toMatchObject({ ...body, version: 3, reason: "Manual" });
  expect(storage.listHistory(SESSION)[0]).toMatchObject({ valid: true, seq });
  const newer = `{"kind":"workflow","version":4,"session_id":"${SESSION}"}\n`;
  counted.world.disk.plant(PATH, Buffer.from(newer));
  const later = new CheckpointStorage(counted.world);
  expect([later.load(SESSION), await later.save(counted.run, "Manual", seq)]).toMatchObject([
    { ok: false, error: { code: "NEWER_VERSION" } },
    { ok: false, error: { code: "NEWER_VERSION" } },
  ]);
  expect(fileOf(counted)).toBe(newer);
});
