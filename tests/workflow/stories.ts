// A run driven step by step by a test.

import type { Json } from "../../src/base/json.ts";
import { toRecord } from "../../src/base/table.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import type { Definition, Flow, Step } from "../../src/core/workflow/definition.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { creation, Daemon, Home } from "./world.ts";

type Reported = WorkflowCommand extends infer C ? (C extends { readonly id: string } ? Omit<C, "id"> : never) : never;

export function shell(id: string, more: Partial<Step> = {}): Step {
  return { id, work: { kind: "shell", command: `work ${id}` }, ...more };
}

export function set(id: string, values: Readonly<Record<string, Json>>, more: Partial<Step> = {}): Step {
  return { id, work: { kind: "set", values }, ...more };
}

export class Story {
  readonly home = new Home();
  daemon: Daemon;

  constructor(
    flow: Flow | readonly Step[],
    more: Partial<Definition> = {},
    parameters: Readonly<Record<string, Json>> = {},
  ) {
    this.daemon = new Daemon(this.home, () => undefined);
    const steps: Flow = "mode" in flow ? flow : { mode: "standard", steps: flow };
    const made = this.daemon.submit(creation({ name: "story", flow: steps, ...more }, parameters));
    if (!made.ok) throw new Error(made.error.message);
  }

  get run(): Run {
    return this.daemon.run;
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

  /** Submits a command; returns a refusal's code, otherwise the names of the events. */
  say(command: Reported): string | string[] {
    const decided = this.daemon.submit({ ...command, id: "r1" });
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
    this.home.now += ms;
    return this;
  }

  /** The daemon dies, and a new one reads the log. */
  restart(): this {
    this.daemon = new Daemon(this.home, () => undefined);
    return this;
  }
}
