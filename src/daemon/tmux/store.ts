// The turn of tmux sessions under our care (session-store.ts has the rules that hold for all).

import { decideTmux } from "../../core/tmux/decide.ts";
import { applyTmux, type TmuxEvent } from "../../core/tmux/events.ts";
import { type TmuxCare, type TmuxCommand, type TmuxEffect, tmuxEffectsOf } from "../../core/tmux/tmux.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Clock } from "../../world/clock.ts";
import { type Decider, type Hooks, SessionStore } from "../session-store.ts";

type Cares = { state: TmuxCare; command: TmuxCommand; event: TmuxEvent; effect: TmuxEffect };

const RULES: Decider<Cares> = {
  session: (_, { id }) => `tmux/${id}`,
  decide: decideTmux,
  apply: applyTmux,
  effectsOf: tmuxEffectsOf,
};

export class TmuxStore extends SessionStore<Cares> {
  constructor(log: EventLog, clock: Clock, hooks: Hooks<Cares>) {
    super(RULES, log, clock, hooks);
  }

  /** One whose log cannot be trusted: seen, and left alone. Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined {
    const care = this.states.get(id);
    if (care === undefined || care.released) this.states.delete(id);
    else this.states.set(id, { ...care, state: { kind: "uncertain", reason } });
    return care?.name;
  }
}
