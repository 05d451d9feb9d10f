// Reports what was done, step by step: at once to a person, at the end as one JSON value.

import { visible, visibleLine } from "../../base/visible.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export type Step = {
  readonly step: string;
  readonly done: boolean;
  readonly what: string;
  readonly next: string | null;
};

export class Steps {
  readonly #world: DaemonCommandWorld;
  readonly #json: boolean;
  readonly #steps: Step[] = [];

  constructor(world: DaemonCommandWorld, json: boolean) {
    this.#world = world;
    this.#json = json;
  }

  /** Whether something could not be done. */
  get left(): boolean {
    return this.#steps.some(({ done }) => !done);
  }

  did(step: string, what: string): Promise<void> {
    return this.#add({ step, done: true, what, next: null });
  }

  /** The step could not be done; the command `next` does it. */
  missing(step: string, what: string, next: string): Promise<void> {
    return this.#add({ step, done: false, what, next });
  }

  async #add(step: Step): Promise<void> {
    this.#steps.push(step);
    if (this.#json) return;
    const next = step.next === null ? "" : `  → ${step.next}\n`;
    await this.#world.console.out.write(visible(`${step.step}: ${step.what}\n${next}`));
  }

  async end(facts: Readonly<Record<string, unknown>>): Promise<void> {
    if (!this.#json) return;
    await this.#world.console.out.write(`${visibleLine(JSON.stringify({ ...facts, steps: this.#steps }))}\n`);
  }
}
