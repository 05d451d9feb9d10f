// The path of a command: decide and apply in memory → durable → acknowledge, publish, perform.
// U1. Deciding and applying is one step, so that two commands cannot both win; everything that leaves (an answer, even
//     a refusal, a notification, an effect) waits until the seq it is based on is durable.
// U2. If what was applied cannot be made durable, memory and disk disagree: the daemon stops, and the next one reads
//     the disk.
// U3. A full disk has refused everything that was not yet durable (W4 of log/wal/wal.ts): all of it is undone, and the
//     waiting callers are refused. None of it had left.
// U4. The kinds of sessions (terminals, tmux sessions, workflows) are defined by rules, which are pure and in core/.
//     Different kinds share one log; each decides over its own states alone, so that no decision depends on what
//     another has not made durable yet.
// U5. The events of one decision may belong to several sessions (a message is in two logs): they are one transaction,
//     and are undone together.
// U6. Effects are derived from a session's durable state (`settled`), whatever has been decided about it since, and
//     performing them must not use anything newer. Otherwise a decision that is not durable yet would leave with the
//     effects of the one before it. The same holds for what is shown to clients: it is still true after a power cut.
// U7. Whatever deciding throws is a refusal of that command: nothing of it was applied, and what it told others is
//     undone. An exception of the log itself is not: memory and disk may disagree (U2).
// U8. A session that is set aside (fold.ts) accepts only what leaves it over for good.
// U9. All events that a request causes, also those of other sessions, say who sent it.
// U10. Sessions are listed in the order of their creation. A place in this order is a text, which stays valid when
//      sessions come and go, and in the next daemon.
import { assert } from "../base/assert.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import { Roll } from "../base/roll.ts";
import type { Decision } from "../core/decision.ts";
import type { Left } from "../core/due-times.ts";
import type { Caller } from "../core/principal.ts";
import type { EventLog, Ticket } from "../log/event-log.ts";
import type { NewEntry } from "../log/session/entry.ts";
import { Unwritable } from "../log/session/unwritable.ts";

/** A kind of session. A command names the session it is for; its events may belong to others as well (U5). */
export type Kind = {
  state: object;
  command: { readonly id: string };
  event: { readonly event: string; readonly id: string; readonly data: NewEntry["data"] };
  effect: { readonly id: string };
};

export type DecisionOf<K extends Kind> = Decision<K["event"], K["state"]>;

/** U4 */
export type Decider<K extends Kind> = {
  /** The directory of the log of a session, below the home; `before` is undefined for its first event. */
  session(before: K["state"] | undefined, event: K["event"]): string;
  decide(
    states: ReadonlyMap<string, K["state"]>,
    command: K["command"],
    at: string,
    left?: Left,
  ): Result<DecisionOf<K>>;
  apply(before: K["state"] | undefined, event: K["event"]): K["state"];
  effectsOf(state: K["state"]): readonly K["effect"][];
  /** Whether it is over for good (U8). */
  isOver(state: K["state"]): boolean;
  /** When it was created (U10). */
  since(state: K["state"]): string;
  /** For what is derived from all states: called for every change except those of a decision, which reports its own. */
  changed?(before: K["state"] | undefined, after: K["state"] | undefined): void;
};

export type Hooks<K extends Kind> = {
  publish(event: K["event"]): void;
  /** Called when all events of a decision are durable, with the session after them and all states that they touched. */
  settled?(
    events: readonly K["event"][],
    after: K["state"],
    ticket: Ticket,
    touched: ReadonlyMap<string, K["state"]>,
  ): void;
  perform(effect: K["effect"]): void;
  /** U7. The refusal of a command that threw; if absent, the caller gets the exception. */
  refuse?(command: K["command"], error: unknown): Result<never>;
  /** Something else failed for this session alone; if absent, that is a bug. */
  contain?(id: string, error: unknown): void;
  /** U2. */
  onBug(error: unknown): void;
};

/** `left`: how far a time that is waited for is away; absent: as its text says (timekeeper.ts). */
export type StoreClock = { now(): number; left?: Left };

