// Replays the session logs into the state. A session whose fold throws, or whose log is not whole, is set aside: it is frozen, named
// in the report, and keeps nobody else from coming up. What was folded of it before the trouble is no ground for doing anything.
// FO1. A run, and an agent, begins with its checkpoint, and only what its log says since is read. A checkpoint whose last entry the log does not have, and
//      one that cannot be used, is said and passed over: the log alone has everything.
// FO2. Runs and agents are many, and may have no checkpoints: they are folded in slices, and between two of them everybody else has a turn.
//      What an earlier try left of an agent is forgotten first.
import type { AgentRecord } from "../core/agent/agent.ts";
import { applyAgent } from "../core/agent/apply.ts";
import { putAway } from "../core/agent/conversation.ts";
import type { ReportItem } from "../core/recovery.ts";
import { fromCheckpoint } from "../core/workflow/checkpoint.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Entry } from "../log/session/entry.ts";
import type { Reading } from "../log/session/session-log.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import { agentEventOf } from "../wire/stored/agent.ts";
import { terminalEventOf, tmuxEventOf } from "../wire/stored/terminal.ts";
import { workflowEventOf } from "../wire/stored/workflow.ts";
import type { Clock } from "../world/clock.ts";
import type { AgentCheckpoints } from "./agent/checkpoints.ts";
import type { AgentStore } from "./agent/store.ts";
import { atOnce, inSlices } from "./slices.ts";
import type { TerminalStore } from "./terminal/store.ts";
import type { TmuxStore } from "./tmux/store.ts";
import type { CheckpointStorage } from "./workflow/checkpoint-storage.ts";
import type { WorkflowStore } from "./workflow/store.ts";

type Folding = {
  readonly place: string;
  readonly what: string;
  /** What is to be folded of its log, once what came before is there (FO1); absent: all of it. */
  begin?(session: string): Iterable<Reading>;
  /** Throws where the entry does not fold. */
  fold(entry: Entry): void;
  /** All of it is folded. */
  end?(id: string): void;
  /** Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined;
};

export function foldTerminals(log: EventLog, store: TerminalStore): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = terminalEventOf(entry);
    if (event !== undefined) store.fold(event);
  };
  const setAside = (id: string, reason: string) => store.setAside(id, reason);
  return atOnce(foldSessions(log, { place: "terminals/", what: "terminal", fold, setAside }));
}

export function foldTmux(log: EventLog, store: TmuxStore): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = tmuxEventOf(entry);
    if (event !== undefined) store.fold(event);
  };
  const setAside = (id: string, reason: string) => store.setAside(id, reason);
  return atOnce(foldSessions(log, { place: "tmux/", what: "tmux session", fold, setAside }));
}

/** Says after each step how many sessions are read. */
export type Steps = Generator<HowFar, ReportItem[]>;

export type RunFolding = { readonly storage: CheckpointStorage; say(words: string): void };

/** FO1, FO2 */
export function foldWorkflows(log: EventLog, store: WorkflowStore, { storage, say }: RunFolding): Steps {
  const begin = (session: string) => {
    const { base, problems } = storage.base(session);
    for (const problem of problems) say(`a checkpoint is passed over: ${problem}`);
    const isIts = base !== undefined && session.endsWith(`/${base.saved.session_id}`);
    const tail = isIts ? log.readAfter(session, base.seq) : undefined;
    if (base === undefined || tail === undefined) return log.read(session);
    store.begin(fromCheckpoint(base.saved));
    return tail;
  };
  const fold = (entry: Entry) => {
    const event = workflowEventOf(entry);
    if (event !== undefined) store.fold(event);
  };
  const setAside = (id: string, reason: string) => store.setAside(id, reason);
  return foldSessions(log, { place: "state/", what: "workflow", begin, fold, setAside });
}

export type HowFar = { readonly done: number; readonly total: number };

/** Before all sessions of a kind are, nothing is said of any: a part of them would pass for all. */
export type Read = { readonly kind: "unread" } | ({ readonly kind: "reading" } & HowFar) | { readonly kind: "read" };

/** What the status says of it. */
export function readingOf(
  what: string,
  read: Read | undefined,
): NonNullable<StatusResult["recovery"]["reading"]> | null {
  return read?.kind === "reading" ? { what, done: read.done, total: read.total } : null;
}

export type AgentFolding = {
  readonly checkpoints: AgentCheckpoints;
  readonly clock: Clock;
  /** Told after every slice. */
  progressed(so: HowFar): void;
};

/** FO1, FO2. Each is put into the tree when all of it is folded: that costs the tree one change and not one for each event. */
export function foldAgents(log: EventLog, store: AgentStore, folding: AgentFolding): Promise<ReportItem[]> {
  const { checkpoints } = folding;
  let folded: AgentRecord | undefined;
  const begin = (session: string) => {
    const id = session.slice(session.lastIndexOf("/") + 1);
    store.put(id, undefined);
    const saved = checkpoints.load(id);
    const tail = saved && log.readAfter(session, saved.seq);
    folded = tail === undefined ? undefined : saved?.agentRecord;
    return tail ?? log.read(session);
  };
  const fold = (entry: Entry) => {
    const event = agentEventOf(entry);
    if (event !== undefined) folded = applyAgent(folded, event);
  };
  const end = (id: string) => {
    if (folded?.kind === "agent") store.put(id, { ...folded, conversation: putAway(folded.conversation) });
    else store.put(id, folded);
  };
  const setAside = () => (folded?.kind === "agent" ? folded.name : undefined);
  const steps = foldSessions(log, { place: "agents/", what: "agent", begin, fold, end, setAside });
  return inSlices(folding.clock, steps, folding.progressed);
}

function* foldSessions(log: EventLog, folding: Folding): Steps {
  const { place, what, end, setAside } = folding;
  const sessions = log.sessions.filter((session) => session.startsWith(place));
  const items: ReportItem[] = [];
  for (const [done, session] of sessions.entries()) {
    const trouble = (yield* foldOne(log, session, folding, { done, total: sessions.length })) ?? log.frozen(session);
    const id = session.slice(session.lastIndexOf("/") + 1);
    if (trouble === undefined) {
      end?.(id);
      continue;
    }
    log.freeze(session, trouble);
    items.push(item(what, id, setAside(id, trouble), trouble));
  }
  return items;
}

/** What was wrong with it; undefined where it folded. */
function* foldOne(
  log: EventLog,
  session: string,
  { begin, fold }: Folding,
  so: HowFar,
): Generator<HowFar, string | undefined> {
  try {
    const readings = begin?.(session) ?? log.read(session);
    yield so;
    for (const reading of readings) {
      if (reading.kind === "double") continue;
      if (reading.kind !== "entry") return `its log is not whole: ${reading.kind} at byte ${reading.start}`;
      fold(reading.entry);
      yield so;
    }
    return undefined;
  } catch (error) {
    return `its events do not fold: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function item(what: string, id: string, name: string | undefined, reason: string): ReportItem {
  const short = id.slice(0, 12);
  const next = `holdfast log verify ${short}`;
  return { what, id, name: name ?? short, fate: "needs you", reason, next };
}

/** When a session was let go of, as its log says; undefined where it does not. */
export function removalTime(
  log: EventLog,
  session: string,
  event: "terminal.removed" | "tmux.released",
): number | undefined {
  for (const reading of log.read(session)) {
    if (reading.kind !== "entry" || reading.entry.event !== event) continue;
    const time = Date.parse(reading.entry.ts);
    return Number.isNaN(time) ? undefined : time;
  }
  return undefined;
}
