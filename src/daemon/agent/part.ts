// The agents part of the daemon: their store on the shared log, their engine, and access to their tools.
// AP1. No turn begins until everything is known: turns begin in RECONCILING (`begin`).
// AP2. Once there is an agent, the tools are served over HTTP and, for sandboxes, on their socket.
import { type Agent, type AgentRecord, isAside, isLive, openPrompts } from "../../core/agent/agent.ts";
import type { SessionPlan } from "../../core/agent/events.ts";
import { isAlive } from "../../core/agent/process.ts";
import { variablesFor } from "../../core/agent/provider-access.ts";
import { timesOf } from "../../core/agent/times.ts";
import { ONLY_GENERATION } from "../../home/held/holder-files.ts";
import { keepPromptKey, promptKey } from "../../home/prompt-key.ts";
import { agentForPerson } from "../../wire/rpc/attention.ts";
import { listedAgent } from "../../wire/rpc/listed-agent.ts";
import { partialTopic } from "../../wire/rpc/partial.ts";
import { keyedHash } from "../../world/hash.ts";
import { foldSessions, idOf } from "../fold.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { environmentRules } from "../live-config.ts";
import { type BegunProgram, type Part, PartBorder, type PartPorts } from "../part.ts";
import type { Bearer } from "../rpc-server.ts";
import { AgentArchive } from "./archive.ts";
import { AgentCheckpoints } from "./checkpoints.ts";
import { cloneOf } from "./clones.ts";
import { agentConfigOf } from "./config.ts";
import { AgentEngine } from "./engine.ts";
import { agentsForSteps, type StepAgents } from "./for-steps.ts";
import { forgetAgents } from "./forget.ts";
import { agentGarbage } from "./gc.ts";
import { HandedCalls } from "./handed-calls.ts";
import { type AgentHandlerPorts, agentHandlers, bearerHandlers, toolCaller } from "./handlers.ts";
import { loadConversation } from "./load-conversation.ts";
import { McpServer } from "./mcp-server.ts";
import { poisonAhead, skippedLines } from "./poisoned.ts";
import { processDirectory } from "./process-files.ts";
import { SessionRecords } from "./records.ts";
import { agentStages } from "./recovery.ts";
import { sandboxingOf } from "./sandboxing.ts";
import { AgentStore, agentFolding } from "./store.ts";
import { openToolDoor } from "./tool-door.ts";

export type AgentPart = Part & {
  readonly store: AgentStore;
  readonly engine: AgentEngine;
  /** What the bearer of an agent's token may ask; undefined for an unknown token. */
  bearer(token: string): Bearer | undefined;
  readonly forSteps: StepAgents;
  /** Variables that its program gets beside those in its plan. */
  environment(agent: Agent): Readonly<Record<string, string>>;
};

/** What agents need from the other parts and from the daemon. */
export type AgentLinks = {
  holderCommand(): HolderCommand;
  /** Called when a change of an agent is durable. */
  heard(agent: Agent): void;
  /** Lets the daemon's socket server listen on one more path, where only agents' tokens are known. */
  listenForSandboxes(path: string): Promise<void>;
  /** Why it must not go on in what is at the place of its worktree or clone; undefined: it may. */
  whyOther(agent: string): string | undefined;
};

