// What people see of an agent's past: its events without bookkeeping, each text bounded. Pure.
// HI1. Nothing secret is in it: environments, flags and the keys of processes stay in the log.
// HI2. A call of a tool and its result have the same `use`, so that they can be shown together.
// HI3. Texts are cut: `holdfast agent log` has all that the log has.
import { isRecord, type Json } from "../../base/json.ts";
import type { AgentEvent, Message, MessageKind } from "./events.ts";
import { cut } from "./limits.ts";
import { USER } from "./messages.ts";
import type { ProviderEvent } from "./provider.ts";

export type HistoryPiece =
  /** `sender`: an agent's id, "user", or "holdfast". */
  | {
      readonly kind: "message";
      readonly what: MessageKind;
      readonly sender: string;
      readonly from: string;
      readonly text: string;
    }
  /** `text`: the response, or the reason. */
  | { readonly kind: "turn"; readonly turn: number; readonly what: TurnNews; readonly text: string }
  /** `part`: it continues the text before. */
  | { readonly kind: "text"; readonly text: string; readonly part: boolean }
  | { readonly kind: "tool"; readonly use: string; readonly tool: string; readonly input: Json }
  /** `tool` is empty if only the call has it. */
  | {
      readonly kind: "result";
      readonly use: string;
      readonly tool: string;
      readonly ok: boolean;
      readonly text: string;
    }
  | { readonly kind: "asked"; readonly prompt: string; readonly tool: string; readonly input: Json }
  /** `rule`: the rule that decided. */
  | {
      readonly kind: "answered";
      readonly prompt: string;
      readonly decision: string;
      readonly by: string;
      readonly text: string;
      readonly rule?: string;
    }
  /** What became of the agent itself, in a word and, if there is one, the reason. */
  | { readonly kind: "life"; readonly what: string; readonly text: string; readonly isBad: boolean };

export type TurnNews = "began" | "complete" | "failed" | "interrupted" | "retried";

/** HI3. Longer than what a person reads at once; a page of these is still small. */
const MAX_SHOWN = 8 << 10;

export function historyOf(event: AgentEvent): HistoryPiece[] {
  if (event.event === "agent.read") return event.data.events.flatMap(pieceOf);
  const piece = talkOf(event) ?? turnOf(event) ?? lifeOf(event);
  return piece === undefined ? [] : [piece];
}

function pieceOf(piece: ProviderEvent): HistoryPiece[] {
  switch (piece.kind) {
    case "text":
      return [{ kind: "text", text: shown(piece.text), part: piece.part === true }];
    case "tool":
      return [{ kind: "tool", use: piece.use, tool: piece.tool, input: bounded(piece.input) }];
    case "call":
      return [{ kind: "tool", use: piece.call, tool: piece.tool, input: bounded(piece.args) }];
    case "tool-done":
      return [{ kind: "result", use: piece.use, tool: "", ok: piece.ok, text: shown(piece.text) }];
    case "stderr":
      return [life("On standard error", piece.text, false)];
    case "failed":
      return [life("Its provider failed", piece.reason, true)];
    case "limit":
      return [
        life(
          "A usage limit applies",
          [piece.until && `until ${piece.until}`, piece.reason].filter(Boolean).join(": "),
          true,
        ),
      ];
    case "retrying":
      return [life(`Its provider tries again (${piece.attempt} of ${piece.of})`, piece.reason, true)];
    default:
      return [];
  }
}

/** More would fill the first prompt of a conversation, and the start of its process is one transaction. */
const MAX_HISTORY = 32 << 10;
/** Of one tool's input or result, which are the longest and the least telling. */
const MAX_OF_TOOL = 500;

/** The newest pieces as text for a model: what it was told, what it said, and which tools it called. */
export function historyText(pieces: readonly HistoryPiece[]): string {
  const parts: string[] = [];
  let continues = false;
  for (const piece of pieces) {
    const text = sentenceOf(piece);
    const isPart = piece.kind === "text" && piece.part && continues;
    if (isPart) parts.push(`${parts.pop() ?? ""}${piece.text}`);
    else if (text !== undefined) parts.push(text);
    continues = piece.kind === "text";
  }
  const whole = parts.join("\n\n");
  return whole.length <= MAX_HISTORY ? whole : `…${whole.slice(-MAX_HISTORY)}`;
}

function sentenceOf(piece: HistoryPiece): string | undefined {
  switch (piece.kind) {
    case "message":
      return `[${piece.from === "you" ? "the user" : piece.from} wrote]\n${piece.text}`;
    case "text":
      return `[you said]\n${piece.text}`;
    case "tool":
      return `[you called ${piece.tool}] ${cut(JSON.stringify(piece.input), MAX_OF_TOOL)}`;
    case "result":
      return `[${piece.ok ? "result" : "failed"}] ${cut(piece.text, MAX_OF_TOOL)}`;
    case "turn":
      return piece.what === "complete" && piece.text !== "" ? `[you answered]\n${piece.text}` : undefined;
    default:
      return undefined;
  }
}

