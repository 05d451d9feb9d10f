// What is read back from disk, given its type again. The checksum says that it is what was written; this says that we know its shape.
// Events with names that this version does not know are passed over: a newer version may have written them.
import type { TerminalEvent } from "../core/terminal-events.ts";
import { isObject } from "./lines.ts";

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

/** The event in an entry; undefined where its name is not one of ours. Throws where a field is missing: that session is set aside. */
export function terminalEventOf({ session_id, event, data }: StoredEntry): TerminalEvent | undefined {
  if (!Object.hasOwn(TERMINAL_EVENTS, event)) return undefined;
  const fields = TERMINAL_EVENTS[event as TerminalEvent["event"]];
  const missing = fields.find((field) => !isObject(data) || !(field in data));
  if (missing !== undefined) throw new Error(`${event} of ${session_id} has no ${missing}`);
  return { event, id: session_id, data } as TerminalEvent;
}
