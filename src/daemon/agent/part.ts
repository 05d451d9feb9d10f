// The daemon's part for agents: their turn, on the one log, and their engine.
import { type Agent, isLive, openPrompts } from "../../core/agent/agent.ts";
import type { ReportItem } from "../../core/recovery.ts";
import type { EventLog } from "../../log/event-log.ts";
import { foldAgents, type HowFar, type Read } from "../fold.ts";
import type { DaemonPorts } from "../ports.ts";
import type { TerminalHolders } from "../terminal/holders.ts";
import { AgentCheckpoints } from "./checkpoints.ts";
import { agentConfigOf } from "./config.ts";
import { AgentEngine } from "./engine.ts";
import { forgetAgents } from "./forget.ts";
import { HandedCalls } from "./handed-calls.ts";
import { loadConversation } from "./load-conversation.ts";
import { SessionRecords } from "./records.ts";
import { AgentStore } from "./store.ts";

export type AgentPart = {
  readonly store: AgentStore;
  readonly engine: AgentEngine;
  readonly records: SessionRecords;
  readonly checkpoints: AgentCheckpoints;
  /** Reads all of them from the log, in slices; returns what had to be set aside. */
  fold(progress: () => void): Promise<readonly ReportItem[]>;
  /** How far that is. */
  readonly read: Read;
  /** For whoever removes their files: those of them that nobody remembers any more. */
  forget(ids: readonly string[]): Promise<ReadonlySet<string>>;
  readonly handed: HandedCalls;
  /** Turns begin from here on: until everything is known, none does. */
  begin(): void;
  /** Whoever is ready begins, as far as there are slots. */
  schedule(): Promise<void>;
};

export type AgentHooks = {
  /** There is an agent. */
  born(): void;
  /** Something happened to an agent, and is durable. */
  heard(agent: Agent): void;
};

export function openAgents(log: EventLog, holders: TerminalHolders, ports: DaemonPorts, hooks: AgentHooks): AgentPart {
  const { world, config, bus, safeMode, say, onBug } = ports;
  const agentConfig = agentConfigOf(config);
  let begun = false;
  let read: Read = { kind: "unread" };
  const checkpoints = new AgentCheckpoints(world, { isOff: () => safeMode.isActive(), say, onBug });
  const records = new SessionRecords(world, onBug);
  const handed = new HandedCalls();
  const store: AgentStore = new AgentStore(
    log,
    world.clock,
    () => ({ ...agentConfig, paused: !begun || safeMode.isActive() }),
    {
      publish: ({ event, id, data }) => {
        const agent = store.settledAgent(id);
        if (agent !== undefined) records.note(agent);
        if (event === "agent.created") hooks.born();
        if (event === "agent.read")
          for (const call of handed.heard(id)) void store.submit({ kind: "call-taken", id, call }).catch(onBug);
        bus.publish(event, { event, id, data });
        if (agent !== undefined) hooks.heard(agent);
      },
      settled: (events, _, ticket, after) =>
        checkpoints.heard(
          events.map(({ id }) => id),
          ticket,
          after,
        ),
      perform: (effect) => engine.perform(effect),
      onBug,
    },
  );
  const engine: AgentEngine = new AgentEngine(world, {
    agent: (id) => store.settledAgent(id),
    agents: () => store.agents(),
    submit: (command) => store.submit(command),
    holderCommand: () => holders.programs.command("holder"),
    environment: () => allowed(world.self.environment(), config.agents.env),
    recall: (id) => loadConversation({ log, clock: world.clock, store }, id),
    crashed: (id, reason) => bus.publish("agent.status", { id, status: "CRASHED", reason }),
    onBug,
  });
  const fold = async (progress: () => void) => {
    const progressed = (so: HowFar) => {
      read = { kind: "reading", ...so };
      progress();
    };
    const aside = await foldAgents(log, store, { checkpoints, clock: world.clock, progressed });
    read = { kind: "read" };
    return aside;
  };
  const begin = () => {
    begun = true;
  };
  const schedule = async () => {
    const [first] = [...store.agents()].filter(isLive);
    if (first !== undefined) await store.submit({ kind: "schedule", id: first.id });
  };
  return {
    ...{ store, engine, records, checkpoints, handed, fold, begin, schedule },
    forget: (ids) => forgetAgents({ log, store, records, checkpoints }, ids),
    get read() {
      return read;
    },
  };
}

/** What agents get of our own environment: the names that the configuration allows, and no more. */
function allowed(ours: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => names.includes(name)));
}

/** Of those that live, how many; and how many of their prompts are open. As it is durable. */
export function countAgents({ store }: AgentPart): { readonly agents: number; readonly prompts: number } {
  const live = [...store.settledAgents()].filter(isLive);
  return { agents: live.length, prompts: live.reduce((sum, agent) => sum + openPrompts(agent).length, 0) };
}
