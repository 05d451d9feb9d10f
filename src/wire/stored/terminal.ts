// What is read back from disk, given its type again. The checksum says that it is what was written; this says that we know its shape.
// Events with names that this version does not know are passed over: a newer version may have written them.
import type { TerminalEvent } from "../../core/terminal/events.ts";
import type { TmuxEvent } from "../../core/tmux/events.ts";
import { isObject } from "../lines.ts";

type StoredEntry = { readonly session_id: string; readonly event: string; readonly data: unknown };

const TERMINAL_EVENTS: Readonly<Record<TerminalEvent["event"], readonly string[]>> = {
  "terminal.created": ["name", "lane", "argv", "cwd", "env", "size", "generation", "at"],
  "terminal.started": ["pid", "start_time", "boot_id", "holder", "generation"],
  "terminal.ended": ["code", "signal", "generation", "at"],
  "terminal.uncertain": ["reason", "generation"],
  "terminal.restored": ["generation", "argv", "cwd", "typed", "message", "reason", "notes", "at"],
  "terminal.accepted": ["generation"],
  "terminal.rollback.requested": ["generation"],
  "terminal.rolledback": ["generation"],
  "terminal.policy.changed": ["policy"],
  "terminal.renamed": ["name"],
  "terminal.moved": ["lane"],
  "terminal.signal.requested": ["signal"],
  "terminal.signalled": [],
  "terminal.removed": [],
};

const TMUX_EVENTS: Readonly<Record<TmuxEvent["event"], readonly string[]>> = {
  "tmux.adopted": ["socket", "name", "policy", "session", "server", "at"],
  "tmux.recreated": ["name", "notes", "session", "server", "at"],
  "tmux.lost": ["reason", "wanted", "at"],
  "tmux.ended": ["reason", "at"],
  "tmux.wanted": ["at"],
  "tmux.named": ["name"],
  "tmux.released": ["at"],
};

/** The event in an entry; undefined where its name is not one of ours. Throws where a field is missing: that session is set aside. */
export function terminalEventOf(entry: StoredEntry): TerminalEvent | undefined {
  return eventOf(TERMINAL_EVENTS, entry) as TerminalEvent | undefined;
}

/** As `terminalEventOf`. */
export function tmuxEventOf(entry: StoredEntry): TmuxEvent | undefined {
  return eventOf(TMUX_EVENTS, entry) as TmuxEvent | undefined;
}

function eventOf(
  known: Readonly<Record<string, readonly string[]>>,
  { session_id, event, data }: StoredEntry,
): unknown {
  const fields = Object.hasOwn(known, event) ? known[event] : undefined;
  if (fields === undefined) return undefined;
  const missing = fields.find((field) => !isObject(data) || !(field in data));
  if (missing !== undefined) throw new Error(`${event} of ${session_id} has no ${missing}`);
  return { event, id: session_id, data };
}
