// Terminals: their states, commands and effects. decide.ts and events.ts change them. Pure: time, ids and everything
// from the
// world come in as arguments.
// T1. A terminal's life is its events; a command gives events or a refusal, never both.
// T2. Effects are derived from the state (`effectsOf`): after a crash, what has no outcome is simply done again.
import type { Evidence, Restored, RestorePolicy, RestoreStart } from "./restoration.ts";

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** What a terminal is started with, and would be started with again. */
export type Recipe = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize;
};

/** The program itself: a pid alone may be reused. */
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
      /**
       * The boot in which its holder was asked to leave, and ended it: if that boot is over, the machine took it along.
       */
      readonly stoppedIn?: string;
    }
  /**
   * It was started, but how it ended is unknown: never run again automatically. What was known of it is kept for a
   * restoration.
   */
  | {
      readonly kind: "uncertain";
      readonly reason: string;
      readonly child: Child | undefined;
      readonly evidence?: Evidence;
      /** A restoration was rolled back: reports about its program no longer matter. */
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
  /** A signal that was requested and not yet confirmed. */
  readonly signal: { readonly name: string } | undefined;
  /** Variables that its program had at first and that are not stored: names only. */
  readonly unset: readonly string[];
  readonly policy: RestorePolicy;
  /** How this generation was started, if by a restoration. */
  readonly restored: Restored | undefined;
  /** When it was restored, the last few times. */
  readonly restorations: readonly string[];
  /** The restored program is to end, and the terminal to be as it was found. */
  readonly rollingBack: boolean;
  readonly removed: boolean;
};

export type Terminals = ReadonlyMap<string, Terminal>;

/** What this generation is started from. */
export function recipeNow({ recipe, restored }: Terminal): Recipe {
  if (restored === undefined) return recipe;
  const { argv, cwd, evidence } = restored;
  return { ...recipe, argv, cwd, size: evidence?.size ?? recipe.size };
}

/** The program, if it was ever seen and its end was not: used to find what it may have left behind. */
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
      /** How it was found, if it was just found (TR2 of decide-restore.ts). */
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
      /** An ended terminal of the same name, which is removed by the same decision. */
      readonly replaces?: string;
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
