// Circuit breaker around a remote call: if the other side keeps failing, calls fail fast instead of piling up.
// Call `admit` before each call and report the outcome with the pass it returned. Time is an argument.
// C1. While Open, every call is refused until the timeout has passed.
// C2. HalfOpen admits exactly one call, the probe; only the probe's outcome leaves HalfOpen.
// C3. An outcome that arrives after the state has changed is ignored: it is out of date.
// C4. A probe that reports nothing for a whole timeout counts as failed, so a lost probe cannot block calls for ever.
// C5. A call that we cancelled says nothing about the other side: it counts as neither, and if it was the probe, the
//     next call is.
import { assert } from "./assert.ts";
import { machine } from "./machine.ts";
import { ok, type Result, refused } from "./result.ts";

export type BreakerState = "Closed" | "Open" | "HalfOpen";
export type BreakerEvent = "success" | "failure below threshold" | "failure at threshold" | "timeout elapsed";

export const breakerMachine = machine<BreakerState, BreakerEvent>({
  name: "CircuitBreaker",
  initial: "Closed",
  table: {
    Closed: { success: "Closed", "failure below threshold": "Closed", "failure at threshold": "Open" },
    Open: { "timeout elapsed": "HalfOpen" },
    HalfOpen: { success: "Closed", "failure at threshold": "Open" },
  },
});

export type BreakerPolicy = {
  /** What the calls reach, for the message that people read. */
  readonly name: string;
  /** This many consecutive failures open it. */
  readonly threshold: number;
  /** How long it stays open, and how long a probe may take. */
  readonly timeoutMs: number;
};

/** Permission for one call, valid until the breaker's state changes. */
export type Pass = { readonly period: number };

export class CircuitBreaker {
  readonly policy: BreakerPolicy;
  #state: BreakerState = breakerMachine.initial;
  #period = 0;
  #failures = 0;
  /** Open: when it opened. HalfOpen: when its probe was admitted. */
  #since = 0;
  /** Why the last call failed, if the caller said so. */
  #cause: string | undefined;
  /** HalfOpen: whether its probe was cancelled (C5). */
  #probeIsGone = false;

  constructor(policy: BreakerPolicy) {
    assert(Number.isInteger(policy.threshold) && policy.threshold > 0, "a breaker opens after at least one failure");
    assert(policy.timeoutMs > 0, "a breaker stays open for some time");
    this.policy = policy;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** When the next call is admitted, if none succeeds before; 0 while it is closed. */
  get until(): number {
    return this.#state === "Closed" ? 0 : this.#since + this.policy.timeoutMs;
  }

  /** Returns a pass for one call, or the refusal to fail fast with. */
  admit(now: number): Result<Pass> {
    if (this.#state === "Closed") return ok({ period: this.#period });
    if (this.#probeIsGone) return this.#probe(now); // C5
    if (now - this.#since < this.policy.timeoutMs) return this.#refuse(now); // C1, C2
    if (this.#state === "HalfOpen") {
      this.#change("failure at threshold", now); // C4
      return this.#refuse(now);
    }
    this.#change("timeout elapsed", now);
    return ok({ period: this.#period });
  }

  #probe(now: number): Result<Pass> {
    this.#probeIsGone = false;
    this.#since = now;
    return ok({ period: this.#period });
  }

  /** C5 */
  cancelled(pass: Pass): void {
    if (pass.period === this.#period && this.#state === "HalfOpen") this.#probeIsGone = true;
  }

  succeeded(pass: Pass, now: number): void {
    if (pass.period !== this.#period) return; // C3
    this.#failures = 0;
    this.#change("success", now);
  }

  failed(pass: Pass, now: number, cause?: string): void {
    if (pass.period !== this.#period) return; // C3
    this.#failures += 1;
    this.#cause = cause;
    const last = this.#state === "HalfOpen" || this.#failures >= this.policy.threshold;
    this.#change(last ? "failure at threshold" : "failure below threshold", now);
  }

  #change(event: BreakerEvent, now: number): void {
    const next = breakerMachine.next(this.#state, event);
    assert(next.ok, `the breaker only takes steps its table has: ${event} in ${this.#state}`);
    if (next.value === this.#state) return;
    this.#state = next.value;
    this.#period += 1;
    this.#failures = 0;
    this.#since = now;
    this.#probeIsGone = false;
  }

  #refuse(now: number): Result<Pass> {
    const { name } = this.policy;
    const seconds = Math.ceil((this.until - now) / 1_000);
    const why = this.#state === "Open" ? "it failed too often" : "one call is testing whether it has recovered";
    const cause = this.#cause === undefined ? "" : ` It failed with: ${this.#cause}`;
    return refused("circuit-open", `${name} is not being called: ${why}.${cause}`, `Try again in ${seconds} s.`);
  }
}
