// The terminals part of the daemon: their store on the shared log, their holders, checkpoints and restoration.
// TP1. If the log of a terminal is damaged, nothing about it is certain: none of its processes is stopped as an orphan.
// TP2. A terminal that was removed is archived when garbage collection has removed all but its log. One that has ended
//      stays until it is removed: `ls` shows it.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { ReportItem } from "../../core/recovery.ts";
import { wordsOfOthers } from "../../core/terminal/restore.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { readTaken } from "../../home/fleet-files.ts";
import { type HomeWorld, terminalDirectory } from "../../home/held/holder-files.ts";
import { isRestoredCopy } from "../../home/identity.ts";
import { CRASH_DETECTED } from "../../home/last-crash.ts";
import { AGENTS_TYPED } from "../../home/layout.ts";
import { readReport } from "../../home/reports.ts";
import { openRetrying } from "../../log/file/file.ts";
import { isLogFile } from "../../log/session/log-segments.ts";
import { TapeStates } from "../../log/tape/tape-states.ts";
import { terminalForPerson } from "../../wire/rpc/attention.ts";
import type { Trouble } from "../../wire/rpc/rpc.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import { Archive } from "../archive.ts";
import { foldSessions, timeOf } from "../fold.ts";
import { mayHaveRun } from "../held/held-programs.ts";
import { seeAll, stopOrphans } from "../held/orphan-stop.ts";
import { environmentRules } from "../live-config.ts";
import { type BegunProgram, decided, type HowFar, type Part, PartBorder, type PartPorts } from "../part.ts";
import { AgentsInFront } from "./agents-in-front.ts";
import { pinCheckpoint } from "./checkpoint-pin.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Databases } from "./databases.ts";
import { terminalGarbage } from "./gc.ts";
import { terminalHandlers } from "./handlers.ts";
import { TerminalHolders } from "./holders.ts";
import { LastMoments } from "./last-moments.ts";
import { LostTerminals } from "./lost-terminals.ts";
import { terminalStages } from "./recovery.ts";
import { Restorer } from "./restorer.ts";
import { Screens } from "./screens.ts";
import { TERMINAL_FOLDING, TerminalStore, type Terminals } from "./store.ts";

export type TerminalPart = Part & {
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  /** Of the agent CLIs in front. */
  conversations: AgentsInFront["conversations"];
};

/** What terminals need from the other parts and from the daemon. */
export type TerminalLinks = {
  /** Processes that are known not to be left behind. */
  spared(): readonly ProcessIdentity[];
  /** Reports terminals whose holders were killed while the daemon was running, and what became of them. */
  report(items: readonly ReportItem[]): Promise<void>;
  /** How many of the terminals that should run are back. */
  progressed(progress: HowFar): void;
  /** A terminal has printed something. */
  printed(): void;
};

/** What is in front of a terminal has changed: for lists that follow it. It is not stored. */
const AGENT_CHANGED = "terminal.agent";
/** An agent at work changes its state within a second. */
const AGENT_MS = 1_000;
/** In heartbeats. Two small reads for each terminal; a process started since then can only be a doubtful orphan. */
const SEE_EVERY = 5;

