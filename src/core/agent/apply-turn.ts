// Folds turns, and the provider's output in them.
import type { Agent, Turn, TurnEnd } from "./agent.ts";
import { withEntry } from "./apply-messages.ts";
import { heard } from "./apply-process.ts";
import type { AgentEvent, AgentRead, TurnStart, Woken } from "./events.ts";
import { stillRunning } from "./in-flight.ts";
import { cut, MAX_ANSWER, MAX_LAST_TEXT } from "./limits.ts";
import { type ProviderEvent, styleOf } from "./provider.ts";

export function applyTurn(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "turn.start":
      return started(agent, event.data);
    case "turn.retrying":
      return withTurn(agent, (turn) => ({ ...turn, tries: turn.tries + 1, retryAt: event.data.until }));
    case "turn.interrupted": {
      const told = withTurn(agent, (turn) => ({ ...turn, interrupted: true }));
      return hasProcess(agent) ? { ...told, outbox: withEntry(agent.outbox, { kind: "interrupt" }) } : told;
    }
    case "turn.complete": {
      const lastText = agent.lastText === "" ? cut(event.data.response, MAX_LAST_TEXT) : agent.lastText;
      const end = { kind: "complete", response: event.data.response } as const;
      const { failure: _, ...rest } = over(agent, event.data.at, end);
      return { ...rest, lastText, remembers: true };
    }
    case "turn.failed": {
      // A late answer to the request of this turn must not count for the next one.
      const consumed = styleOf(agent.plan.recipe) === "request" ? agent.consumed + 1 : agent.consumed;
      const { turn, reason, at } = event.data;
      return { ...over(agent, at, { kind: "failed", reason }), consumed, failure: { turn, reason, at } };
    }
    case "agent.read":
      return read(agent, event.data);
    case "agent.sleeping":
      return { ...agent, sleep: { until: event.data.until } };
    case "agent.woken":
      return woken(agent, event.data);
    default:
      return undefined;
  }
}

function withTurn(agent: Agent, change: (turn: Turn) => Turn): Agent {
  return agent.turn === undefined ? agent : { ...agent, turn: change(agent.turn) };
}

function hasProcess(agent: Agent): boolean {
  return agent.process.kind === "Running" || agent.process.kind === "Spawning";
}

function started(agent: Agent, { turn: number, prompt: text, messages, uuid, at }: TurnStart): Agent {
  const prompt = { uuid, text };
  const none = {
    taken: false,
    heard: false,
    doubtful: false,
    tries: 0,
    retryAt: undefined,
    early: undefined,
    interrupted: false,
    said: "",
  };
  const turn = { number, prompt, messages, startedAt: at, ...none };
  const after = {
    ...heard(agent, at),
    turn,
    turns: number,
    lastText: "",
    ...(agent.history !== undefined && { history: "" }),
  };
  if (styleOf(agent.plan.recipe) === "request") return { ...after, session: { kind: "active" } };
  if (!hasProcess(agent)) return after;
  return { ...after, outbox: withEntry(agent.outbox, { kind: "prompt", handed: prompt, turn: number }) };
}

function over(agent: Agent, at: string, end: TurnEnd): Agent {
  const request = styleOf(agent.plan.recipe) === "request";
  const first = agent.owner !== undefined && agent.outcome === undefined;
  return {
    ...agent,
    turn: undefined,
    outcome: first ? end : agent.outcome,
    sleep: undefined,
    lastUsed: at,
    session: request ? { kind: "idle" } : agent.session,
  };
}

function read(agent: Agent, { offset, events, at }: AgentRead): Agent {
  const open = agent.open || events.some(({ kind }) => kind === "session");
  const after = saying(hearing({ ...heard(agent, at), consumed: offset, open }, events), events);
  if (styleOf(agent.plan.recipe) === "request") return answered(after, events);
  const end = endOf(events, after.turn);
  if (end === undefined || agent.sleep !== undefined) return after;
  return withTurn(after, (turn) => (turn.taken ? turn : { ...turn, early: end }));
}

function hearing(agent: Agent, events: readonly ProviderEvent[]): Agent {
  if (!events.some(isWord)) return agent;
  const running = stillRunning(agent.turn?.running ?? [], events);
  const after = withTurn(agent, (turn) => ({ ...turn, heard: true, running }));
  return events.some(({ kind }) => PROGRESS.has(kind)) ? { ...after, fruitless: 0 } : after;
}

function isWord(event: ProviderEvent): boolean {
  if (event.kind === "failed") return event.opening !== true;
  return event.kind !== "session" && event.kind !== "withdrawn" && event.kind !== "stderr";
}

/** S4 of process.ts. */
const PROGRESS: ReadonlySet<string> = new Set<ProviderEvent["kind"]>(["text", "tool", "tool-done", "call", "done"]);

/** Pieces are joined; a new text replaces the last one. */
function saying(agent: Agent, events: readonly ProviderEvent[]): Agent {
  let { lastText } = agent;
  let said = agent.turn?.said ?? "";
  for (const event of events) {
    if (event.kind !== "text") continue;
    lastText = cut(event.part === true ? lastText + event.text : event.text, MAX_LAST_TEXT);
    said = cut(event.part === true || said === "" ? said + event.text : `${said}\n${event.text}`, MAX_ANSWER);
  }
  return withTurn({ ...agent, lastText }, (turn) => ({ ...turn, said }));
}

/** The model has the prompt once it has said anything. */
function answered(agent: Agent, events: readonly ProviderEvent[]): Agent {
  if (events.some(({ kind }) => kind === "failed" || kind === "limit")) return agent;
  return withTurn(agent, (turn) => ({ ...turn, taken: true, tries: 0, retryAt: undefined }));
}

/** How the events end the current turn; without a separate response, the text said is the response. */
export function endOf(events: readonly ProviderEvent[], turn: Turn | undefined): TurnEnd | undefined {
  for (const event of events) {
    if (event.kind === "done") return { kind: "complete", response: event.response ?? turn?.said ?? "" };
    if (event.kind === "failed" && event.opening !== true) return { kind: "failed", reason: event.reason };
  }
  return undefined;
}

function woken(agent: Agent, { prompt, at }: Woken): Agent {
  const awake = withTurn({ ...heard(agent, at), sleep: undefined }, (turn) => ({ ...turn, retryAt: undefined }));
  if (prompt === null || awake.turn === undefined) return awake;
  const turn = { ...awake.turn, prompt, taken: false };
  return { ...awake, turn, outbox: withEntry(agent.outbox, { kind: "prompt", handed: prompt, turn: turn.number }) };
}
