// Which runs of a file may begin, decided from the runs alone.
import { expect, test } from "bun:test";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { decideWorkflow } from "../../src/core/workflow/decide.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";

const STEPS = "steps: [{id: a, shell: x}]\n";
const MAP = "mode: mapreduce\nmap: {input: {glob: '*'}, steps: [{id: a, shell: x}]}\n";

class Runs {
  readonly all = new Map<string, Run>();

  do(command: WorkflowCommand, at: number): string {
    const decided = decideWorkflow(this.all, command, new Date(at).toISOString());
    if (!decided.ok) return decided.error.code;
    for (const [id, run] of decided.value.after) this.all.set(id, run);
    return this.state(command.id);
  }

  create(id: string, text: string, at = 0, path = "/f"): string {
    const definition = readWorkflow(Buffer.from(text), "f");
    if (!definition.ok) throw new Error(JSON.stringify(definition.error));
    const place = { path, repo: "r", cwd: "/", worktree: undefined, environment: {}, parameters: {} };
    return this.do({ kind: "create", id, ...place, definition: definition.value, sourceSha256: "" }, at);
  }

  state(id: string): string {
    const run = this.all.get(id);
    return run === undefined ? "none" : progressOf(run).state;
  }

  ends(id: string, at: number): string {
    const output = { text: "", bytes: 0 };
    return this.do({ kind: "attempt-ended", id, attempt: `${id}.1`, code: 0, signal: null, output }, at);
  }
}

test.each([STEPS, MAP])(
  "CC1 a run without a place is queued, needs nothing, and begins when there is one: %j",
  (flow) => {
    const runs = new Runs();
    expect(runs.create("a", `concurrency: 1\n${flow}`)).toBe("running");
    expect(runs.create("b", `concurrency: 1\n${flow}`, 1)).toBe("queued");
    for (const kind of ["advance", "wake"] as const) expect(runs.do({ kind, id: "b" }, 2)).toBe("queued");
    const queued = runs.all.get("b");
    expect(queued && effectsOf(queued)).toEqual([]);
    runs.do({ kind: "cancel", id: "a" }, 3);
    if (flow === STEPS) runs.do({ kind: "attempt-prevented", id: "a", attempt: "a.1", reason: "x" }, 3);
    expect(runs.state("a")).toBe("cancelled");
    expect(runs.do({ kind: "advance", id: "b" }, 4)).toBe("running");
  },
);

test("CC2 the oldest begins first; a run that is uncertain keeps its place, and one of another file takes none", () => {
  const runs = new Runs();
  const text = `concurrency: 2\n${STEPS}`;
  for (const [id, at] of [
    ["a", 1],
    ["b", 2],
  ] as const)
    expect(runs.create(id, text, at)).toBe("running");
  for (const [id, at] of [
    ["d", 4],
    ["c", 3],
  ] as const)
    expect(runs.create(id, text, at)).toBe("queued");
  expect(runs.create("other", text, 5, "/g")).toBe("running");
  expect(runs.create("free", STEPS, 5)).toBe("running"); // Its own file has no limit.
  runs.do({ kind: "attempt-lost", id: "a", attempt: "a.1", reason: "gone" }, 6);
  expect(runs.state("a")).toBe("uncertain");
  for (const id of ["free", "b"]) expect(runs.ends(id, 7)).toBe("done");
  expect(runs.do({ kind: "advance", id: "d" }, 8)).toBe("queued");
  expect(runs.do({ kind: "advance", id: "c" }, 8)).toBe("running");
  expect(runs.do({ kind: "advance", id: "d" }, 8)).toBe("queued");
});

test("a run is refused if its file says so, and none is opened again while there is no place", () => {
  const runs = new Runs();
  const text = `concurrency: 1\nwhen_busy: refuse\n${STEPS}`;
  runs.create("a", text);
  expect(runs.create("b", text, 1)).toBe("running"); // The code of the refusal.
  expect(runs.all.has("b")).toBe(false);
  runs.do({ kind: "interrupt", id: "a" }, 2);
  runs.do({ kind: "attempt-prevented", id: "a", attempt: "a.1", reason: "x" }, 2);
  expect(runs.state("a")).toBe("interrupted");
  runs.create("c", text, 3);
  expect(runs.do({ kind: "resume", id: "a", force: false }, 4)).toBe("running");
  expect(runs.state("a")).toBe("interrupted");
  runs.ends("c", 5);
  expect([runs.do({ kind: "resume", id: "a", force: false }, 6), runs.state("a")]).toEqual(["running", "running"]);
});

test("a queued run can be cancelled", () => {
  const runs = new Runs();
  runs.create("a", `concurrency: 1\n${STEPS}`);
  runs.create("b", `concurrency: 1\n${STEPS}`, 1);
  expect(runs.do({ kind: "cancel", id: "b" }, 2)).toBe("cancelled");
});
