// The daemon's part for tmux sessions: their turn, on the one log, and their keeper.
import type { EventLog } from "../../log/event-log.ts";
import type { DaemonPorts } from "../ports.ts";
import { TmuxKeeper } from "./keeper.ts";
import { TmuxStore } from "./store.ts";

export type TmuxPart = { readonly store: TmuxStore; readonly keeper: TmuxKeeper };

export function openTmux(log: EventLog, { world, config, bus, safeMode, onBug }: DaemonPorts): TmuxPart {
  const store = new TmuxStore(log, world.clock, {
    publish: (event) => bus.publish(event.event, event),
    perform: ({ id }) => keeper.attend(id),
    onBug,
  });
  const { saveS, scrollbackLines } = config.tmux;
  const environment = { allow: config.terminal.envAllow, deny: config.terminal.envDeny };
  const keeper: TmuxKeeper = new TmuxKeeper(
    { ...world, environment: () => world.self.environment() },
    { roundMs: saveS * 1000, scrollbackLines, environment },
    {
      cares: () => store.states.values(),
      care: (id) => store.states.get(id),
      submit: (command) => store.submit(command),
      mayAct: () => !safeMode.isActive(),
      onBug,
    },
  );
  return { store, keeper };
}
