// An agent's past for people, in stretches of its log from the end backwards, or onwards from where a reader is.
// AY1. The cost of a stretch does not depend on how long the log is: it is found from the end of the file that has it.
// AY2. A stretch has about as many rows as were asked for, and is not made of more entries than that, nor of long ones
//      without end. It has at least one entry, if there is one, and all rows of each.
// AY3. Only what is durable is in it. An entry that cannot be read is a row that says so.
// AY4. Looking at it is no sign of the operator: a page that is left open must not keep prompts from expiring.
import { ok, type Result, refused } from "../../base/result.ts";
import { agentSession } from "../../core/agent/agent.ts";
import { type HistoryPiece, historyOf, historyText } from "../../core/agent/history.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Entry } from "../../log/session/entry.ts";
import type { Reading } from "../../log/session/session-log.ts";
import type { AgentHistory, HistoryRow } from "../../wire/rpc/agent.ts";
import type { Params } from "../../wire/rpc/params.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";

/** More than a window shows. */
const MAX_LIMIT = 500;
/** AY2. Of the log; a stretch of short lines is some ten kilobytes. */
const MAX_BYTES = 1 << 20;

type Wish = Params<"agent.history">;
/** An entry, and its rows: of bookkeeping, none. */
type Told = { readonly entry: Entry; readonly rows: readonly HistoryRow[] };

export function agentHistory(log: EventLog, wish: Wish): Result<AgentHistory> {
  const session = agentSession(wish.id);
  if (log.lastSeq(session) === 0) return ARCHIVED;
  const most = Math.max(1, Math.min(wish.limit ?? MAX_LIMIT, MAX_LIMIT));
  if (wish.after === undefined) return ok(backwards(log, session, wish.before, most));
  const readings = log.readAfter(session, wish.after);
  if (readings === undefined) return refused("unknown", `There is no entry ${wish.after}.`, "Reload the page.");
  const { told, isCut } = first(readings, most);
  const last = told.at(-1)?.entry.seq ?? wish.after;
  return ok({ rows: rowsIn(told), earlier: wish.after + 1, later: isCut ? last : null, last });
}

const ARCHIVED = refused(
  "archived",
  "This agent has ended, and its log was put away.",
  "`holdfast agent log ID` shows it.",
);

/** What a new conversation gets of the old one (core/agent/fresh.ts): the newest of it, as text. */
export function toldHistory(log: EventLog, id: string): string {
  const { rows } = backwards(log, agentSession(id), undefined, MAX_LIMIT);
  return historyText(rows);
}

/** AY1 */
function backwards(log: EventLog, session: string, before: number | undefined, most: number): AgentHistory {
  const until = before === undefined ? Number.POSITIVE_INFINITY : before - 1;
  let [left, bytes] = [most, 0];
  const stop = (seq: number, length: number) => {
    if (seq > until) return false;
    bytes += length;
    left -= 1;
    return left < 0 || (bytes > MAX_BYTES && left < most - 1); // AY2
  };
  const told = lastOf(toldOf(log.readBack(session, stop, until)), most);
  const [begin, end] = [told[0]?.entry, told.at(-1)?.entry];
  const last = end?.seq ?? 0;
  return {
    rows: rowsIn(told),
    earlier: begin === undefined || begin.prev === 0 ? null : begin.seq,
    later: last < log.lastSeq(session) && before !== undefined ? last : null,
    last,
  };
}

function* toldOf(readings: Iterable<Reading>): Generator<Told> {
  for (const reading of readings) if (reading.kind === "entry") yield toldEntry(reading.entry);
}

function rowsIn(told: readonly Told[]): HistoryRow[] {
  return told.flatMap(({ rows }) => rows);
}

/** AY2 */
function lastOf(readings: Iterable<Told>, most: number): Told[] {
  const told = [...readings].slice(-most);
  let rows = 0;
  const full = told.findLastIndex((one) => {
    rows += one.rows.length;
    return rows >= most;
  });
  return full < 0 ? told : told.slice(full);
}

/** AY2 */
function first(readings: Iterable<Reading>, most: number): { readonly told: readonly Told[]; readonly isCut: boolean } {
  const told: Told[] = [];
  let [rows, bytes] = [0, 0];
  for (const one of toldOf(readings)) {
    if (told.length === most || rows >= most || bytes > MAX_BYTES) return { told, isCut: true };
    told.push(one);
    rows += one.rows.length;
    bytes += JSON.stringify(one.entry.data).length;
  }
  return { told, isCut: false };
}

function toldEntry(entry: Entry): Told {
  const { seq, ts: at } = entry;
  return { entry, rows: piecesOf(entry).map((piece) => ({ ...piece, seq, at })) };
}

/** AY3 */
function piecesOf(entry: Entry): HistoryPiece[] {
  try {
    const event = agentEventOf(entry);
    return event === undefined ? [] : historyOf(event);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [{ kind: "life", what: `The entry ${entry.seq} (${entry.event}) cannot be read`, text, isBad: true }];
  }
}
