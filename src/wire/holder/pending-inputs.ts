// Input that is not confirmed yet, numbered for one writer (protocol.ts, H3).
// P1. Numbers go up by one, across connections. What a holder has taken is confirmed; the rest is sent again, in order.
// P2. After a refusal, later input is refused as well until the next connection: it would leave a gap.
// P3. Every input is confirmed or refused.
import { ok, type Refusal, type Result } from "../../base/result.ts";

export type Pending = { readonly number: number; readonly bytes: Uint8Array };

type Waiting = Pending & { readonly settle: (answer: Result<void>) => void };

export class PendingInputs {
  #waiting: Waiting[] = [];
  #number = 0;
  #refusal: Refusal | undefined;

  /** A copy is kept until it is confirmed. `pending` is undefined if it is refused at once (P2). */
  add(bytes: Uint8Array): { readonly pending: Pending | undefined; readonly answer: Promise<Result<void>> } {
    if (this.#refusal !== undefined) {
      return { pending: undefined, answer: Promise.resolve({ ok: false, error: this.#refusal }) };
    }
    const { promise, resolve } = Promise.withResolvers<Result<void>>();
    this.#number += 1;
    const pending = { number: this.#number, bytes: new Uint8Array(bytes), settle: resolve };
    this.#waiting.push(pending);
    return { pending, answer: promise };
  }

  /** The program has everything up to this number: holders take input in order. */
  taken(number: number): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].number <= number) {
      this.#waiting.shift()?.settle(ok(undefined));
    }
  }

  /** A new connection, whose holder has taken this much from us. Returns what has to be sent again (P1). */
  agree(taken: number): readonly Pending[] {
    this.taken(taken);
    this.#refusal = undefined;
    if (this.#waiting.length === 0) this.#number = taken;
    return this.#waiting;
  }

  /** Refuses all that wait, and what follows (P2, P3). */
  refuse({ code, message, hint }: Refusal): void {
    this.#refusal = { code, message, hint };
    for (const { settle } of this.#waiting.splice(0)) settle({ ok: false, error: this.#refusal });
  }
}
