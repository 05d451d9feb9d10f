// The turn of terminals (session-store.ts has the rules that hold for all).

import { decideTerminal } from "../../core/terminal/decide.ts";
import { applyTerminal, type TerminalEvent } from "../../core/terminal/events.ts";
import { childOf, type Effect, effectsOf, type Terminal, type TerminalCommand } from "../../core/terminal/terminal.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";
import { type Decider, type Hooks, SessionStore } from "../session-store.ts";

type Terminals = { state: Terminal; command: TerminalCommand; event: TerminalEvent; effect: Effect };

export type TerminalStoreHooks = Hooks<Terminals>;

const RULES: Decider<Terminals> = {
  session: (_, { id }) => `terminals/${id}`,
  decide: decideTerminal,
  apply: applyTerminal,
  effectsOf,
};

export class TerminalStore extends SessionStore<Terminals> {
  constructor(log: EventLog, clock: Clock, hooks: TerminalStoreHooks) {
    super(RULES, log, clock, hooks);
  }

  get terminals(): ReadonlyMap<string, Terminal> {
    return this.states;
  }

  /** A terminal whose log cannot be trusted: seen, and left alone. Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined {
    const terminal = this.states.get(id);
    if (terminal === undefined || terminal.removed) this.states.delete(id);
    else {
      const state = { kind: "uncertain", reason, child: childOf(terminal.state) } as const;
      this.states.set(id, { ...terminal, state, signal: undefined });
    }
    return terminal?.name;
  }
}
