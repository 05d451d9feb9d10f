// The engine of runs: performs their effects (core/workflow/effects.ts) and submits the outcomes.
// E1. Effects are derived from the state: performing one twice is harmless, and one that was missed is performed on a
//     later round.
// E2. If nothing new may begin (safe mode), no step starts: what is running continues, can be stopped, and its end is
//     recorded.
// E3. Times are in the state; a timer here is only a reminder of the next one.
// E4. A run that is queued has no effects of its own: on each round it is asked whether it may begin.

import { assert } from "../../base/assert.ts";
import { isList, parseJson } from "../../base/json.ts";
import type { Result } from "../../base/result.ts";
import type { Left } from "../../core/due-times.ts";
import type { WorkflowCommand, WorkflowEffect } from "../../core/workflow/commands.ts";
import { isQueued } from "../../core/workflow/concurrency.ts";
import { effectsOf, timesOf } from "../../core/workflow/effects.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import type { DaemonWorld } from "../ports.ts";
import { AgentSteps } from "./agent-steps.ts";
import { type AttemptFound, Attempts } from "./attempts.ts";
import { listPages } from "./lists.ts";
import { RunSecrets } from "./run-secrets.ts";

export type EnginePorts = {
  run(id: string): Run | undefined;
  runs(): Iterable<Run>;
  /** Milliseconds until a time that a run waits for. */
  readonly left: Left;
  /** Throws if it cannot be decided: to repeat it would not help. */
  submit(command: WorkflowCommand): Promise<Result<Run>>;
  holderCommand(): HolderCommand;
  isTrusted(run: Run): boolean;
  readonly agents: StepAgents;
  mayBegin(): boolean;
  /** Whether a run was not set aside. */
  isWhole(id: string): boolean;
  /** How many steps run in holders at once. */
  readonly slots: number;
  /** Resolves when a step of this run may begin (RC4 of checkpoints.ts). */
  beforeStep(run: Run): Promise<Result<void>>;
  /** Resolves when what was found so far of a long list need not be in memory (RC7 of checkpoints.ts). */
  afterItems(run: Run): Promise<void>;
  letGo(bytes: number): void;
  /** PB2 of part.ts */
  onBug(error: unknown, id: string): void;
  guard(id: string, work: () => void): void;
};

/** Timers count in 32 bits: for a later time, the timer is set again in between. */
const MAX_MS = 3_600_000;

type Going = { again: boolean };

export class Engine {
  readonly attempts: Attempts;
  readonly agentSteps: AgentSteps;
  readonly secrets: RunSecrets;
  readonly #world: DaemonWorld;
  readonly #ports: EnginePorts;
  readonly #timers = new Map<string, () => void>();
  readonly #advancing = new Map<string, Going>();
  readonly #reading = new Set<string>();
  #closed = false;

  constructor(world: DaemonWorld, ports: EnginePorts) {
    this.#world = world;
    this.#ports = ports;
    this.secrets = new RunSecrets(() => world.self.environment());
    this.attempts = new Attempts(world, { ...ports, secrets: this.secrets });
    this.agentSteps = new AgentSteps(world, ports);
  }