export function openAgents(ports: PartPorts, links: AgentLinks): AgentPart {
  const { world, live, log } = ports;
  const border = new PartBorder(ports, "agents");
  const sessions = openSessions(ports, border, { ...links, created: () => doors.open() });
  const { store, engine, checkpoints, records, archive } = sessions;
  const trouble = (agent: Agent) => sessions.engine.processes.trouble(agent);
  const doors: ToolDoors = openDoors(ports, { border, store, archive, handed: sessions.handed, trouble }, links);
  const living = () => [...store.settledAgents()].filter(isLive);
  const forget = (ids: readonly string[]) => forgetAgents({ log, store, records, checkpoints }, ids);
  return {
    ...{ store, engine, handlers: doors.handlers, bearer: doors.bearer },
    forSteps: agentsForSteps({
      ...{ log, store, look: (id) => archive.agent(id) },
      agentConfig: () => agentConfigOf(live.current),
    }),
    environment: (agent) => environmentOf(ports, agent),
    fold: async (progress) => {
      await border.tolerating(sessions.keepKey);
      const steps = foldSessions({ border, log, store }, agentFolding(checkpoints));
      return border.foldAll(world.clock, steps, progress);
    },
    stages: agentStages({ ...sessions, whyOther: links.whyOther }),
    begun: () => [...store.agents()].flatMap((agent) => begunOf(world.home, agent)),
    goLive: () => {
      engine.startPolling();
      archive.tick();
      if (living().length > 0) doors.open(); // AP2
    },
    leftSafeMode: sessions.schedule,
    reloaded: sessions.schedule,
    waits: () => [...store.agents()].flatMap(timesOf),
    remindAll: () => engine.remindAll(),
    tick: () => {
      doors.keep(); // The engine has its own rounds.
      archive.tick();
    },
    stop: async () => {
      engine.close();
      await archive.stop();
      await doors.close();
      await checkpoints.finish();
    },
    attention: () => living().flatMap((agent) => agentForPerson(listedAgent(agent, trouble(agent)))),
    troubles: () =>
      living().flatMap((agent) => {
        const why = trouble(agent);
        const next = `holdfast agent inspect ${agent.name}`;
        return why === undefined ? [] : [{ what: `the agent ${agent.name} is not started yet: ${why}`, next }];
      }),
    counts: () => {
      const agents = living();
      return { agents: agents.length, prompts: agents.reduce((sum, agent) => sum + openPrompts(agent).length, 0) };
    },
    asides: border.asides,
    covered: (session) => (needsWholeLog(store.states.get(idOf(session))) ? 0 : checkpoints.covers(idOf(session))),
    garbage: (limits) => {
      const clone = (agent: Agent) => cloneOf(world, agent);
      return agentGarbage(world, { agents: () => store.agents(), archive, forget, clone }, limits);
    },
    collected: () => archive.collected(),
  };
}

/** The conversation of a bare LLM is nowhere else (L3 of core/agent/conversation.ts); a terminated agent goes whole. */
function needsWholeLog(record: AgentRecord | undefined): boolean {
  if (record === undefined) return true;
  return record.kind === "agent" && (record.terminated !== undefined || record.conversation.bytes > 0);
}

type SessionLinks = AgentLinks & { created(): void };

function openSessions(ports: PartPorts, border: PartBorder, links: SessionLinks) {
  const { world, config, live, bus, safeMode, say, log } = ports;
  const key = promptKey(world.disk, world.random, world.home);
  const keyed = (text: string) => keyedHash(key, text);
  const keepKey = () => keepPromptKey(world.disk, world.home, key);
  let begun = false;
  const checkpoints = new AgentCheckpoints(world, { isOff: () => safeMode.isActive(), say });
  const records = new SessionRecords(world, (error, id) => void border.contain(id, error));
  const handed = new HandedCalls();
  const taken = (id: string, call: string) => border.outcome(() => store.submit({ kind: "call-taken", id, call }), id);
  const store: AgentStore = new AgentStore(
    log,
    ports.times,
    () => {
      const settings = { ...agentConfigOf(live.current), paused: !begun || safeMode.isActive() }; // AP1
      return { settings, keyed, isArchived: (id) => archive.has(id) };
    },
    border.hooks({
      publish: ({ event, id, data }) => {
        const agent = store.settledAgent(id);
        if (agent !== undefined) records.note(agent);
        if (event === "agent.created") links.created();
        if (event === "agent.read") for (const call of handed.heard(id)) taken(id, call);
        bus.publish(event, { event, id, data });
        if (agent !== undefined) links.heard(agent);
      },
      settled: (events, _, ticket, after) => {
        const ids = events.map(({ id }) => id);
        checkpoints.heard(ids, ticket, after);
      },
      perform: (effect) => engine.perform(effect),
    }),
  );
  const engine = openEngine(ports, border, { store, records }, links);
  const archive: AgentArchive = new AgentArchive({
    ...{ place: world, log, border, store, checkpoints, records },
    afterMs: config.retention.archiveAfterMin * 60_000,
    isOff: () => safeMode.isActive() || ports.isPinned(),
    isQuiet: (agent) => engine.isQuiet(agent),
  });
  const begin = () => {
    begun = true;
  };
  const schedule = async () => {
    const first = [...store.agents()].find((agent) => isLive(agent) && !isAside(agent));
    if (first !== undefined) await store.submit({ kind: "schedule", id: first.id });
  };
  const ahead = (agent: Agent) => (safeMode.isActive() ? poisonAhead(log, agent) : undefined);
  const parts = { border, store, engine, checkpoints, records, archive, handed };
  return { ...parts, place: world, begin, schedule, poisonAhead: ahead, keepKey };
}

