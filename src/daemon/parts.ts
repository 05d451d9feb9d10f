// The parts of a daemon that stand on its log: opened together when the storage is, and closed together.
// PT1. Each part gets what it needs of the others, and no more; this is the only place that knows them all.
import type { ReportItem } from "../core/recovery.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import { EventLog } from "../log/event-log.ts";
import { agentConfigOf } from "./agent/config.ts";
import { agentsForSteps } from "./agent/for-steps.ts";
import { type AgentPart, openAgents } from "./agent/part.ts";
import { removalTime } from "./fold.ts";
import { Garbage } from "./gc.ts";
import { stopOrphans } from "./held/orphan-stop.ts";
import type { DaemonPorts } from "./ports.ts";
import { Checkpoints } from "./terminal/checkpoints.ts";
import { TerminalHolders } from "./terminal/holders.ts";
import { LastMoments } from "./terminal/last-moments.ts";
import { LostTerminals } from "./terminal/lost-terminals.ts";
import { Restorer } from "./terminal/restorer.ts";
import { Screens } from "./terminal/screens.ts";
import { TerminalStore } from "./terminal/store.ts";
import { openTmux, type TmuxPart } from "./tmux/part.ts";
import { openWorkflows, type WorkflowPart } from "./workflow/part.ts";

export type Parts = {
  readonly log: EventLog;
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  readonly screens: Screens;
  readonly checkpoints: Checkpoints;
  readonly restorer: Restorer;
  readonly garbage: Garbage;
  readonly tmux: TmuxPart;
  readonly workflows: WorkflowPart;
  readonly agents: AgentPart;
};

export type PartHooks = {
  /** Those whose logs are whole: of the others nothing is known for certain. */
  trusted(terminals: Iterable<Terminal>): Terminal[];
  /** What became of terminals whose holders were killed while the daemon lived. */
  report(items: readonly ReportItem[]): Promise<void>;
  /** There is an agent. */
  born(): void;
};

/** Throws a Fault where the storage does not let it. */
export async function openParts(ports: DaemonPorts, hooks: PartHooks): Promise<Parts> {
  const { world, config, bus, onBug } = ports;
  const log = await EventLog.open(world, { segmentBytes: config.log.segmentBytes });
  const store: TerminalStore = new TerminalStore(log, world.clock, {
    publish: (event) => bus.publish(event.event, event),
    perform: (effect) => holders.perform(effect),
    onBug,
  });
  const tape = { segmentBytes: config.terminal.segmentBytes, maxBytes: config.terminal.tapeBytes };
  const holders: TerminalHolders = new TerminalHolders(
    world,
    { tape },
    {
      terminal: (id) => store.settled(id), // U6 of session-store.ts: also for rounds, which come while something is being written.
      terminals: () => store.allSettled(),
      submit: (command) => void store.submit(command).catch(onBug),
      lost: (id, reason) => void lost.found(id, reason).catch(onBug),
      farewell: (terminal, message) => moments.farewell(terminal, message),
      onBug,
    },
  );
  const tmux = openTmux(log, ports);
  const forSteps = agentsForSteps(log, agentConfigOf(config), () => agents.store);
  const workflows = openWorkflows(log, holders, ports, forSteps);
  const agents: AgentPart = openAgents(log, holders, ports, {
    born: hooks.born,
    heard: (agent) => workflows.engine.agentSteps.heard(agent),
  });
  const screens = new Screens(world);
  const checkpoints = openCheckpoints(ports, store, holders, screens);
  const moments = new LastMoments(checkpoints, screens);
  const restorer = openRestorer(ports, store, holders, moments);
  const lost = new LostTerminals({
    terminal: (id) => store.terminals.get(id),
    note: (id, reason) => void store.submit({ kind: "lost", id, reason }).catch(onBug),
    stopRest: (of) => {
      return stopOrphans(world, hooks.trusted(store.terminals.values()), { of, spared: tmux.keeper.servers() });
    },
    restore: (terminal, reason) => restorer.restore(terminal, { reason, found: true, way: "plan", asked: false }),
    report: hooks.report,
  });
  const garbage = openGarbage(ports, log, { store, tmux, workflows, agents });
  return { log, store, holders, screens, checkpoints, restorer, garbage, tmux, workflows, agents };
}

function openCheckpoints(
  ports: DaemonPorts,
  store: TerminalStore,
  holders: TerminalHolders,
  screens: Screens,
): Checkpoints {
  const { world, config, bus, safeMode, say, onBug } = ports;
  const checkpoints = new Checkpoints(world, config, {
    screens,
    terminals: () => store.terminals.values(),
    status: (id) => holders.status(id),
    isOff: () => safeMode.isActive(),
    say,
    onBug,
  });
  bus.subscribe(["terminal.*"], (topic) => checkpoints.heard(topic));
  return checkpoints;
}

function openRestorer(
  { world, config }: DaemonPorts,
  store: TerminalStore,
  holders: TerminalHolders,
  moments: LastMoments,
): Restorer {
  return new Restorer({
    place: world,
    store,
    holders,
    shell: config.terminal.shell,
    rules: Object.values(config.restore),
    known: (id) => moments.known(id),
  });
}

function openGarbage(
  { world, config, safeMode, say, onBug }: DaemonPorts,
  log: EventLog,
  { store, tmux, workflows, agents }: Pick<Parts, "store" | "tmux" | "workflows" | "agents">,
): Garbage {
  return new Garbage(world, config.retention, {
    terminals: () => store.terminals.values(),
    removedAt: (id) => removalTime(log, `terminals/${id}`, "terminal.removed"),
    tmux: () => tmux.store.states.values(),
    releasedAt: (id) => removalTime(log, `tmux/${id}`, "tmux.released"),
    runs: () => workflows.store.states.values(),
    agents: () => agents.store.agents(),
    forget: (ids) => agents.forget(ids),
    isOff: () => safeMode.isActive(),
    say,
    onBug,
  });
}

/** Everything goes on from here by itself. */
export function goLive({ tmux, workflows, agents, checkpoints, garbage }: Parts): void {
  workflows.checkpoints.startPolling();
  agents.engine.startPolling();
  tmux.keeper.startPolling();
  checkpoints.goLive();
  garbage.start();
}

/** Ends what was begun, but for the log: what is still on its way may become durable. */
export async function endParts({
  holders,
  tmux,
  workflows,
  agents,
  checkpoints,
  garbage,
  screens,
}: Parts): Promise<void> {
  garbage.stop();
  agents.engine.close();
  workflows.engine.close(); // First: nothing new begins any more.
  await workflows.checkpoints.finish();
  await agents.checkpoints.finish();
  await checkpoints.finish(); // While the holders can still be asked.
  screens.close();
  holders.close();
  tmux.keeper.close();
}
