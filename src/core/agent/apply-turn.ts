// Folds turns, and the provider's output in them.
import { timeText } from "../../base/time-text.ts";
import type { Agent, Failure, Turn, TurnEnd } from "./agent.ts";
import { withEntry } from "./apply-messages.ts";
import { heard } from "./apply-process.ts";
import { endMark } from "./conversation.ts";
import type { AgentEvent, AgentRead, TurnEnded, TurnRetrying, TurnStart, Woken } from "./events.ts";
import { stillRunning } from "./in-flight.ts";
import { cut, MAX_ANSWER, MAX_LAST_TEXT, MAX_PROVIDER_WAIT_MS } from "./limits.ts";
import { type ProviderEvent, styleOf } from "./provider.ts";
import { addUsage } from "./usage.ts";

export function applyTurn(agent: Agent, event: AgentEvent): Agent | undefined {
  switch (event.event) {
    case "turn.start":
      return started(agent, event.data);
    case "turn.retrying":
      return retrying(agent, event.data);
    case "turn.interrupted": {
      const told = withTurn(agent, (turn) => ({ ...turn, interrupted: true }));
      return hasProcess(agent) ? { ...told, outbox: withEntry(agent.outbox, { kind: "interrupt" }) } : told;
    }
    case "turn.complete": {
      const lastText = agent.lastText === "" ? cut(event.data.response, MAX_LAST_TEXT) : agent.lastText;
      const end = { kind: "complete", response: event.data.response } as const;
      const { failure: _, ...rest } = over(agent, event.data, end);
      return { ...rest, lastText, remembers: true };
    }
    case "turn.failed": {
      // A late answer to the request of this turn must not count for the next one.
      const consumed = styleOf(agent.plan.recipe) === "request" ? agent.consumed + 1 : agent.consumed;
      const { reason } = event.data;
      return {
        ...over(agent, event.data, { kind: "failed", reason }),
        consumed,
        failure: failureOf(agent, event.data),
      };
    }
    case "agent.read":
      return read(agent, event.data);
    case "agent.sleeping":
      return sleeping(agent, event.data);
    case "agent.woken":
      return woken(agent, event.data);
    default:
      return undefined;
  }
}

function retrying(agent: Agent, { until, reason, waited }: TurnRetrying): Agent {
  const trouble = { reason, until };
  const once = waited === true ? 0 : 1;
  return withTurn(agent, (turn) => ({ ...turn, tries: turn.tries + once, retryAt: until, trouble }));
}

function sleeping(agent: Agent, { until, reason }: { readonly until: string; readonly reason?: string }): Agent {
  const asleep = { ...agent, sleep: { until, ...(reason !== undefined && { reason }) } };
  return withTurn(asleep, (turn) => ({ ...turn, naps: (turn.naps ?? 0) + 1 }));
}