/** Applied but not yet durable: the states of these sessions before. */
type Pending<S> = ReadonlyMap<string, S | undefined>;

/** U6. A session with decisions that are not durable yet: how many, and its state without them. */
type Ahead<S> = { decisions: number; settled: S | undefined };

export class SessionStore<K extends Kind> {
  readonly states = new Map<string, K["state"]>();
  /** U10 */
  readonly #roll = new Roll();
  readonly #rules: Decider<K>;
  readonly #log: EventLog;
  readonly #clock: StoreClock;
  readonly #hooks: Hooks<K>;
  readonly #pending = new Set<Pending<K["state"]>>();
  readonly #ahead = new Map<string, Ahead<K["state"]>>();
  /** Resolves when everything decided so far is durable. */
  #durable: Promise<void> = Promise.resolve();

  constructor(rules: Decider<K>, log: EventLog, clock: StoreClock, hooks: Hooks<K>) {
    this.#rules = rules;
    this.#log = log;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** Returns the session after the command; a refusal changed nothing. `by`: who asked for it, if someone did (U9). */
  async submit(command: K["command"], by?: Caller): Promise<Result<K["state"]>> {
    for (;;) {
      const decided = this.#decide(command);
      if (decided.ok && decided.value.events.length > 0) {
        const ticket = this.#append(command, decided.value, by);
        if (ticket.ok) return this.#settle(command.id, decided.value, ticket.value);
        decided.value.undo?.();
        if (ticket.error.code !== "log.busy") return ticket;
        await this.#log.room();
      } else if ((await this.#becomes(this.#durable)) === undefined) {
        return decided.ok ? ok(this.#again(command.id)) : decided; // U1
      }
    }
  }

  /** U7 */
  #decide(command: K["command"]): Result<DecisionOf<K>> {
    try {
      const at = new Date(this.#clock.now()).toISOString();
      return this.#rules.decide(this.states, command, at, this.#clock.left);
    } catch (error) {
      return this.#refused(command, error);
    }
  }

  #refused(command: K["command"], error: unknown): Result<never> {
    if (this.#hooks.refuse === undefined) throw error;
    return this.#hooks.refuse(command, error);
  }

  #append(command: K["command"], { events, after }: DecisionOf<K>, by: Caller | undefined): Result<Ticket> {
    const ts = new Date(this.#clock.now()).toISOString();
    const sessions = new Map<string, string>();
    const over = new Set<string>(); // U8
    for (const event of events) {
      if (sessions.has(event.id)) continue; // A session's first event determines where its log is.
      const session = this.#rules.session(this.states.get(event.id), event);
      sessions.set(event.id, session);
      const state = after.get(event.id);
      if (state !== undefined && this.#rules.isOver(state)) over.add(session);
    }
    const entries = events.map(({ id, event, data }) => ({ session: sessions.get(id) ?? "", ts, event, data, by }));
    try {
      return this.#log.append(entries, over); // U5
    } catch (error) {
      if (error instanceof Unwritable) return this.#refused(command, error); // U7
      this.#hooks.onBug(error); // The log itself failed (U2).
      throw error;
    }
  }

  async #settle(id: string, decision: DecisionOf<K>, ticket: Ticket): Promise<Result<K["state"]>> {
    const { events, after: touched } = decision;
    const pending = new Map([...touched.keys()].map((one) => [one, this.states.get(one)]));
    this.#pending.add(pending);
    for (const [one, before] of pending) this.#goAhead(one, before);
    for (const [one, state] of touched) this.#set(one, state);
    this.#durable = ticket.durable;
    const after = this.#state(id);
    const refusal = await this.#becomes(ticket.durable);
    if (refusal !== undefined) return { ok: false, error: refusal };
    this.#pending.delete(pending);
    for (const [one, state] of touched) this.#catchUp(one, state);
    this.#hooks.settled?.(events, after, ticket, touched);
    for (const event of events) this.#hooks.publish(event);
    for (const one of touched.keys()) this.#perform(one);
    return ok(after);
  }

  /** A repeat changes nothing, but effects without an outcome are performed again: a connection may be back. */
  #again(id: string): K["state"] {
    this.#perform(id);
    return this.settled(id) ?? this.#state(id);
  }

  #perform(id: string): void {
    const settled = this.settled(id);
    if (settled === undefined) return; // Its first event is not durable yet.
    for (const effect of this.#effects(id, settled)) this.#hooks.perform(effect);
  }

  #effects(id: string, settled: K["state"]): readonly K["effect"][] {
    try {
      return this.#rules.effectsOf(settled);
    } catch (error) {
      if (this.#hooks.contain === undefined) throw error;
      this.#hooks.contain(id, error);
      return [];
    }
  }

  /** U6. The durable state of a session; undefined if nothing of it is durable. */
  settled(id: string): K["state"] | undefined {
    const ahead = this.#ahead.get(id);
    return ahead === undefined ? this.states.get(id) : ahead.settled;
  }

  /** U6 */
  *allSettled(): Generator<K["state"]> {
    for (const id of this.states.keys()) {
      const settled = this.settled(id);
      if (settled !== undefined) yield settled;
    }
  }

  /** U6, U10. Those after a place, or all; `newest`: those before it, the newest first. */
  *inOrder(after?: string, newest = false): Generator<{ readonly place: string; readonly state: K["state"] }> {
    for (const place of this.#roll.from(after, newest)) {
      const state = this.settled(place.slice(place.lastIndexOf(" ") + 1));
      if (state !== undefined) yield { place, state };
    }
  }

  #goAhead(id: string, before: K["state"] | undefined): void {
    const ahead = this.#ahead.get(id) ?? { decisions: 0, settled: before };
    ahead.decisions += 1;
    this.#ahead.set(id, ahead);
  }

  #catchUp(id: string, settled: K["state"]): void {
    const ahead = this.#ahead.get(id);
    assert(ahead !== undefined, "what becomes durable was decided");
    ahead.decisions -= 1;
    ahead.settled = settled;
    if (ahead.decisions === 0) this.#ahead.delete(id);
  }

