// The state of an agent, folded from its events, and queries on it.
// R1. Nothing here grows with the history except what a bare LLM has said since the last recovery (a vector that shares
//     its past): lists are bounded by limits.ts.
// R2. The visible state (`stateOf`), its need (`needOf`) and since when (`readySince`) are derived from the state, not
//     stored.
// R3. The outbox has what the current process was given and has not confirmed; its numbers start at 1 with each
//     process.
import type { Json } from "../../base/json.ts";
import type { Conversation, Mark } from "./conversation.ts";
import { dashed } from "./derive.ts";
import type {
  AgentSettings,
  Broadcast,
  Handed,
  Held,
  Message,
  PromptAnswered,
  PromptOpened,
  Reminder,
  SessionPlan,
  Suspended,
  Terminated,
} from "./events.ts";
import { isAlive, type ProcessState } from "./process.ts";
import { type Input, styleOf, type Usage } from "./provider.ts";
import type { Rule } from "./rules.ts";

/** AG-4: active means that it has, or may have, its own process or request. */
export type Session =
  /** Its plan is known; it starts when the parent's turn ends. */
  | { readonly kind: "deferred" }
  /** No process is running, and none was suspended. */
  | { readonly kind: "idle" }
  | { readonly kind: "active" }
  | { readonly kind: "suspended"; readonly reason: Suspended["reason"] };

export type Entry =
  | { readonly kind: "open" }
  | { readonly kind: "prompt"; readonly handed: Handed; readonly turn: number }
  | { readonly kind: "answer"; readonly prompt: string; readonly input: AnswerInput }
  | { readonly kind: "result"; readonly call: string; readonly ok: boolean; readonly result: Json }
  | { readonly kind: "interrupt" };

export type AnswerInput = Omit<Extract<Input, { readonly kind: "answer" }>, "kind">;

/**
 * R3. `entries[0]` has the number `confirmed + 1`. `pieces`: how many pieces the holder has got of what is confirmed.
 */
export type Outbox = { readonly confirmed: number; readonly pieces: number; readonly entries: readonly Entry[] };

export type Turn = {
  readonly number: number;
  readonly prompt: Handed;
  /** The messages that started it and are not delivered yet. */
  readonly messages: readonly string[];
  /** Whether a process (or the model) is known to have the prompt. */
  readonly taken: boolean;
  /** Whether its process has produced output in it: before that, it may have died without having read the prompt. */
  readonly heard: boolean;
  /** Its process ran and is gone, and it is unknown whether it had got the prompt, which was on its way. */
  readonly doubtful: boolean;
  readonly startedAt: string;
  /** How often in a row its request was tried, and when the next attempt is due. */
  readonly tries: number;
  readonly retryAt: string | undefined;
  /** How its process says the turn ended, if that came before the prompt was known to be taken. */
  readonly early: TurnEnd | undefined;
  /** Whether it was asked to stop. */
  readonly interrupted: boolean;
  /** What was said in it so far, cut: the response, if the provider gives none. */
  readonly said: string;
  readonly usage?: Usage;
  /** What its provider is doing about a failure of its own. */
  readonly trouble?: { readonly reason: string; readonly until: string };
  /** How often in a row it slept without knowing for how long. */
  readonly naps?: number;
  /** Where it begins in the conversation of a bare LLM. */
  readonly mark: Mark;
  /** Its own tools that it has called in this turn and that have no result yet (in-flight.ts). */
  readonly running?: readonly ToolUse[];
};

/** `input`: cut (in-flight.ts). `request`: the question whether it may run, if it asked. */
export type ToolUse = {
  readonly use: string;
  readonly tool: string;
  readonly input: string;
  readonly request?: string;
};

/** A turn that failed. Its `messages` are in the inbox, or its `prompt` was taken and is kept: it can be repeated. */
export type Failure = {
  readonly turn: number;
  readonly reason: string;
  readonly at: string;
  readonly messages: readonly string[];
  readonly prompt?: string;
  readonly mark: Mark;
};

export type TurnEnd =
  | { readonly kind: "complete"; readonly response: string }
  | { readonly kind: "failed"; readonly reason: string };

export type GivenAnswer = Pick<PromptAnswered, "decision" | "by" | "rule" | "answer_id" | "at">;

export type PromptState =
  | { readonly kind: "open" }
  /** Kept until the process has taken it. */
  | ({ readonly kind: "answered" } & GivenAnswer)
  | ({ readonly kind: "delivered" } & GivenAnswer)
  /** The process that asked is gone, and must ask again. `isOver`: answered, or taken back; then it is another. */
  | { readonly kind: "stale"; readonly reason: string; readonly isOver?: true };

