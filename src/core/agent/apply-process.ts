// Folds the life of an agent's process, and what it was given and has taken.
import type { Agent, Entry, Outbox } from "./agent.ts";
import type { AgentEvent, InputTaken, ProcessEnded, ProcessStarting, ProcessStopping, Suspended } from "./events.ts";
import { isAlive, type ProcessState } from "./process.ts";
import { styleOf } from "./provider.ts";

const NOTHING: Outbox = { confirmed: 0, pieces: 0, entries: [] };

export function applyProcess(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "process.starting":
      return starting(agent, event.data);
    case "process.running": {
      const { pid, start_time, boot_id, holder, at } = event.data;
      const child = { pid, startTime: start_time, bootId: boot_id };
      return { ...agent, process: { kind: "Running", child, holder, heardAt: at }, resumable: true };
    }
    case "process.stopping":
      return { ...agent, process: stopping(event.data) };
    case "process.ended":
      return ended(agent, event.data);
    case "process.backoff":
      return {
        ...agent,
        crashes: event.data.crashes,
        fruitless: event.data.fruitless ?? 0,
        process: backoff(event.data),
      };
    case "process.rested":
      return { ...agent, process: { kind: "Idle", restart: styleOf(agent.plan.recipe) === "process" } };
    case "agent.crashed":
      return { ...agent, process: { kind: "PermanentlyFailed", ...event.data } };
    case "agent.retried":
      return { ...agent, process: { kind: "Idle", restart: false }, crashes: [], fruitless: 0, held: undefined };
    case "input.taken":
      return taken(agent, event.data);
    default:
      return session(agent, event);
  }
}

function session(agent: Agent, event: AgentEvent): Agent | undefined {
  if (event.event === "suspend.result") return suspended(agent, event.data);
  if (event.event === "session.restored") return { ...agent, session: { kind: "active" } };
  return undefined;
}

function backoff({ until, reason }: { readonly until: string; readonly reason?: string }): ProcessState {
  return { kind: "BackoffWait", until, ...(reason !== undefined && { reason }) };
}

function starting(agent: Agent, { generation, prompt, at }: ProcessStarting): Agent {
  const { turn } = agent;
  const entries: Entry[] = [{ kind: "open" }];
  const isHanded = prompt !== null && turn !== undefined;
  if (isHanded) entries.push({ kind: "prompt", handed: prompt, turn: turn.number });
  const again = isHanded ? { ...turn, prompt, taken: false, early: undefined, running: [] } : turn;
  const { billed: _, ...rest } = agent;
  return {
    ...(keepsBill(agent) ? agent : rest),
    ...(isHanded && agent.history !== undefined && { history: "" }), // It is in the prompt.
    generation,
    consumed: 0,
    turn: again,
    open: false,
    outbox: { ...NOTHING, entries },
    process: { kind: "Spawning", since: at },
    session: { kind: "active" },
  };
}

/** What an ACP session costs is a total of the session, that of Claude Code one of the process. */
function keepsBill({ plan }: Agent): boolean {
  return plan.recipe.provider === "acp";
}

function stopping({ reason, signal, kill_at }: ProcessStopping): ProcessState {
  return { kind: reason === "hung" ? "Hung" : "Stopping", reason, signal, killAt: kill_at };
}

function ended(agent: Agent, { outcome }: ProcessEnded): Agent {
  const restart = outcome === "crashed" || outcome === "killed";
  const session: Agent["session"] = agent.session.kind === "suspended" ? agent.session : { kind: "idle" };
  const ended = { ...agent, outbox: NOTHING, process: { kind: "Idle", restart }, session } as const;
  const { turn, process: program, outbox } = agent;
  const onItsWay = outbox.entries.some((entry) => entry.kind === "prompt" && entry.turn === turn?.number);
  const ran = outcome !== "not-started" && program.kind !== "Spawning";
  return turn !== undefined && ran && onItsWay ? { ...ended, turn: { ...turn, doubtful: true } } : ended;
}

/** AG-4: what was active when the daemon died may or may not still be alive. */
function suspended(agent: Agent, { reason }: Suspended): Agent {
  const process: ProcessState = isAlive(agent.process) ? { kind: "Detached" } : agent.process;
  const calls = agent.calls.map((call) =>
    call.via === "http" && reason === "recovery" ? { ...call, lapsed: true } : call,
  );
  return { ...agent, process, calls, session: { kind: "suspended", reason } };
}

function taken(agent: Agent, { through, pieces }: InputTaken): Agent {
  const { confirmed, entries } = agent.outbox;
  const gone = entries.slice(0, Math.max(0, through - confirmed));
  const outbox = { confirmed: confirmed + gone.length, pieces, entries: entries.slice(gone.length) };
  const { turn } = agent;
  const handed = gone.some((entry) => entry.kind === "prompt" && entry.turn === turn?.number);
  return { ...agent, outbox, turn: turn !== undefined && handed ? { ...turn, taken: true } : turn };
}

/** A sign of life. */
export function heard(agent: Agent, at: string): Agent {
  return agent.process.kind === "Running" ? { ...agent, process: { ...agent.process, heardAt: at } } : agent;
}
