// A tiny world for workflows: a log, holders that live without the daemon, programs that leave a mark, and a daemon
// that may die between any two of them. The log goes through JSON and back at every start, as on a disk.

import type { Json } from "../../src/base/json.ts";
import { ok, type Result } from "../../src/base/result.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import { fromCheckpoint, toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import type { WorkflowCommand, WorkflowEffect } from "../../src/core/workflow/commands.ts";
import { decideWorkflow } from "../../src/core/workflow/decide.ts";
import { type Definition, onUncertain, stepById } from "../../src/core/workflow/definition.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import type { WorkflowEvent } from "../../src/core/workflow/events.ts";
import { type Launch, launchOf } from "../../src/core/workflow/launch.ts";
import { actionOf, type Evidence } from "../../src/core/workflow/resume.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { workflowCheckpointOf, workflowEventOf } from "../../src/wire/stored/workflow.ts";

type Holder = {
  readonly launch: Launch;
  phase: "claimed" | "acted" | "ended" | "gone" | "prevented";
  code: number;
  output: string;
};

/** What survives the daemon's death. */
export class Home {
  readonly log: string[] = [];
  readonly holders = new Map<string, Holder>();
  /** Every mark that a program left: its key and its try. */
  readonly marks: string[] = [];
  /** Keys whose attempt a person, or the file, agreed to repeat. */
  readonly consents: string[] = [];
  checkpoint: { readonly text: string; readonly at: number } | undefined;
  now = Date.parse("2026-01-01T00:00:00.000Z");
  interrupts = 0;
  readonly items: readonly Json[];

  constructor(items: readonly Json[] = []) {
    this.items = items;
  }

  get at(): string {
    return new Date(this.now).toISOString();
  }

  /** One step of a holder's life: it acts, then its exit is recorded. */
  live(holder: Holder): void {
    if (holder.phase === "acted") holder.phase = "ended";
    if (holder.phase !== "claimed") return;
    holder.phase = "acted";
    const { env } = holder.launch;
    this.marks.push(markOf(holder));
    const [, word = "ok"] = /\bwork (\S+)/.exec(textOf(holder.launch)) ?? [];
    const failures = word === "fail" ? 99 : Number(/^fail-(\d+)$/.exec(word)?.[1] ?? 0);
    holder.code = Number(env["HOLDFAST_TRY"]) <= failures ? 1 : 0;
    holder.output = `${env["HOLDFAST_STEP"]}(${env["HOLDFAST_VALUE_1"] ?? ""})\n`;
  }

  powerCut(): void {
    for (const holder of this.holders.values())
      if (holder.phase === "claimed" || holder.phase === "acted") holder.phase = "gone";
  }
}

function textOf(launch: Launch): string {
  return launch.kind === "program" ? (launch.argv.at(-1) ?? "") : launch.prompt;
}

function markOf({ launch: { env } }: Holder): string {
  return `${env["HOLDFAST_KEY"]}#${env["HOLDFAST_TRY"]}`;
}

export class Crash extends Error {}

/** The daemon: its memory, and the effects it has yet to perform. */
export class Daemon {
  readonly home: Home;
  readonly runs = new Map<string, Run>();
  readonly queue: WorkflowEffect[] = [];
  /** Asked before and after each transaction becomes durable, and before each effect. */
  readonly boundary: () => void;

  constructor(home: Home, boundary: () => void) {
    this.home = home;
    this.boundary = boundary;
    let from = 0;
    if (home.checkpoint !== undefined) {
      const found = workflowCheckpointOf(JSON.parse(home.checkpoint.text), "");
      if (found === undefined) throw new Error("the checkpoint is not one");
      this.runs.set(found.session_id, fromCheckpoint(found));
      from = home.checkpoint.at;
    }
    for (const line of home.log.slice(from)) for (const stored of JSON.parse(line)) this.#fold(workflowEventOf(stored));
  }

  get run(): Run {
    const [run] = this.runs.values();
    if (run === undefined) throw new Error("there is no run");
    return run;
  }

