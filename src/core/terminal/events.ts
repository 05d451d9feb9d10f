// The events of a terminal and how they fold. Names and fields are on disk: added to, never changed.
import type { Evidence, RestorePolicy, RestoreStart } from "./restoration.ts";
import { childOf, type Terminal, type TerminalSize, type TerminalState } from "./terminal.ts";

export type TerminalEvent =
  | { readonly event: "terminal.created"; readonly id: string; readonly data: Created }
  | { readonly event: "terminal.started"; readonly id: string; readonly data: Started }
  | { readonly event: "terminal.ended"; readonly id: string; readonly data: Ended }
  | {
      readonly event: "terminal.uncertain";
      readonly id: string;
      readonly data: Uncertain;
    }
  | { readonly event: "terminal.restored"; readonly id: string; readonly data: RestoredData }
  | {
      readonly event: "terminal.accepted";
      readonly id: string;
      readonly data: { readonly generation: number; readonly by: string; readonly at: string };
    }
  | { readonly event: "terminal.rollback.requested"; readonly id: string; readonly data: AtGeneration }
  | { readonly event: "terminal.rolledback"; readonly id: string; readonly data: AtGeneration }
  | {
      readonly event: "terminal.policy.changed";
      readonly id: string;
      readonly data: { readonly policy: RestorePolicy };
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
  readonly policy?: RestorePolicy;
  readonly unset?: readonly string[];
};
type AtGeneration = { readonly generation: number; readonly at: string };
type Uncertain = { readonly reason: string; readonly generation: number; readonly evidence?: Evidence };
type RestoredData = Omit<RestoreStart, "screenAgeMs"> & AtGeneration & { readonly screen_age_ms: number | null };
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
  readonly stopped_in?: string;
};

/** Enough to see that a terminal is restored over and over. */
const RESTORATIONS_KEPT = 3;

/** The terminal after the event; `before` is undefined for its first one. */
export function applyTerminal(before: Terminal | undefined, { event, id, data }: TerminalEvent): Terminal {
  if (event === "terminal.created") return created(id, data);
  if (before === undefined) throw new Error(`${event} of terminal ${id}, which was never created`);
  if (event === "terminal.renamed") return { ...before, name: data.name };
  if (event === "terminal.moved") return { ...before, lane: data.lane };
  if (event === "terminal.removed") return { ...before, removed: true };
  if (event === "terminal.signal.requested") return { ...before, signal: { name: data.signal } };
  if (event === "terminal.signalled") return { ...before, signal: undefined };
  if (event === "terminal.policy.changed") return { ...before, policy: data.policy };
  if (event === "terminal.restored") return restored(before, data);
  if (event === "terminal.accepted") {
    return { ...before, restored: before.restored && { ...before.restored, accepted: true } };
  }
  if (event === "terminal.rollback.requested") return { ...before, rollingBack: true };
  if (event === "terminal.rolledback") return rolledBack(before);
  return {
    ...before,
    state: stateAfter(event, data, before.state),
    signal: event === "terminal.started" ? before.signal : undefined,
    rollingBack: before.rollingBack && event === "terminal.started",
  };
}

function created(id: string, data: Created): Terminal {
  const { name, lane, argv, cwd, env, size, generation, at, policy, unset } = data;
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
    unset: unset ?? [],
    policy: policy ?? "auto",
    restored: undefined,
    restorations: [],
    rollingBack: false,
    removed: false,
  };
}

function restored(before: Terminal, data: RestoredData): Terminal {
  const { generation, screen_age_ms, at, ...start } = data;
  return {
    ...before,
    generation,
    state: { kind: "starting" },
    signal: undefined,
    restored: { ...start, screenAgeMs: screen_age_ms, at, accepted: false },
    restorations: [...before.restorations, at].slice(-RESTORATIONS_KEPT),
    rollingBack: false,
  };
}

/** As it was found before it was restored, so that it can be restored another way. */
function rolledBack(before: Terminal): Terminal {
  const { restored: last } = before;
  const reason = last === undefined ? "its restoration was rolled back" : `rolled back; before that: ${last.reason}`;
  const known = last?.evidence == null ? {} : { evidence: last.evidence };
  return {
    ...before,
    state: { kind: "uncertain", reason, child: childOf(before.state), ...known, rolledBack: true },
    signal: undefined,
    restored: undefined,
    rollingBack: false,
  };
}

function stateAfter(
  event: "terminal.started" | "terminal.ended" | "terminal.uncertain",
  data: Started | Ended | Uncertain,
  before: TerminalState,
): TerminalState {
  if ("reason" in data) {
    const known = data.evidence && { evidence: data.evidence };
    return { kind: "uncertain", reason: data.reason, child: childOf(before), ...known };
  }
  if ("pid" in data) {
    return { kind: "running", pid: data.pid, startTime: data.start_time, bootId: data.boot_id, holder: data.holder };
  }
  if (event === "terminal.ended") {
    const stopped = data.stopped_in === undefined ? {} : { stoppedIn: data.stopped_in };
    return { kind: "ended", code: data.code, signal: data.signal, at: data.at, ...stopped };
  }
  throw new Error(`${event} has the fields of another event`);
}
