// The records of a relay on disk: a session of our log, which is the audit log as well.
// RS1. What is answered is durable: changes are made one after the other, and take effect once they are on disk.
// RS2. A log that does not fold completely is not used: a revocation might be in the part that is missing.
import { assert } from "../base/assert.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { apply, EMPTY, type Records, type RelayEvent } from "../core/relay/records.ts";
import { EventLog } from "../log/event-log.ts";
import type { Json } from "../log/session/entry.ts";
import { foldWhole } from "../log/session/fold-log.ts";
import type { LoggedEvent } from "../wire/relay/desk.ts";
import { relayEventOf } from "../wire/stored/relay.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

const SESSION = "relay/records";
/** A few events a day for each home: a fraction of what a daemon writes. */
const OPTIONS = { segmentBytes: 1 << 20, maxSegments: 4, ballastBytes: 4 << 20 };

/** Who has caused a change: the operator on the relay, or who connected from this address. */
export type By = { readonly operator: true } | { readonly address: string; readonly home?: string };
export type Decide = (before: Records, now: number) => Result<readonly RelayEvent[]>;

type Place = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export class RecordsStore {
  readonly #log: EventLog;
  readonly #clock: Clock;
  #records: Records;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(log: EventLog, clock: Clock, records: Records) {
    this.#log = log;
    this.#clock = clock;
    this.#records = records;
  }

  static async open(place: Place): Promise<Result<RecordsStore>> {
    const log = await EventLog.open(place, OPTIONS);
    const folding = { saved: undefined, eventOf: relayEventOf, apply: applied };
    const { state, trouble } = foldWhole(log, SESSION, folding);
    const why = trouble ?? log.frozen(SESSION);
    if (why === undefined) return ok(new RecordsStore(log, place.clock, state ?? EMPTY));
    await log.close();
    const hint = `Bring ${place.home}/${SESSION} back from a backup. Nothing was removed.`;
    return refused("damaged", `The relay's records cannot be read: ${why}.`, hint); // RS2
  }

  get records(): Records {
    return this.#records;
  }

  /** Resolves with the reason when the log has stopped for good: the process must end. */
  get halted(): Promise<unknown> {
    return this.#log.halted;
  }

  /** RS1 */
  change(by: By, decide: Decide): Promise<Result<Records>> {
    const done = this.#turn.then(() => this.#changeNow(by, decide));
    this.#turn = done.catch(() => undefined); // The caller gets the error.
    return done;
  }

  async #changeNow(by: By, decide: Decide): Promise<Result<Records>> {
    const now = this.#clock.now();
    const decided = decide(this.#records, now);
    if (!decided.ok) return decided;
    if (decided.value.length > 0) {
      const ts = new Date(now).toISOString();
      const given: Json = by;
      const entries = decided.value.map(({ event, data }) => ({ session: SESSION, ts, event, data, by: given }));
      const ticket = this.#log.append(entries);
      if (!ticket.ok) return ticket;
      await ticket.value.durable;
    }
    for (const event of decided.value) this.#records = apply(this.#records, event);
    return ok(this.#records);
  }

  /** The newest events, oldest first. */
  events(most: number): LoggedEvent[] {
    const found: LoggedEvent[] = [];
    for (const reading of this.#log.read(SESSION)) {
      if (reading.kind !== "entry") continue;
      const { seq, ts, event, data, by } = reading.entry;
      found.push({ seq, ts, event, data, by: by ?? null });
      if (found.length >= 2 * most) found.splice(0, most);
    }
    return found.slice(-most);
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#log.close();
  }
}

function applied(before: Records | undefined, event: RelayEvent): Records {
  assert(event.event.startsWith("relay."), "only events of relays are in a relay's log");
  return apply(before ?? EMPTY, event);
}
