// The events of a terminal and how they fold. Names and fields are on disk: added to, never changed.
import { childOf, type Terminal, type TerminalSize, type TerminalState } from "./terminal.ts";

export type TerminalEvent =
  | { readonly event: "terminal.created"; readonly id: string; readonly data: Created }
  | { readonly event: "terminal.started"; readonly id: string; readonly data: Started }
  | { readonly event: "terminal.ended"; readonly id: string; readonly data: Ended }
  | {
      readonly event: "terminal.uncertain";
      readonly id: string;
      readonly data: { readonly reason: string; readonly generation: number };
    }
  | { readonly event: "terminal.renamed"; readonly id: string; readonly data: { readonly name: string } }
  | { readonly event: "terminal.moved"; readonly id: string; readonly data: { readonly lane: string } }
  | { readonly event: "terminal.signal.requested"; readonly id: string; readonly data: { readonly signal: string } }
  | { readonly event: "terminal.signalled"; readonly id: string; readonly data: Record<string, never> }
  | { readonly event: "terminal.removed"; readonly id: string; readonly data: Record<string, never> };

type Created = {
  readonly name: string;
  readonly lane: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize;
  readonly generation: number;
  readonly at: string;
};
type Started = {
  readonly pid: number;
  readonly start_time: number;
  readonly boot_id: string;
  readonly holder: number;
  readonly generation: number;
};
type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly generation: number;
  readonly at: string;
};

/** The terminal after the event; `before` is undefined for its first one. */
export function applyTerminal(before: Terminal | undefined, { event, id, data }: TerminalEvent): Terminal {
  if (event === "terminal.created") {
    const { name, lane, argv, cwd, env, size, generation, at } = data;
    const recipe = { argv, cwd, env, size };
    return {
      id,
      name,
      lane,
      recipe,
      generation,
      createdAt: at,
      state: { kind: "starting" },
      signal: undefined,
      removed: false,
    };
  }
  if (before === undefined) throw new Error(`${event} of terminal ${id}, which was never created`);
  if (event === "terminal.renamed") return { ...before, name: data.name };
  if (event === "terminal.moved") return { ...before, lane: data.lane };
  if (event === "terminal.removed") return { ...before, removed: true };
  if (event === "terminal.signal.requested") return { ...before, signal: { name: data.signal } };
  if (event === "terminal.signalled") return { ...before, signal: undefined };
  return {
    ...before,
    state: stateAfter(event, data, before.state),
    signal: event === "terminal.started" ? before.signal : undefined,
  };
}

function stateAfter(
  event: "terminal.started" | "terminal.ended" | "terminal.uncertain",
  data: Started | Ended | { reason: string },
  before: TerminalState,
): TerminalState {
  if ("reason" in data) return { kind: "uncertain", reason: data.reason, child: childOf(before) };
  if ("pid" in data) {
    return { kind: "running", pid: data.pid, startTime: data.start_time, bootId: data.boot_id, holder: data.holder };
  }
  if (event === "terminal.ended") return { kind: "ended", code: data.code, signal: data.signal, at: data.at };
  throw new Error(`${event} has the fields of another event`);
}
