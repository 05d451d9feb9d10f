// Replays the session logs into the state. A session whose fold throws, or whose log is not whole, is set aside: it is frozen, named
// in the report, and keeps nobody else from coming up. What was folded of it before the trouble is no ground for doing anything.
import type { ReportItem } from "../core/recovery.ts";
import type { Entry } from "../log/entry.ts";
import type { EventLog } from "../log/event-log.ts";
import { agentEventOf } from "../wire/agents/stored-agent.ts";
import { terminalEventOf, tmuxEventOf } from "../wire/stored.ts";
import { workflowEventOf } from "../wire/stored-workflow.ts";
import type { AgentTurn } from "./agents/turn.ts";
import type { TmuxTurn } from "./tmux/turn.ts";
import type { Turn } from "./turn.ts";
import type { WorkflowTurn } from "./workflows/turn.ts";

type Folding = {
  readonly place: string;
  readonly what: string;
  /** Throws where the entry does not fold. */
  fold(entry: Entry): void;
  /** Returns its name where one is known. */
  setAside(id: string, reason: string): string | undefined;
};

export function foldTerminals(log: EventLog, turn: Turn): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = terminalEventOf(entry);
    if (event !== undefined) turn.fold(event);
  };
  const setAside = (id: string, reason: string) => turn.setAside(id, reason);
  return foldSessions(log, { place: "terminals/", what: "terminal", fold, setAside });
}

export function foldTmux(log: EventLog, turn: TmuxTurn): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = tmuxEventOf(entry);
    if (event !== undefined) turn.fold(event);
  };
  const setAside = (id: string, reason: string) => turn.setAside(id, reason);
  return foldSessions(log, { place: "tmux/", what: "tmux session", fold, setAside });
}

export function foldWorkflows(log: EventLog, turn: WorkflowTurn): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = workflowEventOf(entry);
    if (event !== undefined) turn.fold(event);
  };
  const setAside = (id: string, reason: string) => turn.setAside(id, reason);
  return foldSessions(log, { place: "state/", what: "workflow", fold, setAside });
}

export function foldAgents(log: EventLog, turn: AgentTurn): ReportItem[] {
  const fold = (entry: Entry) => {
    const event = agentEventOf(entry);
    if (event !== undefined) turn.fold(event);
  };
  const setAside = (id: string) => turn.setAside(id);
  return foldSessions(log, { place: "agents/", what: "agent", fold, setAside });
}

function foldSessions(log: EventLog, { place, what, fold, setAside }: Folding): ReportItem[] {
  return log.sessions
    .filter((session) => session.startsWith(place))
    .flatMap((session) => {
      const trouble = foldOne(log, session, fold) ?? log.frozen(session);
      if (trouble === undefined) return [];
      log.freeze(session, trouble);
      const id = session.slice(session.lastIndexOf("/") + 1);
      return [item(what, id, setAside(id, trouble), trouble)];
    });
}

/** What was wrong with it; undefined where it folded. */
function foldOne(log: EventLog, session: string, fold: Folding["fold"]): string | undefined {
  try {
    for (const reading of log.read(session)) {
      if (reading.kind === "double") continue;
      if (reading.kind !== "entry") return `its log is not whole: ${reading.kind} at byte ${reading.start}`;
      fold(reading.entry);
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