export function openTerminals(ports: PartPorts, links: TerminalLinks): TerminalPart {
  const { world, live, log } = ports;
  const border = new PartBorder(ports, "terminals");
  const all = { ...links, isAside: (id: string) => log.frozen(`terminals/${id}`) !== undefined };
  const sessions = openSessions(ports, border, all);
  const { store, holders, checkpoints, screens, databases } = sessions;
  const environment = environmentRules(live);
  const archive = archiveOf(ports, border, store);
  const removedAt = (id: string) => timeOf(log, `terminals/${id}`, "terminal.removed");
  let ticks = 0;
  let soon: (() => void) | undefined;
  const pulse = (): void =>
    border.outcome(() =>
      border.tolerating(async () => {
        if (await checkpoints.pulse()) links.printed();
        if (checkpoints.hasActiveAgent) soon ??= world.clock.after(AGENT_MS, again); // CP2 of checkpoints.ts
      }),
    );
  const again = () => {
    soon = undefined;
    pulse();
  };
  return {
    store,
    holders,
    conversations: () => sessions.agents.conversations(),
    handlers: terminalHandlers({
      ...{ ...sessions, border, environment },
      ...{ disk: world.disk, home: world.home, random: world.random, clock: world.clock, bus: ports.bus },
      tapes: new TapeStates(world.disk, world.clock),
    }),
    fold: async (progress) => {
      const steps = foldSessions({ border, log, store }, TERMINAL_FOLDING);
      const items = await border.foldAll(world.clock, steps, progress);
      return [...items, ...(await checkpoints.items())];
    },
    stages: stagesOf(ports, border, sessions, all),
    begun: () => [...store.terminals.values()].filter(isBegun).map((one) => begunOf(world.home, one)),
    goLive: () => {
      checkpoints.goLive();
      holders.goLive();
      archive.tick();
      border.outcome(() => holders.programs.make());
    },
    tick: () => {
      ticks += 1;
      if (ticks % SEE_EVERY === 0) for (const id of seeAll(world, store.terminals.values())) holders.lookAgain(id);
      holders.round();
      archive.tick();
      pulse();
    },
    stop: async () => {
      soon?.();
      await checkpoints.finish(); // While the holders can still be asked.
      screens.close();
      databases.close();
      holders.close();
      await archive.stop();
      await border.tolerating(async () => void seeAll(world, store.terminals.values()));
    },
    attention: () => [...store.allSettled()].flatMap((one) => (one.removed ? [] : terminalForPerson(one))),
    troubles: () => [...store.allSettled()].flatMap((terminal) => troubleOf(terminal, holders.trouble(terminal.id))),
    counts: () => ({ terminals: [...store.allSettled()].filter(({ removed }) => !removed).length }),
    asides: border.asides,
    garbage: (limits) => terminalGarbage(world, { terminals: () => store.terminals.values(), removedAt }, limits),
    archived: () => archive.lines(),
    collected: () => archive.collected(),
  };
}

function isBegun({ state }: Terminal): boolean {
  return state.kind === "starting" || state.kind === "running";
}

function begunOf(home: string, { id, generation }: Terminal): BegunProgram {
  return { session: id, directory: terminalDirectory(home, id), generation };
}

/** TP2 */
function archiveOf({ world, config, log, safeMode, isPinned }: PartPorts, border: PartBorder, store: TerminalStore) {
  const afterMs = config.retention.archiveAfterMin * 60_000;
  const ports = { place: world, log, store, border, afterMs, isOff: () => safeMode.isActive() || isPinned() };
  return new Archive<Terminals>(ports, {
    folding: TERMINAL_FOLDING,
    session: ({ id }) => `terminals/${id}`,
    over: () => [...store.terminals.values()].filter(({ removed, state }) => removed && state.kind === "ended"),
    endedAt: ({ state }) => (state.kind === "ended" ? state.at : null),
    isQuiet: (id) => world.disk.list(terminalDirectory(world.home, id)).every(isLogFile),
    row: () => null,
    forget: () => undefined,
  });
}

/** One that was never started waits for a person: after a few failures of the disk it is not tried again. */
function troubleOf({ name, state, removed }: Terminal, trouble: string | undefined): readonly Trouble[] {
  if (removed) return [];
  if (state.kind === "starting" && trouble !== undefined)
    return [{ what: `${name} is not started yet: ${trouble}`, next: "holdfast ls" }];
  if (state.kind !== "uncertain" || state.child !== undefined || mayHaveRun(state.reason)) return [];
  return [{ what: `${name} was not started: ${state.reason}`, next: `holdfast restore ${name}` }];
}

type SessionLinks = TerminalLinks & { isAside(id: string): boolean };
type Sessions = ReturnType<typeof openSessions>;