  /** Undefined once it is durable; the log's refusal if it was undone (U3). */
  async #becomes(durable: Promise<void>): Promise<Refusal | undefined> {
    try {
      await durable;
      return undefined;
    } catch (error) {
      const state = this.#log.append([]);
      if (!state.ok && state.error.code === "log.blocked") {
        this.#takeBack();
        return state.error;
      }
      this.#hooks.onBug(error); // U2
      throw error;
    }
  }

  /** U3, newest first. A second call finds nothing left to do. */
  #takeBack(): void {
    for (const pending of [...this.#pending].reverse()) {
      for (const [id, before] of pending) this.put(id, before);
    }
    this.#pending.clear();
    this.#ahead.clear();
    this.#durable = Promise.resolve();
  }

  /** A session after one more event; nothing is kept, published or performed. */
  apply(before: K["state"] | undefined, event: K["event"]): K["state"] {
    return this.#rules.apply(before, event);
  }

  isOver(state: K["state"]): boolean {
    return this.#rules.isOver(state);
  }

  /** Sets a session's state, or forgets it: for a state from a checkpoint, or one that is set aside. */
  put(id: string, after: K["state"] | undefined): void {
    const before = this.states.get(id);
    this.#set(id, after);
    this.#rules.changed?.(before, after);
  }

  #set(id: string, after: K["state"] | undefined): void {
    const [before, place] = [this.#placeOf(id, this.states.get(id)), this.#placeOf(id, after)];
    if (after === undefined) this.states.delete(id);
    else this.states.set(id, after);
    if (before === place) return;
    if (before !== undefined) this.#roll.delete(before);
    if (place !== undefined) this.#roll.add(place);
  }

  /** U10 */
  #placeOf(id: string, state: K["state"] | undefined): string | undefined {
    return state === undefined ? undefined : `${this.#rules.since(state)} ${id}`;
  }

  #state(id: string): K["state"] {
    const state = this.states.get(id);
    assert(state !== undefined, "a command that was taken names a session");
    return state;
  }
}
