// Terminals: their states, commands and effects. decide.ts and events.ts change them. Pure: time, ids and everything the world says come
// in as arguments.
// T1. A terminal's life is its events; a command gives events or a refusal, and never both.
// T2. What is to be done in the world is read off the state (`effectsOf`): after a crash, what has no outcome is simply done again.
import type { Evidence, Restored, RestorePolicy, RestoreStart } from "./restoration.ts";

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** What a terminal is started with, and would be started with again. */
export type Recipe = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize;
};

/** The program itself: its pid alone would be somebody else's one day. */
export type Child = { readonly pid: number; readonly startTime: number; readonly bootId: string };

export type TerminalState =
  /** Its creation is durable; no holder has answered yet. */
  | { readonly kind: "starting" }
  | ({ readonly kind: "running"; readonly holder: number } & Child)
  | {
      readonly kind: "ended";
      readonly code: number | null;
      readonly signal: string | null;
      readonly at: string;
      /** The boot in which its holder was told to leave, and ended it: where that boot is over, the machine took it along. */
      readonly stoppedIn?: string;
    }
  /** It was started, and how it ended is not known: never run again by itself. What was known of it waits for a restoration. */
  | {
      readonly kind: "uncertain";
      readonly reason: string;
      readonly child: Child | undefined;
      readonly evidence?: Evidence;
      /** A restoration was taken back: what became of its program is of no interest any more. */
      readonly rolledBack?: true;
    };

export type Terminal = {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly recipe: Recipe;
  readonly generation: number;
  readonly createdAt: string;
  readonly state: TerminalState;
  /** A signal that was asked for and not yet confirmed. */
  readonly signal: { readonly name: string } | undefined;
  /** Variables that its program had at first and that are stored nowhere: names only. */
  readonly unset: readonly string[];
  readonly policy: RestorePolicy;
  /** How this generation was started, where a restoration did. */
  readonly restored: Restored | undefined;
  /** When it was restored, the last few times. */
  readonly restorations: readonly string[];
  /** The restored program is to end, and the terminal to be as it was found. */
  readonly rollingBack: boolean;
  readonly removed: boolean;
};

export type Terminals = ReadonlyMap<string, Terminal>;

/** The program, where it was ever seen and its end was not: what it may have left behind is known by it. */
export function childOf(state: TerminalState): Child | undefined {
  if (state.kind === "uncertain") return state.child;
  if (state.kind !== "running") return undefined;
  const { pid, startTime, bootId } = state;
  return { pid, startTime, bootId };
}

export type RestorationCommand =
  | {
      readonly kind: "restore";
      readonly id: string;
      readonly generation: number;
      /** How it was found, where it was just found (TR2 of decide-restore.ts). */
      readonly lost?: { readonly reason: string; readonly evidence?: Evidence };
      readonly start: RestoreStart;
    }
  | { readonly kind: "accept"; readonly id: string; readonly by: string }
  | { readonly kind: "rollback"; readonly id: string }
  | { readonly kind: "policy"; readonly id: string; readonly policy: RestorePolicy };

export type TerminalCommand =
  | {
      readonly kind: "create";
      readonly id: string;
      readonly name: string;
      readonly lane: string;
      readonly recipe: Recipe;
      readonly policy?: RestorePolicy;
      readonly unset?: readonly string[];
    }
  | RestorationCommand
  | { readonly kind: "rename"; readonly id: string; readonly name: string }
  | { readonly kind: "move"; readonly id: string; readonly lane: string }
  | { readonly kind: "signal"; readonly id: string; readonly signal: string }
  | { readonly kind: "remove"; readonly id: string }
  | { readonly kind: "started"; readonly id: string; readonly child: Child; readonly holder: number }
  | { readonly kind: "signalled"; readonly id: string }
  | ({ readonly kind: "ended"; readonly id: string } & Ending)
  | { readonly kind: "lost"; readonly id: string; readonly reason: string; readonly evidence?: Evidence };

export type Ending = { readonly code: number | null; readonly signal: string | null; readonly stoppedIn?: string };

export type Effect =
  | { readonly kind: "start"; readonly id: string }
  | { readonly kind: "signal"; readonly id: string; readonly signal: string }
  | { readonly kind: "end"; readonly id: string }
  | { readonly kind: "discard"; readonly id: string };

/** T2: what has no outcome yet. */
export function effectsOf(terminal: Terminal): Effect[] {
  if (terminal.removed) return [{ kind: "discard", id: terminal.id }];
  if (terminal.state.kind === "starting") return [{ kind: "start", id: terminal.id }];
  if (terminal.state.kind === "running" && terminal.rollingBack) return [{ kind: "end", id: terminal.id }];
  if (terminal.state.kind === "running" && terminal.signal !== undefined) {
    return [{ kind: "signal", id: terminal.id, signal: terminal.signal.name }];
  }
  return [];
}
