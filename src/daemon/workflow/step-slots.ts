// The slots of steps that run in holders (core/workflow/slots.ts decides who is next).
// SS1. What waits here follows from the runs: every round of the engine asks for each attempt that is to be started, so
//      nothing is lost with this memory, and what is not wanted any more is dropped when its turn comes.
// SS2. A program that is known to run has a slot, also one of an earlier daemon, whether or not one was free.

import { MAX_EXTRA_SLOTS, nextAttempts, STUCK_MS } from "../../core/workflow/slots.ts";
import type { Clock } from "../../world/clock.ts";

export type SlotPorts = {
  /** Of a run, by the id of one of its attempts. */
  runOf(attempt: string): string;
  /** Whether it is to be started. */
  isWanted(attempt: string): boolean;
  /** Whether it is an attempt that may run. */
  isPresent(attempt: string): boolean;
  mayBegin(): boolean;
  begin(attempt: string): void;
};

export class StepSlots {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #ports: SlotPorts;
  readonly #busy = new Set<string>();
  /** By run, in the order in which they came. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #served = new Map<string, number>();
  #given = 0;
  /** SL3 */
  #extra = 0;
  #changedAt = 0;

  constructor(clock: Clock, slots: number, ports: SlotPorts) {
    this.#clock = clock;
    this.#slots = slots;
    this.#ports = ports;
  }

  /** Begins it, now or when a slot is free. */
  want(attempt: string): void {
    if (this.#busy.has(attempt)) {
      this.#ports.begin(attempt);
      return;
    }
    const run = this.#ports.runOf(attempt);
    const waiting = this.#waiting.get(run) ?? new Set();
    this.#waiting.set(run, waiting.add(attempt));
    this.#fill();
  }

  /** SS2 */
  runs(attempt: string): void {
    this.#unqueue(attempt);
    this.#busy.add(attempt);
  }

  /** It has ended, or will not begin. */
  over(attempt: string): void {
    this.#unqueue(attempt);
    if (this.#busy.delete(attempt)) this.#changedAt = this.#clock.elapsed();
    this.#fill();
  }

  /** How many steps of a run wait for a slot. */
  waiting(run: string): number {
    return [...(this.#waiting.get(run) ?? [])].filter((attempt) => this.#ports.isWanted(attempt)).length;
  }

  /** Called on every heartbeat (SL3). */
  round(): void {
    if (this.#waiting.size === 0) return;
    this.#fill();
    const stuck = this.#waiting.size > 0 && this.#clock.elapsed() - this.#changedAt >= STUCK_MS;
    if (!stuck || this.#extra >= MAX_EXTRA_SLOTS) return;
    this.#extra += 1;
    this.#changedAt = this.#clock.elapsed();
    this.#fill();
  }

  #unqueue(attempt: string): void {
    const run = this.#ports.runOf(attempt);
    const waiting = this.#waiting.get(run);
    waiting?.delete(attempt);
    if (waiting?.size === 0) this.#waiting.delete(run);
    if (this.#waiting.size === 0) this.#served.clear();
  }

  /** Again if some were not wanted any more. */
  #fill(): void {
    for (let chosen = this.#next(); chosen.length > 0; chosen = this.#next())
      for (const attempt of chosen) this.#give(attempt);
  }

  #next(): string[] {
    if (this.#waiting.size === 0 || !this.#ports.mayBegin()) return [];
    if (this.#busy.size >= this.#slots) this.#prune();
    if (this.#busy.size < this.#slots) this.#extra = 0; // SL3
    const free = this.#slots + this.#extra - this.#busy.size;
    if (free <= 0) return [];
    const busy = Map.groupBy(this.#busy, this.#ports.runOf);
    const loads = [...this.#waiting].map(([run, waiting]) => ({
      ...{ busy: busy.get(run)?.length ?? 0, served: this.#served.get(run) ?? 0 },
      waiting: [...waiting],
    }));
    return nextAttempts(loads, free);
  }

  /** Of a run that was removed, or an attempt that was resolved by a person, no end is reported. */
  #prune(): void {
    for (const attempt of this.#busy) if (!this.#ports.isPresent(attempt)) this.#busy.delete(attempt);
  }

  #give(attempt: string): void {
    this.#unqueue(attempt);
    if (!this.#ports.isWanted(attempt)) return; // SS1
    this.#busy.add(attempt);
    this.#given += 1;
    this.#served.set(this.#ports.runOf(attempt), this.#given);
    this.#changedAt = this.#clock.elapsed();
    this.#ports.begin(attempt);
  }
}
