// The home's log in the database, as the second place of the write-ahead log (log/wal/elsewhere.ts).
// SL1. A batch is sealed once, when it is given; whatever is sent again is the same (invariant 2 of a fleet). Batches
//      are sent in their order, one after the other.
// SL2. If a batch or a renewal has no answer for a while, the database counts as away: new work is refused, and what
//      was given waits for as long as it takes. So it does at once if it is refused, and that will not pass by itself.
// SL3. If the home is somebody else's by now, or the database has lost what it had confirmed, the log stops for good.
//      The next process follows, or appends again what was lost.
// SL4. If nobody takes the home by himself, and the database knows that, then while it is away this disk alone is
//      enough: what was given is acknowledged after a while, and sent when the database answers. More than is kept in
//      memory is read from the disk by the next process, which is begun as soon as the database answers.
import type { Refusal } from "../../base/result.ts";
import type { RemoteLog } from "../../fleet/remote-log.ts";
import type { FleetSeal } from "../../fleet/seal.ts";
import type { Elsewhere } from "../../log/wal/elsewhere.ts";
import type { Clock } from "../../world/clock.ts";
import { within } from "../../world/wait.ts";
import { GIVEN_UP, LostHome } from "./lost-home.ts";

/** Longer than a reconnection after a lost connection; people wait. */
const AWAY_AFTER_MS = 2_000;
/** SL4 */
const MAX_BEHIND_BYTES = 64 << 20;

/** `isLasting`: somebody has to mend the database; it is tried again all the same. */
export type DatabaseTrouble = { readonly words: string; readonly isLasting: boolean };

export type SecondLogPorts = {
  readonly clock: Clock;
  readonly home: string;
  readonly seal: FleetSeal;
  readonly remote: Pick<RemoteLog, "lastSeq" | "append" | "renew">;
  /** SL4 */
  readonly mayFallBehind: boolean;
  /** Why the last call came to nothing. */
  why(): DatabaseTrouble | undefined;
  /** What was acknowledged here was not taken there (SL3, SL4): the process must end. */
  broken(error: Error): void;
};

type Batch = { readonly last: number; readonly sealed: Uint8Array; readonly done: PromiseWithResolvers<void> };

/** With the same code whether it answers or not: exit code 75. */
export function awayRefusal(trouble: DatabaseTrouble | undefined): Refusal {
  const { words, isLasting } = trouble ?? { words: "no answer", isLasting: false };
  const does = isLasting ? "refuses what this home writes" : "does not answer";
  return {
    code: "fleet-away",
    message: `The database of the fleet ${does}, so nothing can be acknowledged: ${words}`,
    hint: `${isLasting ? MEND : WAIT} Terminals go on. \`holdfast fleet status\` says more.`,
  };
}

const WAIT = "It continues by itself when the database answers.";
const MEND =
  "That does not pass by itself: mend the database (its tables, or the rights of the role); then it continues.";

export class SecondLog implements Elsewhere {
  readonly #ports: SecondLogPorts;
  readonly #batches: Batch[] = [];
  /** The last entry that was given. */
  #given: number;
  #bytes = 0;
  #isSending = false;
  /** Since when the database owes an answer, for each call; the oldest first. */
  readonly #owed = new Set<{ readonly since: number }>();
  /** SL4 */
  #failOnceBack = false;
  #failure: Error | undefined;

  constructor(ports: SecondLogPorts) {
    this.#ports = ports;
    this.#given = ports.remote.lastSeq;
  }

  get #isAway(): boolean {
    const [oldest] = this.#owed;
    if (oldest === undefined) return false;
    const isRefused = this.#ports.why()?.isLasting === true;
    return isRefused || this.#ports.clock.elapsed() - oldest.since >= AWAY_AFTER_MS;
  }

  /** SL2 */
  get away(): Refusal | undefined {
    if (!this.#isAway || this.#ports.mayFallBehind) return undefined;
    return awayRefusal(this.#ports.why());
  }

  /** How many entries the database lacks. */
  get behind(): number {
    return this.#given - this.#ports.remote.lastSeq;
  }

  /** SL1 */
  async commit(last: number, frames: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const { seal, home, mayFallBehind, clock } = this.#ports;
    if (this.#bytes > MAX_BEHIND_BYTES) return this.#drop(last); // SL4
    const batch = {
      last,
      sealed: seal.batch(home, this.#given + 1, last, frames),
      done: Promise.withResolvers<void>(),
    };
    this.#given = last;
    this.#bytes += batch.sealed.length;
    this.#batches.push(batch);
    if (!this.#isSending) void this.#send();
    if (!mayFallBehind) return batch.done.promise;
    batch.done.promise.catch(() => undefined); // SL4: it may have been acknowledged by then.
    if (!this.#isAway) await within(clock, AWAY_AFTER_MS, batch.done.promise);
  }

  /** SL4. The disk has it. */
  #drop(last: number): void {
    this.#given = last;
    this.#failOnceBack = true;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      const failure = await this.#owing(() => this.#sent(batch));
      if (failure !== undefined) return this.#fail(failure);
      this.#batches.shift();
      this.#bytes -= batch.sealed.length;
      batch.done.resolve();
    }
    this.#isSending = false;
    if (this.#failOnceBack) this.#fail(new LostHome("the database is back, and lacks more than was kept in memory"));
  }

  /** SL3. Returns why nothing may follow it. */
  async #sent({ last, sealed }: Batch): Promise<Error | undefined> {
    const end = await this.#ports.remote.append(last, sealed);
    if (end.kind === "committed") return undefined;
    if (end.kind === "fenced") return new LostHome("another host has this home");
    if (end.kind === "closed") return new LostHome("the database was given up", GIVEN_UP);
    return new LostHome(`the database has lost what it had confirmed behind entry ${end.lastSeq}`);
  }

  #fail(error: Error): void {
    this.#failure = error;
    for (const { done } of this.#batches.splice(0)) {
      // Nobody waits for one that was acknowledged here already (SL4); `broken` reports it.
      done.promise.catch(() => undefined);
      done.reject(error);
    }
    this.#ports.broken(error);
  }

  /** Renews the lease, if no batch does. */
  async renew(): Promise<void> {
    if (!this.#isSending) await this.#owing(() => this.#ports.remote.renew());
  }

  async #owing<T>(work: () => Promise<T>): Promise<T> {
    const call = { since: this.#ports.clock.elapsed() };
    this.#owed.add(call);
    try {
      return await work();
    } finally {
      this.#owed.delete(call);
    }
  }
}
