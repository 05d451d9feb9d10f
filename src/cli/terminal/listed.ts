// A terminal as `ls --json` and `new --json` print it. Other programs rely on this: fields are added, never changed.
import type { AgentState } from "../../core/terminal/agent-in-front.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";

export type Row = {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly state: "starting" | "running" | "ended" | "uncertain";
  /** The program's pid. */
  readonly pid: number | null;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly createdAt: string;
  readonly clients: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly lastOutputAt: string | null;
  readonly policy: RestorePolicy;
  readonly generation: number;
  /** When it was restarted after a crash, if that has not been accepted yet. */
  readonly restoredAt: string | null;
  /** What was started last: `command`, or its shell if it was restored as that. */
  readonly program: readonly string[];
  /** A command that a restoration has typed at the prompt and not run; null if there is none, or a person was there. */
  readonly typed: string | null;
  /** Why it is not started yet, although it was tried; it is tried again. */
  readonly trouble?: string;
  /** The agent CLI that runs in front of it; null if there is none, or the daemon is not running. */
  readonly agent: {
    readonly name: string;
    /** Its conversation; null if that is not certain. */
    readonly session: string | null;
    readonly state: AgentState;
  } | null;
};

export function rowOf(terminal: BriefTerminal): Row {
  const {
    id,
    name,
    lane,
    state,
    recipe,
    createdAt,
    clients,
    lastOutputAt,
    policy,
    generation,
    restored,
    trouble,
    agent,
  } = terminal;
  return {
    id,
    name,
    lane,
    state: state.kind,
    pid: state.kind === "running" ? state.pid : null,
    command: recipe.argv,
    cwd: recipe.cwd,
    createdAt,
    clients,
    exitCode: state.kind === "ended" ? state.code : null,
    signal: state.kind === "ended" ? state.signal : null,
    lastOutputAt,
    policy,
    generation,
    restoredAt: restored === undefined || restored.accepted ? null : restored.at,
    program: (restored ?? recipe).argv,
    typed: typedIn(terminal),
    ...(trouble !== undefined && { trouble }),
    agent: agent === undefined ? null : { name: agent.name, session: agent.session ?? null, state: agent.state },
  };
}

function typedIn({ state, restored }: BriefTerminal): string | null {
  if (state.kind !== "running" || restored === undefined || restored.accepted) return null;
  return restored.typed === "" || restored.typed.endsWith("\r") ? null : restored.typed;
}
