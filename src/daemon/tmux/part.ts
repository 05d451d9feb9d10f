// The daemon's part for tmux sessions: their turn, on the one log, and their keeper.
import type { EventLog } from "../../log/event-log.ts";
import type { DaemonPorts } from "../daemon.ts";
import { TmuxKeeper } from "./keeper.ts";
import { TmuxTurn } from "./store.ts";

export type TmuxPart = { readonly turn: TmuxTurn; readonly keeper: TmuxKeeper };

export function openTmux(log: EventLog, { world, config, bus, safeMode, broken }: DaemonPorts): TmuxPart {
  const turn = new TmuxTurn(log, world.clock, {
    publish: (event) => bus.publish(event.event, event),
    perform: ({ id }) => keeper.attend(id),
    broken,
  });
  const { saveS, scrollbackLines } = config.tmux;
  const environment = { allow: config.terminal.envAllow, deny: config.terminal.envDeny };
  const keeper: TmuxKeeper = new TmuxKeeper(
    { ...world, environment: () => world.self.environment() },
    { roundMs: saveS * 1000, scrollbackLines, environment },
    {
      cares: () => turn.states.values(),
      care: (id) => turn.states.get(id),
      submit: (command) => turn.submit(command),
      mayAct: () => !safeMode.isActive(),
      broken,
    },
  );
  return { turn, keeper };
}