function openSessions(ports: PartPorts, border: PartBorder, links: SessionLinks) {
  const { world, config, live, bus, log, say } = ports;
  const store: TerminalStore = new TerminalStore(
    log,
    world.clock,
    border.hooks<Terminals>({
      publish: (event) => bus.publish(event.event, event),
      perform: (effect) => holders.perform(effect),
    }),
  );
  const tape = { segmentBytes: config.terminal.segmentBytes, maxBytes: config.terminal.tapeBytes };
  const holders: TerminalHolders = new TerminalHolders(
    world,
    { tape },
    {
      terminal: (id) => store.settled(id), // U6 of session-store.ts: rounds may come while an event is being written.
      terminals: () => store.allSettled(),
      submit: (command) => border.outcome(async () => decided(await store.submit(command)), command.id),
      lost: (id, loss) => border.outcome(() => lost.found(id, loss), id),
      farewell: (terminal, message) => moments.farewell(terminal, message),
      reply: async (id, question) => {
        const terminal = store.settled(id);
        return terminal && moments.reply(terminal, question);
      },
      onBug: (error, id) => void border.contain(id, error),
      guard: (id, work) => border.guard(id, work),
    },
  );
  const screens = new Screens(world, (crash) => {
    say(`the screen program (${crash.pid}) ended at work: ${crash.signal ?? crash.exitCode}, ${crash.reason}`);
    bus.publish(CRASH_DETECTED, crash);
  });
  const databases = new Databases(world, say);
  const agents = new AgentsInFront(world, {
    databases,
    taken: (id) => takenFrom(store, checkpoints, id),
    changed: (id, agent) => {
      if (agent !== undefined) markAgents(world);
      bus.publish(AGENT_CHANGED, { id, agent: agent ?? null });
    },
  });
  const checkpoints = openCheckpoints(ports, border, store, { holders, screens, agents });
  const moments = new LastMoments(checkpoints, screens);
  const restorer = new Restorer({
    ...{ place: world, store, holders },
    get shell() {
      return live.current.terminal.shell;
    },
    get rules() {
      return Object.values(live.current.restore);
    },
    known: (id) => moments.known(id),
    conversationsBut: (id) => checkpoints.conversationsBut(id),
    databases,
    whyWait: () => (ports.safeMode.isActive() && isRestoredCopy(world) ? "this home is a restored copy" : undefined),
  });
  const lost = new LostTerminals({
    terminal: (id) => store.terminals.get(id),
    note: (id, reason) => border.outcome(() => store.submit({ kind: "lost", id, reason }), id),
    stopRest: (of) => {
      const trusted = [...store.terminals.values()].filter(({ id }) => !links.isAside(id)); // TP1
      return stopOrphans(world, trusted, { of, spared: links.spared() });
    },
    restore: (terminal, reason) => restoreFound(restorer, terminal, reason),
    report: links.report,
  });
  return { store, holders, screens, checkpoints, restorer, agents, databases };
}

/** For holders, which do not look at who types in a home without agents. If the disk refuses, the next change tries. */
function markAgents({ disk, home }: HomeWorld): void {
  const path = joinPath(home, AGENTS_TYPED);
  try {
    if (disk.stat(path) === undefined) openRetrying(disk, path, "create").close();
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

/** AC3 of core/terminal/coding-agent.ts */
function takenFrom({ terminals }: TerminalStore, checkpoints: Checkpoints, id: string): ReadonlySet<string> {
  const terminal = terminals.get(id);
  const words = terminal === undefined ? [] : wordsOfOthers(terminal, terminals.values());
  return new Set([...words, ...checkpoints.conversationsBut(id)]);
}

function restoreFound(restorer: Restorer, terminal: Terminal, reason: string): Promise<ReportItem> {
  return restorer.restore(terminal, { reason, found: true, way: "plan", asked: false });
}

function openCheckpoints(
  { world, config, bus, safeMode, say }: PartPorts,
  border: PartBorder,
  store: TerminalStore,
  {
    holders,
    screens,
    agents,
  }: { readonly holders: TerminalHolders; readonly screens: Screens; readonly agents: AgentsInFront },
): Checkpoints {
  const checkpoints = new Checkpoints(world, config, {
    screens,
    agents,
    terminals: () => store.terminals.values(),
    status: (id) => holders.connections.status(id),
    isOff: () => safeMode.isActive(),
    say,
    onBug: (error, id) => void border.contain(id, error),
    guard: (id, work) => border.guard(id, work),
  });
  bus.subscribe(["terminal.*"], (topic) => checkpoints.heard(topic));
  return checkpoints;
}

function stagesOf({ world }: PartPorts, border: PartBorder, sessions: Sessions, links: SessionLinks) {
  const { holders, restorer } = sessions;
  let toldUpTo: string | undefined;
  return terminalStages({
    ...sessions,
    place: world,
    boot: () => (readTaken(world) === undefined ? world.processes.bootId() : ""),
    isAside: links.isAside,
    border,
    orphans: (terminals) => stopOrphans(world, terminals, { spared: links.spared() }),
    // Before anything is started, the last good checkpoint is pinned and the holder's program is built.
    prepare: async () => {
      await border.tolerating(() => pinCheckpoint(world.disk, world.home, new Date(world.clock.now()).toISOString()));
      await holders.programs.make();
    },
    restore: (terminal, reason) => restoreFound(restorer, terminal, reason),
    untold: (terminal) => {
      toldUpTo ??= readReport(world.disk, world.home, null)?.at ?? "";
      return (terminal.restored?.at ?? "") > toldUpTo ? restorer.restoredItem(terminal.id, terminal) : undefined;
    },
    waiting: (terminal) => restorer.waitingItem(terminal),
    progressed: links.progressed,
  });
}
