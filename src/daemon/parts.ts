// The parts of the daemon, and what each gets of the others.
import type { Agent } from "../core/agent/agent.ts";
import { openAgents } from "./agent/part.ts";
import { OutsideFiles } from "./fleet/outside.ts";
import { openFleetQueue } from "./fleet/part.ts";
import { TakenFiles } from "./fleet/taken-files.ts";
import { type NotifyLinks, type NotifyPart, openNotify } from "./notify/part.ts";
import type { Part, PartPorts } from "./part.ts";
import { openSearch, type SearchPart } from "./search/part.ts";
import { openTerminals, type TerminalLinks } from "./terminal/part.ts";
import { openTmux } from "./tmux/part.ts";
import { openWorkflows, type WorkflowPart } from "./workflow/part.ts";

export type Parts = ReturnType<typeof openParts>;

/** What the parts need from the daemon, beside its ports. */
export type PartLinks = Pick<TerminalLinks, "report" | "progressed"> & {
  listenForSandboxes(path: string): Promise<void>;
  /** Browsers that may use the page. */
  devices: NotifyLinks["devices"];
};

/** Each part gets only what it needs from the others; this is the only place that knows them all. */
export function openParts(ports: PartPorts, links: PartLinks) {
  const tmux = openTmux(ports);
  const terminal = openTerminals(ports, {
    ...links,
    spared: () => tmux.keeper.servers(),
    printed: () => search.printed(),
  });
  const { programs } = terminal.holders;
  const agent = openAgents(ports, {
    holderCommand: () => programs.command("holder"),
    heard: (changed) => {
      workflow.heard(changed);
      notify.heard(changed);
    },
    listenForSandboxes: links.listenForSandboxes,
    whyOther: (id) => takenFiles.whyOther(id),
  });
  const workflow: WorkflowPart = openWorkflows(ports, {
    holderCommand: () => programs.command("orders"),
    agents: agent.forSteps,
  });
  const notify: NotifyPart = openNotify(ports, {
    agents: () => agent.store.settledAgents(),
    agent: (id) => agent.store.settledAgent(id),
    devices: links.devices,
  });
  const search: SearchPart = openSearch(ports, {
    terminals: () => terminal.store.allSettled(),
    agents: () => agent.store.settledAgents(),
    runs: () => workflow.store.allSettled(),
  });
  const answering = notify.answering(agent.handlers);
  const fleetQueue = openFleetQueue(ports, {
    handlers: () => ({ ...workflow.handlers, ...answering }),
    isRemoved: (run) => workflow.store.states.get(run)?.removed === true,
    tellOutside: () => outside.tick(),
  });
  const environment = (of: Agent) => agent.environment(of);
  const outside = new OutsideFiles({
    ...{ disk: ports.world.disk, clock: ports.world.clock, home: ports.world.home, environment },
    agents: () => agent.store.settledAgents(),
    terminals: () => terminal.conversations(),
  });
  const takenFiles: TakenFiles = new TakenFiles({
    ...{ place: ports.world, environment, programs: ports.world, maxBytes: ports.config.fleet.carryBytes },
    agent: (id) => agent.store.agent(id),
    terminal: (id) => terminal.store.terminals.get(id),
  });
  return { terminal, tmux, workflow, agent: { ...agent, handlers: answering }, notify, search, fleetQueue, takenFiles };
}

/** D5 of daemon.ts */
export function inOrder({ terminal, tmux, workflow, agent, notify, search, fleetQueue }: Parts): readonly Part[] {
  return [terminal, tmux, workflow, agent, notify, search, fleetQueue];
}
