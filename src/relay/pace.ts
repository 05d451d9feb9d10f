// How often something may happen: tunnels that are accepted one after the other, and limits for each address.
// PC1. Between two turns there is a pause, however late a timer comes: no second has more turns than it may.
// PC2. Memory is bounded: of addresses that were not heard of lately, nothing is kept.
import { addressBytes } from "../base/address.ts";
import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import type { Clock } from "../world/clock.ts";

/** PC1. At most 20 in any second, with room for clients that take their time. */
const TURN_MS = 60;
/** 18 seconds; homes give up after 20. */
const MAX_WAITING = 300;
/** PC2 */
const MAX_ADDRESSES = 10_000;
/** An IPv6 client has all addresses with its first 64 bits. */
const NETWORK_BYTES = 8;
const V4_INSIDE = /^::ffff:(?=\d+\.)/i;

export class Pacer {
  readonly #clock: Clock;
  #turn: Promise<void> = Promise.resolve();
  #last = Number.NEGATIVE_INFINITY;
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  next(): Promise<void> {
    this.#waiting += 1;
    this.#turn = this.#turn.then(() => this.#pause());
    return this.#turn;
  }

  /** PC1. A timer may be early by a fraction of a millisecond. */
  async #pause(): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left())
      await new Promise<void>((done) => void this.#clock.after(Math.ceil(left), done));
    this.#last = this.#clock.elapsed();
    this.#waiting -= 1;
  }

  #left(): number {
    return this.#last + TURN_MS - this.#clock.elapsed();
  }
}

/** At most so many of something from one address. */
export class AddressLimit {
  readonly #clock: Clock;
  readonly #fresh: Budget;
  readonly #budgets = new Map<string, Budget>();

  constructor(clock: Clock, limit: number, windowMs: number) {
    this.#clock = clock;
    this.#fresh = newBudget(limit, windowMs);
  }

  /** Whether there was too much already. */
  isOver(address: string): boolean {
    return isExhausted(this.#budgets.get(networkOf(address)) ?? this.#fresh, this.#clock.elapsed());
  }

  /** Counts one; returns false if it is over the limit. */
  count(address: string): boolean {
    const [network, now] = [networkOf(address), this.#clock.elapsed()];
    const budget = this.#budgets.get(network) ?? this.#fresh;
    if (isExhausted(budget, now)) return false;
    this.#budgets.delete(network); // The last one in the map is the one heard of last.
    this.#budgets.set(network, spend(budget, now));
    const [oldest] = this.#budgets.keys();
    if (this.#budgets.size > MAX_ADDRESSES && oldest !== undefined) this.#budgets.delete(oldest); // PC2
    return true;
  }
}

function networkOf(address: string): string {
  const plain = address.replace(V4_INSIDE, "");
  const bytes = addressBytes(plain) ?? [];
  return bytes.length <= 4 ? plain : bytes.slice(0, NETWORK_BYTES).join(".");
}
