// An entry as a line for people, with its local time, or as JSON for programs, in UTC.
import { shortId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { visibleLine } from "../../base/visible.ts";
import type { Console } from "../../world/console.ts";
import { fit } from "../print.ts";
import type { EntryFound } from "./merge.ts";

/** Wide enough for most names, so that the data starts in one column. */
const EVENT_COLUMNS = 20;
/** Every character takes at least one cell, and an escape takes more: the rest of a longer text is not visible. */
const ENOUGH = 4;

/** Formats an entry, without its newline. `lastSeq` is the last seq, if known. */
export type EntryText = (found: EntryFound) => string;

export function entryText(console: Console, json: boolean, lastSeq: number): EntryText {
  if (json) return jsonText;
  const digits = Number.isFinite(lastSeq) ? String(lastSeq).length : 1;
  if (!console.out.tty) return (found) => visibleLine(lineOf(console, found, digits));
  return (found) => {
    const columns = console.out.columns();
    const line = lineOf(console, found, digits).slice(0, ENOUGH * columns);
    return fit(visibleLine(line), columns, (text) => console.widthOf(text));
  };
}

function jsonText({ session, entry }: EntryFound): string {
  const { seq, prev, session_id, ts, event, data, by } = entry;
  return visibleLine(JSON.stringify({ seq, prev, session, session_id, ts, event, data, by }));
}

function lineOf(console: Console, { entry }: EntryFound, digits: number): string {
  const seq = String(entry.seq).padStart(digits);
  const event = entry.event.padEnd(EVENT_COLUMNS);
  const by = entry.by === undefined ? "" : `  by ${JSON.stringify(entry.by)}`;
  const time = localTime(console, entry.ts);
  return `${seq}  ${time}  ${shortId(entry.session_id)}  ${event}  ${JSON.stringify(entry.data)}${by}`;
}