function openEngine(
  { world, config, live, bus, log, times }: PartPorts,
  border: PartBorder,
  { store, records }: { readonly store: AgentStore; readonly records: SessionRecords },
  links: AgentLinks,
): AgentEngine {
  return new AgentEngine(world, {
    agent: (id) => store.settledAgent(id),
    agents: () => store.agents(),
    left: times.left,
    submit: (command) => store.submit(command),
    skipped: (agent) => skippedLines(log, agent),
    holderCommand: links.holderCommand,
    environment: (agent) => environmentOf({ world, live }, agent),
    breaker: { threshold: config.breaker.failures, timeoutMs: config.breaker.timeoutS * 1000 },
    isRecorded: (agent) => records.isReady(agent),
    recorded: (agent) => records.ready(agent),
    recall: (id) => loadConversation({ log, clock: world.clock, store }, id),
    partial: (partial) => bus.publish(partialTopic(partial.id), partial),
    crashed: (id, reason) => bus.publish("agent.status", { id, status: "CRASHED", reason }),
    onBug: (error, id) => void border.contain(id, error),
    guard: (id, work) => border.guard(id, work),
  });
}

function environmentOf({ world, live }: Pick<PartPorts, "world" | "live">, { plan }: Agent): Record<string, string> {
  const names = variablesFor(plan.recipe, live.current.agents.env).filter((name) => !isRecorded(plan, name));
  return allowed(world.self.environment(), names);
}

/**
 * Programs are found where its creator found them (PC1 of program-check.ts): that PATH is recorded. A sandbox sets it
 * inside (WS9 of core/agent/workspace.ts).
 */
function isRecorded({ environment, workspace }: SessionPlan, name: string): boolean {
  return name === "PATH" && environment["PATH"] !== undefined && workspace?.sandbox == null;
}

/** The part of our environment that an agent gets: only the names that the configuration allows. */
function allowed(ours: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => names.includes(name)));
}

type ToolDoors = Pick<AgentPart, "handlers" | "bearer"> & { open(): void; keep(): void; close(): Promise<void> };

function openDoors(
  { world, live, say, log }: PartPorts,
  sessions: Pick<AgentHandlerPorts, "border" | "store" | "archive" | "handed" | "trouble">,
  { listenForSandboxes: listen }: AgentLinks,
): ToolDoors {
  const handlerPorts: AgentHandlerPorts = {
    ...sessions,
    ...{ disk: world.disk, home: world.home, log },
    sandboxing: (wanted, recipe) => sandboxingOf(world, live.current.agents.sandbox, wanted, recipe),
    environment: environmentRules(live),
    get agentConfig() {
      return agentConfigOf(live.current);
    },
    get defaultProvider() {
      return live.current.agents.provider;
    },
    get ownPath() {
      return allowed(world.self.environment(), live.current.agents.env)["PATH"];
    },
  };
  const mcp = new McpServer(world, { caller: (bearer) => toolCaller(handlerPorts, bearer), say });
  const { border, store } = sessions;
  const open = async () => {
    await mcp.open();
    await openToolDoor(world, store, listen);
  };
  const keep = async () => {
    if (await mcp.keep()) await openToolDoor(world, store, listen); // All of run/ was removed.
  };
  return {
    handlers: agentHandlers(handlerPorts),
    bearer: (token) => bearerHandlers(handlerPorts, token),
    open: () => border.outcome(() => border.tolerating(open)), // AP2
    keep: () => border.outcome(() => border.tolerating(keep)),
    close: () => mcp.close(),
  };
}

function begunOf(home: string, { id, generation, process: program }: Agent): BegunProgram[] {
  if (!isAlive(program)) return [];
  return [{ session: id, directory: processDirectory(home, { id, generation }), generation: ONLY_GENERATION }];
}
