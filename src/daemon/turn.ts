// The turn: command → decide and apply in memory → durable → acknowledge, publish, perform.
// U1. Deciding and applying happen at once, so that two commands cannot both win; everything that leaves (an answer, also a refusal, a
//     notice, an effect) waits until the seq it saw is durable.
// U2. If what was applied cannot be made durable, memory and disk disagree: the daemon stops, and the next one reads the disk.
// U3. A disk without room has refused everything that was not yet durable (W4 of log/wal.ts): all of it is taken back, and whoever
//     waits for it is refused. Nothing of it had left.
import { assert } from "../base/assert.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import {
  childOf,
  decideTerminal,
  type Effect,
  effectsOf,
  type Terminal,
  type TerminalCommand,
} from "../core/terminal.ts";
import { applyTerminal, type TerminalEvent } from "../core/terminal-events.ts";
import type { EventLog, Ticket } from "../log/event-log.ts";
import type { Clock } from "../world/clock.ts";

export type TurnHooks = {
  publish(event: TerminalEvent): void;
  perform(effect: Effect): void;
  /** U2. */
  broken(error: unknown): void;
};

/** Applied and not yet durable: whose state it was, and what that was before. */
type Pending = { readonly id: string; readonly before: Terminal | undefined };

export class Turn {
  readonly terminals = new Map<string, Terminal>();
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #hooks: TurnHooks;
  readonly #pending = new Set<Pending>();
  /** What everything decided so far waits for. */
  #durable: Promise<void> = Promise.resolve();

  constructor(log: EventLog, clock: Clock, hooks: TurnHooks) {
    this.#log = log;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** The terminal as it is after the command; a refusal changed nothing. */
  async submit(command: TerminalCommand): Promise<Result<Terminal>> {
    for (;;) {
      const decided = decideTerminal(this.terminals, command, new Date(this.#clock.now()).toISOString());
      if (decided.ok && decided.value.length > 0) {
        const ticket = this.#append(decided.value);
        if (ticket.ok) return this.#settle(decided.value, ticket.value);
        if (ticket.error.code !== "log.busy") return ticket;
        await this.#log.room();
      } else if ((await this.#becomes(this.#durable)) === undefined) {
        return decided.ok ? ok(this.#again(command.id)) : decided; // U1
      }
    }
  }

  #append(events: readonly TerminalEvent[]): Result<Ticket> {
    const ts = new Date(this.#clock.now()).toISOString();
    return this.#log.append(events.map(({ event, id, data }) => ({ session: `terminals/${id}`, ts, event, data })));
  }

  async #settle(events: readonly TerminalEvent[], ticket: Ticket): Promise<Result<Terminal>> {
    const [first] = events;
    assert(first !== undefined, "a decision has events");
    const pending = { id: first.id, before: this.terminals.get(first.id) };
    this.#pending.add(pending);
    for (const event of events) this.fold(event);
    this.#durable = ticket.durable;
    const after = this.#terminal(first.id);
    const refusal = await this.#becomes(ticket.durable);
    if (refusal !== undefined) return { ok: false, error: refusal };
    this.#pending.delete(pending);
    for (const event of events) this.#hooks.publish(event);
    this.#perform(first.id);
    return ok(after);
  }

  /** A repeat changes nothing; what still has no outcome is done again, since a line may have come back. */
  #again(id: string): Terminal {
    this.#perform(id);
    return this.#terminal(id);
  }

  #perform(id: string): void {
    for (const effect of effectsOf(this.#terminal(id))) this.#hooks.perform(effect);
  }

  /** Undefined once it is durable; the log's refusal where it was taken back (U3). */
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
      this.#hooks.broken(error); // U2
      throw error;
    }
  }

  /** U3, newest first. Whoever comes second finds nothing left to do. */
  #takeBack(): void {
    for (const { id, before } of [...this.#pending].reverse()) {
      if (before === undefined) this.terminals.delete(id);
      else this.terminals.set(id, before);
    }
    this.#pending.clear();
    this.#durable = Promise.resolve();
  }

  /** Replays one event; nothing is published or performed. */
  fold(event: TerminalEvent): void {
    this.terminals.set(event.id, applyTerminal(this.terminals.get(event.id), event));
  }

  /** A terminal whose log cannot be trusted: seen, and left alone. Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined {
    const terminal = this.terminals.get(id);
    if (terminal === undefined || terminal.removed) this.terminals.delete(id);
    else {
      const state = { kind: "uncertain", reason, child: childOf(terminal.state) } as const;
      this.terminals.set(id, { ...terminal, state, signal: undefined });
    }
    return terminal?.name;
  }

  #terminal(id: string): Terminal {
    const terminal = this.terminals.get(id);
    assert(terminal !== undefined, "a command that was taken names a terminal");
    return terminal;
  }
}
