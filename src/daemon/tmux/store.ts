// The store of tmux sessions under our care (session-store.ts has the rules that all stores follow).

import { ok } from "../../base/result.ts";
import { decisionOf } from "../../core/decision.ts";
import { decideTmux } from "../../core/tmux/decide.ts";
import { applyTmux, type TmuxEvent } from "../../core/tmux/events.ts";
import { type TmuxCare, type TmuxCommand, type TmuxEffect, tmuxEffectsOf } from "../../core/tmux/tmux.ts";
import type { EventLog } from "../../log/event-log.ts";
import { tmuxEventOf } from "../../wire/stored/terminal.ts";
import type { Clock } from "../../world/clock.ts";
import type { Folding } from "../fold.ts";
import { type Decider, type Hooks, SessionStore } from "../session-store.ts";

type Cares = { state: TmuxCare; command: TmuxCommand; event: TmuxEvent; effect: TmuxEffect };

const RULES: Decider<Cares> = {
  session: (_, { id }) => `tmux/${id}`,
  decide: (cares, command, at) => {
    const events = decideTmux(cares, command, at);
    return events.ok ? ok(decisionOf(cares, events.value, applyTmux)) : events;
  },
  apply: applyTmux,
  effectsOf: tmuxEffectsOf,
  isOver: ({ released }) => released,
  since: ({ adoptedAt }) => adoptedAt,
};

/** How they are read from their logs. */
export const TMUX_FOLDING: Folding<Cares> = {
  place: "tmux/",
  what: "tmux session",
  eventOf: tmuxEventOf,
  ends: ({ event }) => event === "tmux.released",
  nameOf: ({ name }) => name,
  aside: (care, reason) => (care.released ? undefined : { ...care, state: { kind: "uncertain", reason } }),
};

export class TmuxStore extends SessionStore<Cares> {
  constructor(log: EventLog, clock: Clock, hooks: Hooks<Cares>) {
    super(RULES, log, clock, hooks);
  }
}
