// Replays the session logs into the state. A session whose fold throws, or whose log is not whole, is set aside: it is frozen, named
// in the report, and keeps nobody else from coming up. What was folded of it before the trouble is no ground for doing anything.
import type { ReportItem } from "../core/recovery.ts";
import type { EventLog } from "../log/event-log.ts";
import { terminalEventOf } from "../wire/stored.ts";
import type { Turn } from "./turn.ts";

export function foldTerminals(log: EventLog, turn: Turn): ReportItem[] {
  return log.sessions
    .filter((session) => session.startsWith("terminals/"))
    .flatMap((session) => {
      const trouble = foldOne(log, session, turn) ?? log.frozen(session);
      if (trouble === undefined) return [];
      log.freeze(session, trouble);
      const id = session.slice(session.lastIndexOf("/") + 1);
      return [item(id, turn.setAside(id, trouble), trouble)];
    });
}

/** What was wrong with it; undefined where it folded. */
function foldOne(log: EventLog, session: string, turn: Turn): string | undefined {
  try {
    for (const reading of log.read(session)) {
      if (reading.kind === "double") continue;
      if (reading.kind !== "entry") return `its log is not whole: ${reading.kind} at byte ${reading.start}`;
      const event = terminalEventOf(reading.entry);
      if (event !== undefined) turn.fold(event);
    }
    return undefined;
  } catch (error) {
    return `its events do not fold: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function item(id: string, name: string | undefined, reason: string): ReportItem {
  const short = id.slice(0, 12);
  const next = `holdfast log verify ${short}`;
  return { what: "terminal", id, name: name ?? short, fate: "needs you", reason, next };
}

/** When a terminal was removed, as its log says; undefined where it does not. */
export function removalTime(log: EventLog, id: string): number | undefined {
  for (const reading of log.read(`terminals/${id}`)) {
    if (reading.kind !== "entry" || reading.entry.event !== "terminal.removed") continue;
    const time = Date.parse(reading.entry.ts);
    return Number.isNaN(time) ? undefined : time;
  }
  return undefined;
}
