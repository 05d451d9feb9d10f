// The tmux part of the daemon: the store of tmux sessions on the shared log, and their keeper.
import { foldSessions, timeOf } from "../fold.ts";
import { environmentRules } from "../live-config.ts";
import { type Part, PartBorder, type PartPorts } from "../part.ts";
import { tmuxGarbage } from "./gc.ts";
import { tmuxHandlers } from "./handlers.ts";
import { TmuxKeeper } from "./keeper.ts";
import { reconcileTmux } from "./recovery.ts";
import { TMUX_FOLDING, TmuxStore } from "./store.ts";

export type TmuxPart = Part & { readonly store: TmuxStore; readonly keeper: TmuxKeeper };

export function openTmux(ports: PartPorts): TmuxPart {
  const { world, log } = ports;
  const border = new PartBorder(ports, "tmux sessions");
  const { store, keeper } = openSessions(ports, border);
  const cares = () => store.states.values();
  return {
    store,
    keeper,
    handlers: tmuxHandlers({ border, store, keeper, random: world.random, processes: world.processes }),
    fold: (progress) => border.foldAll(world.clock, foldSessions({ border, log, store }, TMUX_FOLDING), progress),
    stages: { RECONCILING: () => reconcileTmux({ keeper, clock: world.clock, cares }) },
    goLive: () => keeper.startPolling(),
    tick: () => undefined, // The keeper has its own rounds.
    stop: async () => keeper.close(),
    counts: () => ({}),
    asides: border.asides,
    garbage: (limits) => {
      const releasedAt = (id: string) => timeOf(log, `tmux/${id}`, "tmux.released");
      return tmuxGarbage(world, { cares, releasedAt }, limits);
    },
  };
}

function openSessions({ world, config, live, bus, safeMode, say, log }: PartPorts, border: PartBorder) {
  const store = new TmuxStore(
    log,
    world.clock,
    border.hooks({
      publish: (event) => bus.publish(event.event, event),
      perform: ({ id }) => keeper.attend(id),
    }),
  );
  const { saveS, scrollbackLines } = config.tmux;
  const environment = environmentRules(live);
  const keeper: TmuxKeeper = new TmuxKeeper(
    { ...world, environment: () => world.self.environment() },
    { roundMs: saveS * 1000, scrollbackLines, environment },
    {
      cares: () => store.states.values(),
      care: (id) => store.states.get(id),
      submit: (command) => store.submit(command),
      mayAct: () => !safeMode.isActive(),
      onBug: (error, id) => void border.contain(id, error),
      say,
    },
  );
  return { store, keeper };
}