/** Messages that were taken are no longer in the inbox: the prompt is kept, to be given again (`agent retry`). */
function failureOf(
  { turn, conversation }: Agent,
  { turn: number, reason, at }: TurnEnded & { reason: string },
): Failure {
  const messages = turn?.messages ?? [];
  const mark = turn?.mark ?? endMark(conversation);
  const taken = turn !== undefined && messages.length === 0;
  return { turn: number, reason, at, messages, mark, ...(taken && { prompt: turn.prompt.text }) };
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
  const turn = { number, prompt, messages, startedAt: at, ...none, mark: endMark(agent.conversation) };
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

function over(agent: Agent, { at, usage }: TurnEnded, end: TurnEnd): Agent {
  const request = styleOf(agent.plan.recipe) === "request";
  const first = agent.owner !== undefined && agent.outcome === undefined;
  return {
    ...agent,
    turn: undefined,
    outcome: first ? end : agent.outcome,
    sleep: undefined,
    lastUsed: at,
    session: request ? { kind: "idle" } : agent.session,
    ...(usage !== undefined && { usage: addUsage(agent.usage, usage) }),
  };
}

function read(agent: Agent, { offset, events, at }: AgentRead): Agent {
  const open = agent.open || events.some(({ kind }) => kind === "session");
  const noted = noting(hearing({ ...heard(agent, at), consumed: offset, open }, events), events, at);
  const after = saying(noted, events);
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
  return event.kind === "failed" ? event.opening !== true : !SILENT.has(event.kind);
}

const SILENT: ReadonlySet<string> = new Set<ProviderEvent["kind"]>([
  ...(["session", "withdrawn", "stderr", "usage", "retrying", "later", "limit"] as const),
]);

/** S4 of process.ts. */
const PROGRESS: ReadonlySet<string> = new Set<ProviderEvent["kind"]>(["text", "tool", "tool-done", "call", "done"]);

/** What it has used, and what its provider does about its own failures: news only until there is other news. */
function noting(agent: Agent, events: readonly ProviderEvent[], at: string): Agent {
  let after = agent;
  for (const event of events) {
    if (event.kind === "usage") after = billed(after, event);
    else if (event.kind === "retrying") after = withTrouble(after, troubleOf(event, at));
    else if (after.turn?.trouble !== undefined) after = withTrouble(after, undefined);
  }
  return after;
}

function withTrouble(agent: Agent, trouble: Turn["trouble"]): Agent {
  return withTurn(agent, ({ trouble: _, ...turn }) => ({ ...turn, ...(trouble !== undefined && { trouble }) }));
}

function troubleOf({ reason, delay_ms, attempt, of }: Retrying, at: string): Turn["trouble"] {
  const until = timeText(Date.parse(at) + Math.min(Math.max(0, delay_ms), MAX_PROVIDER_WAIT_MS));
  return { reason: `Its provider tries again by itself (${attempt} of ${of}): ${reason}`, until };
}

type Retrying = Extract<ProviderEvent, { kind: "retrying" }>;
type Used = Extract<ProviderEvent, { kind: "usage" }>;

/** A total that is smaller than the last one has begun anew. */
function billed(agent: Agent, { usage, total }: Used): Agent {
  const { cost_usd: cost, ...tokens } = usage;
  const before = agent.billed ?? 0;
  const isTotal = total !== undefined && cost !== undefined;
  const own = isTotal && cost >= before ? cost - before : cost;
  const used = { ...tokens, ...(own !== undefined && { cost_usd: own }) };
  const after = withTurn(agent, (turn) => ({ ...turn, usage: addUsage(turn.usage, used) }));
  return isTotal ? { ...after, billed: cost } : after;
}

/** Pieces are joined; a new text replaces the last one. */
function saying(agent: Agent, events: readonly ProviderEvent[]): Agent {
  let { lastText } = agent;
  let said = agent.turn?.said ?? "";
  for (const event of events) {
    if (event.kind !== "text") continue;
    lastText = cut(event.part === true ? lastText + event.text : event.text, MAX_LAST_TEXT);
    said = cut(event.part === true || said === "" ? said + event.text : `${said}\n${event.text}`, MAX_ANSWER);
  }
  const isNew = said !== agent.turn?.said;
  return withTurn({ ...agent, lastText }, (turn) => ({ ...turn, said, ...(isNew && { naps: 0 }) }));
}

/** The model has the prompt once it has said anything. */
function answered(agent: Agent, events: readonly ProviderEvent[]): Agent {
  if (events.some(isNoAnswer)) return agent;
  return withTurn(agent, (turn) => ({ ...turn, taken: true, tries: 0, retryAt: undefined }));
}

/** A request that was refused, or not made: the model has not heard it. */
export function isNoAnswer({ kind }: ProviderEvent): boolean {
  return kind === "failed" || kind === "limit" || kind === "later";
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
  const up = withTrouble({ ...heard(agent, at), sleep: undefined }, undefined);
  const awake = withTurn(up, (turn) => ({ ...turn, retryAt: undefined }));
  if (prompt === null || awake.turn === undefined) return awake;
  const turn = { ...awake.turn, prompt, taken: false };
  return { ...awake, turn, outbox: withEntry(agent.outbox, { kind: "prompt", handed: prompt, turn: turn.number }) };
}
