// Events of terminals and tmux sessions that are read back from disk (event.ts has the rules).
import type { TerminalEvent } from "../../core/terminal/events.ts";
import type { TmuxEvent } from "../../core/tmux/events.ts";
import { type EventFields, eventOf, type StoredEntry } from "./event.ts";

const TERMINAL_EVENTS: EventFields<TerminalEvent> = {
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

const TMUX_EVENTS: EventFields<TmuxEvent> = {
  "tmux.adopted": ["socket", "name", "policy", "session", "server", "at"],
  "tmux.recreated": ["name", "notes", "session", "server", "at"],
  "tmux.lost": ["reason", "wanted", "at"],
  "tmux.ended": ["reason", "at"],
  "tmux.wanted": ["at"],
  "tmux.named": ["name"],
  "tmux.released": ["at"],
};

export function terminalEventOf(entry: StoredEntry): TerminalEvent | undefined {
  return eventOf<TerminalEvent>(TERMINAL_EVENTS, entry);
}

export function tmuxEventOf(entry: StoredEntry): TmuxEvent | undefined {
  return eventOf<TmuxEvent>(TMUX_EVENTS, entry);
}