function talkOf(event: AgentEvent): HistoryPiece | undefined {
  switch (event.event) {
    case "message.enqueued": {
      const { kind: what, sender, payload } = event.data;
      return { kind: "message", what, sender, from: nameOf(event.data), text: shown(payload) };
    }
    case "tool.answered": {
      const { call, tool, ok, result } = event.data;
      const text = typeof result === "string" ? result : JSON.stringify(result, undefined, 2);
      return { kind: "result", use: call, tool, ok, text: shown(text) };
    }
    case "prompt.opened": {
      const { prompt_id: prompt, tool, input } = event.data;
      return { kind: "asked", prompt, tool, input: bounded(input) };
    }
    case "prompt.answered": {
      const { prompt_id: prompt, decision, by, message, rule } = event.data;
      return { kind: "answered", prompt, decision, by, text: message, ...(rule !== undefined && { rule }) };
    }
    case "prompt.stale":
      return life("A question must be asked again", event.data.reason, false);
    default:
      return undefined;
  }
}

function nameOf({ sender, metadata }: Message): string {
  const name = metadata["sender_name"];
  if (typeof name === "string") return name;
  return sender === USER ? "you" : "Holdfast";
}

function turnOf(event: AgentEvent): HistoryPiece | undefined {
  switch (event.event) {
    case "turn.start":
      return { kind: "turn", turn: event.data.turn, what: "began", text: "" };
    case "turn.complete":
      return { kind: "turn", turn: event.data.turn, what: "complete", text: shown(event.data.response) };
    case "turn.failed":
      return { kind: "turn", turn: event.data.turn, what: "failed", text: shown(event.data.reason) };
    case "turn.interrupted":
      return { kind: "turn", turn: event.data.turn, what: "interrupted", text: "" };
    case "turn.retrying":
      return { kind: "turn", turn: event.data.turn, what: "retried", text: shown(event.data.reason) };
    default:
      return undefined;
  }
}

function lifeOf(event: AgentEvent): HistoryPiece | undefined {
  switch (event.event) {
    case "agent.created":
      return life("Created", "", false);
    case "agent.terminated":
      return life(`Terminated by ${event.data.by}`, event.data.reason, false);
    case "agent.completed":
      return life("Its work is done", event.data.result, false);
    case "agent.crashed":
      return life("Crashed", event.data.reason, true);
    case "agent.retried":
      return life("Tries again", "", false);
    case "session.renewed":
      return life("Begins a new conversation", "", false);
    case "agent.held":
      return life("Waits", event.data.reason, false);
    case "agent.sleeping":
      return life("Sleeps", `until ${event.data.until}`, false);
    case "message.dropped":
      return life("A message was dropped", event.data.message_id, false);
    case "message.edited":
      return life("A message was changed", event.data.payload, false);
    case "conversation.trimmed":
      return life("A part of its conversation is left out", TRIMMED[event.data.why], false);
    case "agent.woken":
      return life("Woke up", "", false);
    case "process.ended":
      return endOf(event.data);
    case "reminder.set":
      return life("Wants to be reminded", `at ${event.data.due}: ${event.data.text}`, false);
    default:
      return undefined;
  }
}

const TRIMMED = {
  context: "All of it is longer than its model takes.",
  failed: "It belongs to a turn that failed.",
} as const;

function endOf({ outcome, reason }: { readonly outcome: string; readonly reason: string }): HistoryPiece | undefined {
  if (outcome === "clean" || outcome === "stopped") return undefined;
  return life(`Its process ended (${outcome})`, reason, true);
}

function life(what: string, text: string, isBad: boolean): HistoryPiece {
  return { kind: "life", what, text: shown(text), isBad };
}

function shown(text: string): string {
  return cut(text, MAX_SHOWN);
}

/** HI3. Each text of the input by itself, so that a short command is whole beside a long one. */
function bounded(input: Json): Json {
  if (typeof input === "string") return shown(input);
  if (JSON.stringify(input).length <= MAX_SHOWN) return input;
  if (!isRecord(input)) return shown(JSON.stringify(input));
  const texts = Object.entries(input).map(([name, value]) => [name, typeof value === "string" ? shown(value) : value]);
  const short: Json = Object.fromEntries(texts);
  return JSON.stringify(short).length <= 4 * MAX_SHOWN ? short : shown(JSON.stringify(input));
}
