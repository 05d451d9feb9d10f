// Sends a compare-and-set until its outcome is certain, by the decisions of core/fleet/settle.ts.
import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { isLasting, nextStep, type Seen, type Step } from "../core/fleet/settle.ts";
import type { Clock } from "../world/clock.ts";
import type { Random } from "../world/random.ts";
import { pause } from "../world/wait.ts";
import { HOLD, type Take } from "./calls.ts";
import { type Answer, type Database, RETRIES, whyOf } from "./database.ts";

export type SettlingPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Why the last call came to nothing; undefined: there is an answer again. Called at every change. `isLasting`: it is
   * tried again, but somebody has to mend the database first.
   */
  troubled(why: string | undefined, isLasting: boolean): void;
  /** How long it waits between tries; absent: RETRIES. */
  readonly retries?: BackoffPolicy;
  /**
   * A call that was sent then, by `Clock.sinceBoot`, has renewed the lease. One that was answered with a warning has
   * not: a fail-over may lose it, and then others see the lease end earlier.
   */
  held?(sentAt: number): void;
  /** Whether other hosts ask something of the home. Not every call says it. */
  asked?(isAsked: boolean): void;
  /** Asked before every call. False: nothing is sent any more. */
  isWanted(): boolean;
};

export type Settled =
  | { readonly kind: "settled" }
  | { readonly kind: "look"; readonly lastSeq: number }
  | { readonly kind: "fenced" }
  /** It was not wanted any more; what was sent may be carried out, or not. */
  | { readonly kind: "given up" };

export type Ask = {
  readonly take: Take;
  readonly leaseMs: number;
  /** The compare-and-set; undefined: only whether it is still ours. */
  readonly set: (() => Promise<Answer<boolean>>) | undefined;
};

export class Settling {
  readonly #ports: SettlingPorts;
  #why: string | undefined;

  constructor(ports: SettlingPorts) {
    this.#ports = ports;
  }

  async settle(ask: Ask): Promise<Settled> {
    let step: Step = ask.set === undefined ? "hold" : "set";
    for (let failures = 0; ; ) {
      if (!this.#ports.isWanted()) return { kind: "given up" };
      const next = nextStep(step, await this.#send(step, ask));
      if (next.kind !== "send") return next;
      step = next.step;
      if (!next.soon) await this.#wait(failures++);
    }
  }

  async #send(step: Step, ask: Ask): Promise<Seen> {
    const sentAt = this.#ports.held === undefined ? 0 : this.#ports.clock.sinceBoot();
    const seen = await this.#sent(step, ask);
    const isCertain = (seen.kind === "applied" || seen.kind === "held") && !seen.isDoubtful;
    if (isCertain) this.#ports.held?.(sentAt);
    return seen;
  }

  async #sent(step: Step, { set, take, leaseMs }: Ask): Promise<Seen> {
    if (step === "set" && set !== undefined) {
      const answer = this.#noted(await set());
      if (answer.kind !== "done") return { kind: "failed" };
      return answer.value ? { kind: "applied", isDoubtful: answer.isDoubtful } : { kind: "did not apply" };
    }
    const answer = this.#noted(await this.#ports.database.call(HOLD, { take, leaseMs }));
    if (answer.kind !== "done") return { kind: "failed" };
    if (answer.value === undefined) return { kind: "not ours" };
    const { lastSeq, isAsked } = answer.value;
    this.#ports.asked?.(isAsked);
    return { kind: "held", lastSeq, isDoubtful: answer.isDoubtful };
  }

  /** A refusal is tried on a new connection too: the writable host may be another one by now. */
  #noted<R>(answer: Answer<R>): Answer<R> {
    const why = answer.kind === "done" ? undefined : whyOf(answer);
    if (why !== undefined) this.#ports.database.drop();
    if (why !== this.#why) this.#ports.troubled(why, answer.kind === "refused" && isLasting(answer.sqlstate));
    this.#why = why;
    return answer;
  }

  /** Not after the first: a connection that was lost is mostly a connection that can be made. */
  async #wait(before: number): Promise<void> {
    const { clock, random, retries = RETRIES } = this.#ports;
    if (before > 0) await pause(clock, backoffMs(before, random.fraction(), retries));
  }
}