  perform(effect: WorkflowEffect): void {
    if (this.#closed) return;
    const { id } = effect;
    if (effect.kind === "stop") this.#executorOf(effect.attempt).stop(effect.attempt, effect.signal);
    if (effect.kind === "timer") this.#remind(id);
    if (effect.kind === "finish" || effect.kind === "discard") this.#finish(id);
    if (!this.#ports.mayBegin()) return; // E2
    if (effect.kind === "start") this.#executorOf(effect.attempt).start(effect.attempt);
    if (effect.kind === "advance") this.#work(id, this.#advance(id));
    if (effect.kind === "read-items") this.#work(id, this.#readItems(id, effect.attempt));
  }

  /** Performs everything that a run needs now. */
  performAll(run: Run): void {
    for (const effect of effectsOf(run)) this.perform(effect);
  }

  /** E1. Called on every heartbeat; it costs next to nothing if all runs are healthy. */
  round(): void {
    if (this.#closed) return;
    for (const run of [...this.#ports.runs()]) if (isOpen(run)) this.#ports.guard(run.id, () => this.#tend(run));
    this.attempts.round();
    this.agentSteps.round();
  }

  /** Why a step of it is not started yet, although it was tried. */
  trouble(run: Run): string | undefined {
    const starting = attemptsOf(run).filter(({ state }) => state.kind === "starting");
    return starting
      .map(({ id }) => lacksText(run, this.attempts.lacks(id)) ?? this.attempts.trouble(id))
      .find((trouble) => trouble !== undefined);
  }

  /** Whether it does nothing for this run, now or at a later time. */
  isQuiet(id: string): boolean {
    return !this.#timers.has(id) && !this.#advancing.has(id) && !this.#reading.has(id);
  }

  /** The present state of an attempt. */
  async look(attempt: string): Promise<AttemptFound> {
    return this.#executorOf(attempt).look(attempt);
  }

  /** Submits what was found as a command. */
  report(attempt: string, found: AttemptFound): Promise<void> {
    return this.#executorOf(attempt).report(attempt, found);
  }

  /** What works on it: its own holder, or an agent. */
  #executorOf(attempt: string): Attempts | AgentSteps {
    return this.agentSteps.has(attempt) ? this.agentSteps : this.attempts;
  }

  /** After a recovery: performs everything that runs need, and terminates agents whose attempt is over. */
  goOn(): void {
    for (const run of [...this.#ports.runs()])
      if (needsEffects(run)) this.#ports.guard(run.id, () => this.performAll(run));
    this.agentSteps.begin();
    this.agentSteps.round();
  }

  close(): void {
    this.#closed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.attempts.close();
  }

  #tend(run: Run): void {
    this.attempts.tend(run);
    this.agentSteps.tend(run);
    this.performAll(run);
    if (isQueued(run) && this.#ports.mayBegin()) this.#work(run.id, this.#advance(run.id)); // E4
  }

  #work(id: string, work: Promise<void>): void {
    void work.catch((error: unknown) => this.#ports.onBug(error, id));
  }

  /** The clock was set, or the machine was asleep. */
  remindAll(): void {
    for (const id of [...this.#timers.keys()]) this.#remind(id);
  }

  /** E3. The earliest text is not always the next: the clock may have been set since. */
  #remind(id: string): void {
    const run = this.#ports.run(id);
    if (run === undefined || this.#closed) return;
    this.#timers.get(id)?.();
    const ms = Math.max(0, Math.min(MAX_MS, ...timesOf(run).map(this.#ports.left)));
    const cancel = this.#world.clock.after(ms, () => {
      this.#timers.delete(id);
      this.#work(id, this.#submit({ kind: "wake", id })); // Also in safe mode: a step that takes too long is stopped.
    });
    this.#timers.set(id, cancel);
  }

  #finish(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  async #submit(command: WorkflowCommand): Promise<void> {
    await this.#ports.submit(command); // If the disk refuses it, a later round retries (E1).
  }

  /** One at a time for each run; requests in the meantime are handled afterwards. */
  async #advance(id: string): Promise<void> {
    const before = this.#advancing.get(id);
    if (before !== undefined) {
      before.again = true;
      return;
    }
    const going: Going = { again: true };
    this.#advancing.set(id, going);
    try {
      while (going.again) {
        going.again = false;
        const done = await this.#ports.submit({ kind: "advance", id });
        if (!done.ok) return;
      }
    } finally {
      this.#advancing.delete(id);
    }
  }

  async #readItems(id: string, attempt: string | undefined): Promise<void> {
    if (this.#reading.has(id)) return;
    this.#reading.add(id);
    try {
      const run = this.#ports.run(id);
      const pages = run && listPages(this.#world, run, attempt); // Without those that an earlier daemon has submitted.
      if (pages?.ok === true) this.#ports.letGo(pages.value.reduce((bytes, { length }) => bytes + length, 0));
      if (pages?.ok === true) await this.#submitPages(id, pages.value);
      else if (pages !== undefined)
        await this.#submit({ kind: "input-failed", id, reason: `${pages.error.message} ${pages.error.hint}` });
    } finally {
      this.#reading.delete(id);
    }
  }

  async #submitPages(id: string, pages: readonly string[]): Promise<void> {
    for (const [at, text] of pages.entries()) {
      const from = this.#ports.run(id)?.items.all.length ?? 0;
      const read = parseJson(text);
      assert(read.ok && isList(read.value), "a page is a list");
      const last = at === pages.length - 1;
      const taken = await this.#ports.submit({ kind: "items-read", id, from, items: read.value, last });
      if (!taken.ok) return;
      if (!last) await this.#ports.afterItems(taken.value);
    }
  }
}

/** Undefined if nothing is lacking. */
export function lacksText({ id }: Run, lacks: readonly string[]): string | undefined {
  if (lacks.length === 0) return undefined;
  const given = lacks.map((name) => `--param ${name}=…`).join(" ");
  return `a secret is never stored, so it has to be given again: holdfast resume ${id.slice(0, 8)} ${given}`;
}

/** A run that was set aside and then cancelled may have left attempts. */
function needsEffects(run: Run): boolean {
  return isOpen(run) || effectsOf(run).some(({ kind }) => kind === "stop");
}

export function isOpen({ status, removed }: Run): boolean {
  return !removed && (status.kind === "going" || status.kind === "closing");
}
