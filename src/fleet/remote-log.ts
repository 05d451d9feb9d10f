// The log of a home in the database: each batch is committed under our take, directly behind the one before.
// RL1. `committed` means: in the database under our epoch, directly behind the batch before, without a doubt.
// RL2. A batch's bytes are frozen at the first send: whatever is sent again is the same.
// RL3. What became of a batch is never concluded from reading: core/fleet/settle.ts.
// RL4. Once fenced, nothing is sent any more, by nobody who has this log.
// RL5. One batch is settled before the next one is sent. Two under way would gain nothing.
import { assert } from "../base/assert.ts";
import { whereIs } from "../core/fleet/settle.ts";
import { APPEND, type Batch, type Take } from "./calls.ts";
import { type Settled, Settling, type SettlingPorts } from "./settling.ts";

export type RemoteLogPorts = Omit<SettlingPorts, "isWanted">;

export type Ownership = { readonly take: Take; readonly lastSeq: number; readonly leaseMs: number };

export type AppendEnd =
  | { readonly kind: "committed" }
  /** Somebody else owns the home (RL4). */
  | { readonly kind: "fenced" }
  /** The database has lost what it had confirmed, behind `lastSeq`: it is to be appended again, and then this batch. */
  | { readonly kind: "behind"; readonly lastSeq: number }
  /** It was closed before this was certain. */
  | { readonly kind: "closed" };

export class RemoteLog {
  readonly #ports: RemoteLogPorts;
  readonly #settling: Settling;
  readonly #own: Ownership;
  #lastSeq: number;
  #state: "open" | "fenced" | "closed" = "open";
  #isAppending = false;
  #renewal: Promise<unknown> | undefined;

  constructor(ports: RemoteLogPorts, own: Ownership) {
    this.#ports = ports;
    this.#own = own;
    this.#lastSeq = own.lastSeq;
    const isWanted = () => this.#state === "open"; // RL4
    this.#settling = new Settling({ ...ports, isWanted });
  }

  /** The last seq that is committed. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get isFenced(): boolean {
    return this.#state === "fenced";
  }

  /** Everything from `lastSeq` + 1 to `last`. Resolves when it is certain, however long the database is away. */
  async append(last: number, bytes: Uint8Array): Promise<AppendEnd> {
    assert(!this.#isAppending, "one batch is settled before the next"); // RL5
    assert(last > this.#lastSeq, "a batch has entries");
    const batch: Batch = { first: this.#lastSeq + 1, last, bytes: new Uint8Array(bytes) }; // RL2. The slice of a Buffer is a view.
    this.#isAppending = true;
    try {
      await this.#renewal;
      return await this.#appended(batch);
    } finally {
      this.#isAppending = false;
    }
  }

  /** Renews the lease, if no batch does it anyway. */
  async renew(): Promise<void> {
    if (this.#isAppending || this.#renewal !== undefined) return;
    this.#renewal = this.#settle();
    await this.#renewal;
    this.#renewal = undefined;
  }

  close(): void {
    if (this.#state === "open") this.#state = "closed";
    this.#ports.database.drop();
  }

  async #appended(batch: Batch): Promise<AppendEnd> {
    for (;;) {
      const settled = await this.#settle(batch);
      if (settled.kind === "given up") return { kind: this.isFenced ? "fenced" : "closed" };
      if (settled.kind === "fenced") return settled;
      const end = this.#endOf(batch, settled.kind === "settled" ? batch.last : settled.lastSeq);
      if (end !== undefined) return end;
    }
  }

  /** `lastSeq`: where the log ends in the database. Undefined: the batch is to be sent again. */
  #endOf(batch: Batch, lastSeq: number): AppendEnd | undefined {
    const where = whereIs(batch, lastSeq);
    if (where === "next") return undefined;
    if (where === "forked") return this.#fenced();
    this.#lastSeq = lastSeq;
    return where === "there" ? { kind: "committed" } : { kind: "behind", lastSeq }; // RL1
  }

  async #settle(batch?: Batch): Promise<Settled> {
    const { take, leaseMs } = this.#own;
    const { database } = this.#ports;
    const set = batch && (() => database.call(APPEND, { take, batch, leaseMs }));
    const settled = await this.#settling.settle({ take, leaseMs, set });
    if (settled.kind === "fenced") this.#fenced();
    return settled;
  }

  /** RL4 */
  #fenced(): AppendEnd {
    this.#state = "fenced";
    this.#ports.database.drop();
    return { kind: "fenced" };
  }
}
