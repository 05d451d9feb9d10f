// The store of terminals (session-store.ts has the rules that all stores follow).

import { ok } from "../../base/result.ts";
import { decisionOf } from "../../core/decision.ts";
import { decideTerminal } from "../../core/terminal/decide.ts";
import { applyTerminal, type TerminalEvent } from "../../core/terminal/events.ts";
import { childOf, type Effect, effectsOf, type Terminal, type TerminalCommand } from "../../core/terminal/terminal.ts";
import type { EventLog } from "../../log/event-log.ts";
import { terminalEventOf } from "../../wire/stored/terminal.ts";
import type { Clock } from "../../world/clock.ts";
import type { Folding } from "../fold.ts";
import { type Decider, type Hooks, SessionStore } from "../session-store.ts";

export type Terminals = { state: Terminal; command: TerminalCommand; event: TerminalEvent; effect: Effect };

export type TerminalStoreHooks = Hooks<Terminals>;

const RULES: Decider<Terminals> = {
  session: (_, { id }) => `terminals/${id}`,
  decide: (terminals, command, at) => {
    const events = decideTerminal(terminals, command, at);
    return events.ok ? ok(decisionOf(terminals, events.value, applyTerminal)) : events;
  },
  apply: applyTerminal,
  effectsOf,
  isOver: ({ removed }) => removed,
  since: ({ createdAt }) => createdAt,
};

/** How terminals are read from their logs. */
export const TERMINAL_FOLDING: Folding<Terminals> = {
  place: "terminals/",
  what: "terminal",
  eventOf: terminalEventOf,
  ends: ({ event }) => event === "terminal.removed",
  nameOf: ({ name }) => name,
  aside: (terminal, reason) => {
    const { removed, state } = terminal;
    if (removed) return undefined;
    return { ...terminal, state: { kind: "uncertain", reason, child: childOf(state) }, signal: undefined };
  },
};

export class TerminalStore extends SessionStore<Terminals> {
  constructor(log: EventLog, clock: Clock, hooks: TerminalStoreHooks) {
    super(RULES, log, clock, hooks);
  }

  get terminals(): ReadonlyMap<string, Terminal> {
    return this.states;
  }
}
