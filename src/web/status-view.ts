// What the page shows, from the daemon and, while it is down, from the disk.
// V1. Only what the page needs is sent: no environment of any terminal, no token.
// V2. Safe mode is shown even while the daemon is down: that is when people look.
import { SAFE_MODE_OFF, type SafeModeState } from "../home/safe-mode.ts";
import type { ListedTerminal, StatusResult } from "../wire/rpc/rpc.ts";

export type TerminalRow = {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  /** starting, running (and since when, if restarted), ended (and how), uncertain (why, and what to do). */
  readonly state: string;
  readonly detail: string;
  readonly pid: number | null;
  readonly command: string;
  readonly cwd: string;
  readonly createdAt: string;
  readonly lastOutputAt: string | null;
  readonly clients: number;
};

export type SafeModeView =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly reason: string;
      readonly off: readonly string[];
      readonly leave: string;
      readonly report: string;
    };

export type DaemonView =
  | { readonly kind: "up"; readonly status: StatusResult; readonly terminals: readonly TerminalRow[] }
  | { readonly kind: "down"; readonly why: string };

export type StatusView = { readonly at: string; readonly daemon: DaemonView; readonly safeMode: SafeModeView };

export function rowOf(terminal: ListedTerminal): TerminalRow {
  const { id, name, lane, state, recipe, createdAt, lastOutputAt, clients } = terminal;
  return {
    ...{ id, name, lane, state: state.kind, detail: detailOf(terminal) },
    pid: state.kind === "running" ? state.pid : null,
    command: recipe.argv.join(" "),
    cwd: recipe.cwd,
    ...{ createdAt, lastOutputAt, clients },
  }; // V1
}

function detailOf({ name, state, restored }: ListedTerminal): string {
  if (state.kind === "uncertain") return `${state.reason} – holdfast restore ${name}`;
  if (state.kind !== "ended") return restored?.accepted === false ? `started again ${restored.at}` : "";
  return state.signal === null ? `exit code ${state.code}` : `ended by ${state.signal}`;
}

/** `file`: the mode on disk. A daemon that answers knows better (V2). */
export function safeModeView(file: SafeModeState, daemon: DaemonView): SafeModeView {
  const told = daemon.kind === "up" ? daemon.status.safeMode : undefined;
  if (!(told?.active ?? file.active)) return { active: false };
  return {
    active: true,
    reason: told?.reason ?? (file.active ? file.reason : "The reason is not on record."),
    off: SAFE_MODE_OFF.map(({ says }) => says),
    leave: "holdfast safe-mode exit",
    report: "holdfast recovery report",
  };
}
