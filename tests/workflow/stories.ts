// A run decided step by step by a test: its state, and the lines of its log, which go through JSON and back at every
// restart, as on a disk. Nothing is performed here: the whole daemon does that in tests/sim/holdfast.

import type { Json } from "../../src/base/json.ts";
import { ok, type Result } from "../../src/base/result.ts";
import { toRecord } from "../../src/base/table.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import { fromCheckpoint, toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { decideWorkflow } from "../../src/core/workflow/decide.ts";
import type { Definition, Flow, Step } from "../../src/core/workflow/definition.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import type { WorkflowEvent } from "../../src/core/workflow/events.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { workflowCheckpointOf, workflowEventOf } from "../../src/wire/stored/workflow.ts";

type Reported = WorkflowCommand extends infer C ? (C extends { readonly id: string } ? Omit<C, "id"> : never) : never;

export function shell(id: string, more: Partial<Step> = {}): Step {
  return { id, work: { kind: "shell", command: `work ${id}` }, ...more };
}

export function set(id: string, values: Readonly<Record<string, Json>>, more: Partial<Step> = {}): Step {
  return { id, work: { kind: "set", values }, ...more };
}

export function creation(
  definition: Definition,
  parameters: Readonly<Record<string, Json>> = {},
  { id, cwd } = { id: "r1", cwd: "/w" },
): WorkflowCommand {
  const place = { path: "/w/flow.yml", repo: "w", cwd, worktree: undefined, environment: {} };
  return { kind: "create", id, ...place, definition, sourceSha256: "0", parameters };
}

export function isOver(run: Run): boolean {
  return !["running", "waiting", "uncertain"].includes(stateOf(run));
}

export class Story {
  now = Date.parse("2026-01-01T00:00:00.000Z");
  /** Each is a transaction. */
  readonly log: string[] = [];
  readonly #runs = new Map<string, Run>();
  #checkpoint: { readonly text: string; readonly at: number } | undefined;

  constructor(
    flow: Flow | readonly Step[],
    more: Partial<Definition> = {},
    parameters: Readonly<Record<string, Json>> = {},
  ) {
    const steps: Flow = "mode" in flow ? flow : { mode: "standard", steps: flow };
    const made = this.submit(creation({ name: "story", flow: steps, ...more }, parameters));
    if (!made.ok) throw new Error(made.error.message);
  }

  get run(): Run {
    const run = this.#runs.get("r1");
    if (run === undefined) throw new Error("there is no run");
    return run;
  }

  get state(): string {
    return stateOf(this.run);
  }

  get variables(): Readonly<Record<string, Json>> {
    return toRecord(this.run.variables);
  }

  /** The ids of the attempts, and their steps. */
  get attempts(): string[] {
    return attemptsOf(this.run).map(({ id, step, state }) => `${id} ${step} ${state.kind}`);
  }

  get effects(): string[] {
    return effectsOf(this.run).map(({ id: _id, ...effect }) => Object.values(effect).join(" "));
  }

  submit(command: WorkflowCommand): Result<readonly WorkflowEvent[]> {
    const decided = decideWorkflow(this.#runs, command, new Date(this.now).toISOString());
    if (!decided.ok) return decided;
    const { events } = decided.value;
    if (events.length > 0)
      this.log.push(JSON.stringify(events.map(({ event, id, data }) => ({ session_id: id, event, data }))));
    for (const event of events) this.#fold(event);
    return ok(events);
  }

  #fold(event: WorkflowEvent): void {
    this.#runs.set(event.id, applyWorkflow(this.#runs.get(event.id), event));
  }

  /** Submits a command; returns a refusal's code, otherwise the names of the events. */
  say(command: Reported): string | string[] {
    const decided = this.submit({ ...command, id: "r1" });
    return decided.ok ? decided.value.map(({ event }) => event.slice("workflow.".length)) : decided.error.code;
  }

  /** Ends the current attempt of a step. */
  ends(step: string, code = 0, text = ""): string | string[] {
    return this.say({
      kind: "attempt-ended",
      attempt: this.of(step),
      code,
      signal: null,
      output: { text, bytes: text.length },
    });
  }

  lost(step: string): string | string[] {
    return this.say({ kind: "attempt-lost", attempt: this.of(step), reason: "gone" });
  }

  of(step: string): string {
    const found = attemptsOf(this.run).find((attempt) => attempt.step === step);
    if (found === undefined) throw new Error(`${step} is not being attempted, but ${this.attempts.join(", ")}`);
    return found.id;
  }

  later(ms: number): this {
    this.now += ms;
    return this;
  }

  save(): void {
    const text = JSON.stringify(toCheckpoint(this.run, "Manual", new Date(this.now).toISOString()));
    this.#checkpoint = { text, at: this.log.length };
  }

  /** The log, and the events of each line. */
  eventsFrom(line = 0): WorkflowEvent[] {
    return this.log.slice(line).flatMap((text) => JSON.parse(text).flatMap(workflowEventOf));
  }

  /** The daemon dies, and a new one reads the checkpoint and the log. */
  restart(): this {
    const { text, at } = this.#checkpoint ?? { text: undefined, at: 0 };
    const saved = text === undefined ? undefined : workflowCheckpointOf(JSON.parse(text), { time: "", sha256: "" });
    if (saved === undefined && text !== undefined) throw new Error("the checkpoint is not one");
    this.#runs.clear();
    if (saved !== undefined) this.#runs.set(saved.session_id, fromCheckpoint(saved));
    for (const event of this.eventsFrom(at)) this.#fold(event);
    return this;
  }
}