export type Prompt = Omit<PromptOpened, "prompt_id"> & {
  readonly id: string;
  /** How often it was asked again by a later process. */
  readonly again?: number;
  readonly state: PromptState;
};

/** A call of one of our tools that was answered. */
export type Call = {
  readonly call: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly result: Json;
  readonly inline: boolean;
  readonly turn: number;
  readonly generation: number;
  /** Messages in its result, which are not delivered before the result is taken. */
  readonly messages: readonly string[];
  readonly taken: boolean;
  readonly via?: "http";
  /** The daemon that gave the answer died, and it is unknown whether the answer arrived. */
  readonly lapsed: boolean;
};

export type Agent = {
  readonly kind: "agent";
  readonly id: string;
  readonly name: string;
  readonly parent: string | undefined;
  readonly instructions: string;
  /** False for a session without `agent.created`: an orphan (AG-2). */
  readonly created: boolean;
  readonly createdAt: string;
  readonly settings: AgentSettings;
  /** The attempt of a workflow step that it was created for, if any. */
  readonly owner: string | undefined;
  /** The lane that it was put into, or that it has from its parent. */
  readonly lane: string | undefined;
  readonly plan: SessionPlan;
  readonly session: Session;
  /** The provider's own id of the session: ours until it names one. */
  readonly providerSession: string;
  /** Whether the provider has named it, or a process of it has run. */
  readonly resumable: boolean;
  /** Whether the provider has named it; undefined: older versions did not note it (`isNamed`). */
  readonly named?: boolean;
  /** A turn was completed in this session: if the provider does not know it any more, something was lost. */
  readonly remembers?: boolean;
  /** What was said before this session, for the first prompt in it, and then empty (fresh.ts). */
  readonly history?: string;
  readonly process: ProcessState;
  /** The number of its last process, 0 before the first; it stays while the process is detached. */
  readonly generation: number;
  /** How far the output of this process has been read; for a bare LLM: how many requests were answered. */
  readonly consumed: number;
  /** Whether this process has opened its session: before that its output is a replay. */
  readonly open: boolean;
  readonly outbox: Outbox;
  readonly inbox: readonly Message[];
  /** The ids of the last messages it was sent, read or not. */
  readonly seen: readonly string[];
  readonly turn: Turn | undefined;
  readonly turns: number;
  /** How the first turn ended, kept only for its owner. */
  readonly outcome: TurnEnd | undefined;
  /** When its last turn ended, or it was created: the least recently used agent makes room. */
  readonly lastUsed: string;
  /** Its last turn, if that failed, until one is complete. */
  readonly failure?: Failure;
  /** Of all its turns that have ended. */
  readonly usage?: Usage;
  /** What its provider has said so far that its process, or its session, costs. */
  readonly billed?: number;
  /** The last text it produced, cut. */
  readonly lastText: string;
  readonly prompts: readonly Prompt[];
  readonly calls: readonly Call[];
  readonly reminders: readonly Reminder[];
  /** Texts that it was told are on their way to its siblings, with those that do not have them yet. */
  readonly broadcasts: readonly Broadcast[];
  readonly sleep: { readonly until: string; readonly reason?: string } | undefined;
  /** Why it is not resumed automatically after a crash. */
  readonly held: Held | undefined;
  /** Why it was set aside: from then on it can only be terminated. Never in a log: the next daemon tries it again. */
  readonly aside?: string;
  readonly crashes: readonly number[];
  /** How often in a row its process crashed without having said anything, however long that took (S4 of process.ts). */
  readonly fruitless?: number;
  readonly rules: readonly Rule[];
  readonly result: string | undefined;
  readonly terminated: Omit<Terminated, "agent_id"> | undefined;
  /** Of a bare LLM, otherwise empty (AG-6). */
  readonly conversation: Conversation;
};

/**
 * The rules for all agents: a session of its own, in the same turn, so that a decision and its rules cannot disagree.
 */
export type RuleBook = { readonly kind: "rules"; readonly id: string; readonly rules: readonly Rule[] };

export const RULE_BOOK = "rules";

export type AgentRecord = Agent | RuleBook;
export type AgentRecords = ReadonlyMap<string, AgentRecord>;

/** The directory of its log, below the home. */
export function agentSession(id: string): string {
  return `agents/${id}`;
}

/** As in `agent tree --json`. */
export type AgentState = "idle" | "working" | "waiting" | "suspended" | "sleeping" | "crashed" | "terminated";

