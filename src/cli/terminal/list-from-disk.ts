// The terminals of a home as recorded on disk, for when no daemon answers: their logs folded, and their holders' exit
// files.
// CS1. Read-only: nothing is written, locked or started.

import { applyTerminal, type TerminalEvent } from "../../core/terminal/events.ts";
import { childOf, type Terminal, type TerminalState } from "../../core/terminal/terminal.ts";
import { readHeld } from "../../home/held/held-state.ts";
import { startedElsewhere, tapeDirectory, terminalDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { terminalEventOf } from "../../wire/stored/terminal.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { foldedIn } from "../disk-reader.ts";
import { steadyView } from "../log/view.ts";
import { askHolder } from "./reconnecting-holder.ts";

const SESSIONS = "terminals/";

export async function listFromDisk(world: DaemonCommandWorld, home: string): Promise<ListedTerminal[]> {
  const terminals = await recorded(world, home);
  return Promise.all(terminals.map((terminal) => listed(world, home, terminal)));
}

/** Reads only the disk. */
export async function recorded(world: DaemonCommandWorld, home: string): Promise<Terminal[]> {
  if (world.disk.stat(home) === undefined) return [];
  const view = await steadyView(world, home);
  const folding = { eventOf: terminalEventOf, apply: applyTerminal };
  const terminals = foldedIn<Terminal, TerminalEvent>(view, SESSIONS, folding);
  return terminals
    .filter(({ removed }) => !removed)
    .map((terminal) => ({ ...terminal, state: stateNow(world, home, terminal) }));
}

/** The holder's exit file is newer than the log, which nobody writes now. */
function stateNow({ disk, processes }: DaemonCommandWorld, home: string, terminal: Terminal): TerminalState {
  const { state, generation } = terminal;
  if (state.kind === "ended") return state;
  const held = readHeld({ ...terminalFiles(disk, home, terminal.id), processes }, generation);
  if (held.kind === "ended") return { kind: "ended", code: held.exit.code, signal: held.exit.signal, at: held.exit.at };
  const waits = (reason: string): TerminalState => ({ kind: "uncertain", reason, child: childOf(state) });
  if (held.kind === "lost") return waits("its process was lost; exit status unknown");
  const isCopied = held.kind === "claimed" && startedElsewhere({ disk, home }, terminalDirectory(home, terminal.id));
  return isCopied ? waits("its program belongs to the home that this one was copied from") : state;
}

async function listed(world: DaemonCommandWorld, home: string, terminal: Terminal): Promise<ListedTerminal> {
  const place = terminalFiles(world.disk, home, terminal.id);
  const status = terminal.state.kind === "running" ? await askHolder(world, place) : undefined;
  return {
    ...terminal,
    clients: Math.max(0, (status?.clients ?? 1) - 1), // One of them is us.
    lastOutputAt: status?.lastOutputAt ?? null,
    bytes: status?.tape.end ?? new TapeReader(world.disk, tapeDirectory(place)).end,
  };
}