  #fold(event: WorkflowEvent | undefined): void {
    if (event !== undefined) this.runs.set(event.id, applyWorkflow(this.runs.get(event.id), event));
  }

  submit(command: WorkflowCommand): Result<readonly WorkflowEvent[]> {
    const decided = decideWorkflow(this.runs, command, this.home.at);
    if (!decided.ok) return decided;
    this.boundary();
    const { events } = decided.value;
    if (events.length > 0) {
      this.home.log.push(JSON.stringify(events.map(({ event, id, data }) => ({ session_id: id, event, data }))));
      for (const event of events) this.#fold(event);
    }
    this.boundary();
    this.queue.splice(0, this.queue.length, ...effectsOf(this.run));
    return ok(events);
  }

  /** What recovery does: for each attempt without an outcome, report what the world knows. */
  recover(): void {
    for (const attempt of attemptsOf(this.run)) {
      const evidence = this.#evidence(attempt.id);
      const step = stepById(this.run.definition, attempt.step);
      const action = actionOf(attempt, evidence, () => (step === undefined ? "ask" : onUncertain(step)));
      if (action === "take-up") this.report(attempt.id);
      else if (evidence.kind === "uncertain") this.lose(attempt.id);
    }
    this.queue.splice(0, this.queue.length, ...effectsOf(this.run));
  }

  #evidence(attempt: string): Evidence {
    const holder = this.home.holders.get(attempt);
    if (holder === undefined) return { kind: "not-started" };
    if (holder.phase === "ended") return { kind: "ended", code: holder.code, signal: null };
    if (holder.phase === "prevented") return { kind: "ended", code: null, signal: null };
    return holder.phase === "gone" ? { kind: "uncertain", reason: "gone" } : { kind: "running" };
  }

  lose(attempt: string): void {
    const holder = this.home.holders.get(attempt);
    const before = attemptsOf(this.run).find(({ id }) => id === attempt)?.step;
    const step = before === undefined ? undefined : stepById(this.run.definition, before);
    if (holder !== undefined && step !== undefined && onUncertain(step) === "rerun")
      this.home.consents.push(markOf(holder));
    this.submit({ kind: "attempt-lost", id: this.run.id, attempt, reason: "gone" });
  }

  report(attempt: string): void {
    const holder = this.home.holders.get(attempt);
    if (holder?.phase === "prevented")
      this.submit({ kind: "attempt-prevented", id: this.run.id, attempt, reason: "cancelled" });
    if (holder?.phase !== "ended") return;
    const output = { text: holder.output, bytes: holder.output.length };
    this.submit({ kind: "attempt-ended", id: this.run.id, attempt, code: holder.code, signal: null, output });
  }

  resolve(attempt: string, verdict: "rerun" | "done" | "failed"): void {
    const holder = this.home.holders.get(attempt);
    if (holder !== undefined && verdict === "rerun") this.home.consents.push(markOf(holder));
    this.submit({ kind: "resolve", id: this.run.id, attempt, verdict });
  }

  perform(effect: WorkflowEffect): void {
    this.boundary();
    if (effect.kind === "start") this.#start(effect.attempt);
    if (effect.kind === "stop") this.#stop(effect.attempt);
    if (effect.kind === "advance") this.#mustMove({ kind: "advance", id: effect.id });
    if (effect.kind === "read-items") this.#readItems(effect.from);
    if (effect.kind === "timer") {
      this.home.now = Math.max(this.home.now, Date.parse(effect.at));
      this.#mustMove({ kind: "wake", id: effect.id });
    }
  }

  /** An effect that requests a command without consequences would request it forever. */
  #mustMove(command: WorkflowCommand): void {
    const decided = this.submit(command);
    if (!decided.ok || decided.value.length === 0) throw new Error(`${command.kind} changed nothing`);
  }

  #start(attempt: string): void {
    if (this.home.holders.has(attempt)) return; // claimed: never started again
    const launch = launchOf(this.run, attempt, `/attempts/${attempt}`);
    if (!launch.ok) throw new Error(launch.error.message);
    this.home.holders.set(attempt, { launch: launch.value, phase: "claimed", code: 0, output: "" });
    this.boundary();
    const child = { pid: 100 + this.home.holders.size, startTime: 1, bootId: "b" };
    this.submit({ kind: "attempt-running", id: this.run.id, attempt, child, holder: 1 });
  }

  #stop(attempt: string): void {
    const holder = this.home.holders.get(attempt);
    if (holder === undefined) {
      const launch = launchOf(this.run, attempt, "/");
      if (launch.ok) this.home.holders.set(attempt, { launch: launch.value, phase: "prevented", code: 0, output: "" });
    } else if (holder.phase === "claimed" || holder.phase === "acted")
      Object.assign(holder, { phase: "ended", code: 130 });
    this.report(attempt);
  }

  #readItems(from: number): void {
    const page = this.home.items.slice(from, from + 3);
    const last = from + page.length >= this.home.items.length;
    this.submit({ kind: "items-read", id: this.run.id, from, items: page, last });
  }

  save(): void {
    this.home.checkpoint = {
      text: JSON.stringify(toCheckpoint(this.run, "Manual", this.home.at)),
      at: this.home.log.length,
    };
  }
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