/** R2 */
export function stateOf(agent: Agent): AgentState {
  if (agent.terminated !== undefined) return "terminated";
  if (agent.process.kind === "PermanentlyFailed" || isAside(agent)) return "crashed";
  if (openPrompts(agent).length > 0) return "waiting";
  if (agent.sleep !== undefined) return "sleeping";
  if (agent.held !== undefined) return "suspended";
  if (agent.turn !== undefined) return agent.session.kind === "suspended" ? "suspended" : "working";
  return agent.session.kind === "suspended" ? "suspended" : "idle";
}

export function openPrompts(agent: Agent): Prompt[] {
  return agent.prompts.filter(({ state }) => state.kind === "open");
}

export function isLive(agentRecord: AgentRecord | undefined): agentRecord is Agent {
  return agentRecord?.kind === "agent" && agentRecord.terminated === undefined && agentRecord.created;
}

/** Nothing is done for it, and its process is left to its holder. */
export function isAside({ aside, terminated }: Agent): boolean {
  return aside !== undefined && terminated === undefined;
}

/** Whether its session has an id that the provider gave it: until then it is derived from the agent's. */
export function isNamed({ id, providerSession, named }: Agent): boolean {
  return named ?? providerSession !== dashed(id);
}

/** Messages that were neither given to a turn nor returned by `check_inbox`. */
export function waitingMessages(agent: Agent): readonly Message[] {
  const given = new Set([...(agent.turn?.messages ?? []), ...handedOver(agent)]);
  if (given.size === 0) return agent.inbox;
  return agent.inbox.filter(({ message_id }) => !given.has(message_id));
}

/**
 * Messages in results of the current process, or turn of a bare LLM, that are not known to be taken; those of a
 * previous
 * process, and lapsed ones, are given again.
 */
function handedOver(agent: Agent): readonly string[] {
  const request = styleOf(agent.plan.recipe) === "request";
  if (!request && !isAlive(agent.process)) return [];
  const present = ({ turn, generation }: Call) =>
    request ? turn === agent.turn?.number : generation === agent.generation;
  const holds = (call: Call) => !call.taken && !call.lapsed && present(call);
  return agent.calls.flatMap((call) => (holds(call) ? call.messages : []));
}

/**
 * What it needs a slot for: to start a turn, or a process for its current turn. Undefined if it needs none, or must
 * wait.
 */
export type Need = "turn" | "process";

export function needOf(agent: Agent): Need | undefined {
  if (!isLive(agent) || agent.session.kind === "deferred" || mustWait(agent)) return undefined;
  const { kind } = agent.process;
  const style = styleOf(agent.plan.recipe);
  if (kind !== "Idle" && (kind !== "Running" || style === "turn")) return undefined;
  if (agent.turn === undefined && waitingMessages(agent).length > 0) return "turn";
  if (style === "request") return agent.turn !== undefined && agent.session.kind !== "active" ? "process" : undefined;
  return agent.process.kind === "Idle" && (agent.turn !== undefined || agent.process.restart) ? "process" : undefined;
}

function mustWait(agent: Agent): boolean {
  return agent.held !== undefined || agent.sleep !== undefined || isAside(agent);
}

/** Since when it could have continued: the longest waiting agent comes first. */
export function readySince(agent: Agent): string {
  if (agent.turn !== undefined) return agent.turn.startedAt;
  const oldest = waitingMessages(agent)[0]?.timestamp;
  return oldest === undefined || oldest < agent.lastUsed ? agent.lastUsed : oldest;
}

/** Whether it holds one of its provider's slots. */
export function holdsSlot(agent: Agent): boolean {
  if (styleOf(agent.plan.recipe) !== "request") return isAlive(agent.process);
  return agent.terminated === undefined && agent.turn !== undefined && agent.session.kind === "active";
}

/** What a provider with its own sessions needs to continue: it is stored in `session.json`. */
export function providerBlob({ providerSession }: Agent): string {
  return JSON.stringify({ session: providerSession });
}

/**
 * The `state_size` of a suspension: the length in bytes of that, or of the whole conversation if the provider stores
 * none.
 */
export function stateSize(agent: Agent): number {
  if (styleOf(agent.plan.recipe) === "request") return agent.conversation.bytes;
  return new TextEncoder().encode(providerBlob(agent)).length;
}

/** Whether its slot can be taken away. */
export function isEvictable(agent: Agent): boolean {
  const rests = agent.turn === undefined || agent.sleep !== undefined;
  return rests && agent.process.kind === "Running" && agent.outbox.entries.length === 0 && !isAside(agent);
}
