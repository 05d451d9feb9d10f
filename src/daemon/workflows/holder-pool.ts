// Holders for attempts: each holds one at a time, and takes the next when that has ended. To start one costs more than most steps do.
// HP1. Which holder an attempt has is in its claim alone: whoever dies, the pool can be forgotten.
// HP2. One is given back only when the end of its attempt was found on disk; what was lost, prevented or not claimed is never given
//      back, because nobody knows what such a holder is at.
// HP3. An order that one did not live to hear, because it died at rest, is given to another. One that dies of its first order is not replaced.
// HP4. None waits for long when there is nothing to do; when we end, those at rest leave, and the others after their attempt.
import type { Variables } from "../../wire/entrusted.ts";
import { encodeOrder, type HolderOrder } from "../../wire/holder-orders.ts";
import { ordersStart } from "../../wire/holder-start.ts";
import type { ToldChild } from "../../world/children.ts";
import type { HandsWorld } from "../hands.ts";

/** HP4. Longer than people think between two commands would be memory for nothing. */
const REST_MS = 3_000;
/** As many as one run may have workers. */
const MOST_AT_REST = 64;
/** Its memory grows a little with each; a new one is as good as the first. */
const MOST_USES = 200;

export type PoolPorts = {
  holderWords(): { readonly runtime: string; readonly entry: string };
};

type Member = { readonly child: ToldChild; uses: number; gone: boolean };
type Given = { readonly member: Member; readonly order: HolderOrder };

export class HolderPool {
  readonly #world: Pick<HandsWorld, "children" | "clock" | "home" | "self">;
  readonly #ports: PoolPorts;
  readonly #atRest: Member[] = [];
  readonly #given = new Map<string, Given>();
  #callOff: () => void = () => undefined;

  constructor(world: Pick<HandsWorld, "children" | "clock" | "home" | "self">, ports: PoolPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** A holder is told to hold this attempt. Fault where none can be started. */
  give(attempt: string, order: HolderOrder): void {
    const member = this.#atRest.pop() ?? this.#start();
    member.uses += 1;
    this.#given.set(attempt, { member, order });
    member.child.tell(encodeOrder(order));
  }

  /** Whether it was given to one, and has not ended. */
  has(attempt: string): boolean {
    return this.#given.has(attempt);
  }

  /** For an attempt that was given and that nobody has claimed yet (HP3). */
  giveAgain(attempt: string): void {
    const given = this.#given.get(attempt);
    if (given?.member.gone === true && given.member.uses > 1) this.give(attempt, given.order);
  }

  /** The attempt's end is on disk (HP2). */
  giveBack(attempt: string): void {
    const member = this.#given.get(attempt)?.member;
    this.#given.delete(attempt);
    if (member === undefined || member.gone) return;
    if (member.uses >= MOST_USES || this.#atRest.length >= MOST_AT_REST) {
      member.child.letGo();
      return;
    }
    this.#atRest.push(member);
    this.#callOff();
    this.#callOff = this.#world.clock.after(REST_MS, () => this.#sendHome()); // HP4
  }

  /** Whatever became of the attempt, its holder is none of ours any more (HP2). */
  forget(attempt: string): void {
    this.#given.get(attempt)?.member.child.letGo();
    this.#given.delete(attempt);
  }

  close(): void {
    this.#callOff();
    this.#sendHome();
  }

  #sendHome(): void {
    for (const { child } of this.#atRest.splice(0)) child.letGo();
  }

  #start(): Member {
    const { runtime, entry } = this.#ports.holderWords();
    const ours: Variables = this.#world.self.environment();
    const { home, children } = this.#world;
    const member: Member = {
      uses: 0,
      gone: false,
      child: children.told(ordersStart(runtime, entry, home, ours), () => this.#ended(member)),
    };
    return member;
  }

  #ended(member: Member): void {
    member.gone = true;
    const at = this.#atRest.indexOf(member);
    if (at >= 0) this.#atRest.splice(at, 1);
  }
}
