// An agent's events as a person reads them: what it was told, what it says, which tools it uses, what it asks, how its turns end.
// TE1. A response that was already said in the turn is not told twice.
// TE2. Bookkeeping (inputs taken, processes that start and rest) is told only to who wants all of it.
import type { AgentEvent } from "../../core/agent/events.ts";
import { senderName } from "../../core/agent/messages.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";

/** A line about it, or a text of its own; `part` goes on where the last one ended. */
export type Told =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "text"; readonly text: string; readonly part: boolean };

export class AgentEventFormatter {
  #said = "";

  tell(event: AgentEvent): Told[] {
    if (event.event === "turn.start") this.#said = "";
    if (event.event === "agent.read") return event.data.events.flatMap((piece) => this.#piece(piece));
    if (event.event === "turn.complete") {
      const { turn, response } = event.data;
      const known = this.#said.trimEnd().endsWith(response.trimEnd());
      return [...(known ? [] : [textOf(response, false)]), line(`turn ${turn} is complete`)]; // TE1
    }
    const words = lifeWords(event) ?? talkWords(event);
    return words === undefined ? [] : [line(words)];
  }

  #piece(piece: ProviderEvent): Told[] {
    if (piece.kind === "text") {
      this.#said += piece.text;
      return [textOf(piece.text, piece.part === true)];
    }
    const words = pieceWords(piece);
    return words === undefined ? [] : [line(words)];
  }
}

export type Timed = { readonly words: Told; readonly time: string };

/** What was said in many pieces is one text, from when it began. */
export function joined(told: readonly Timed[]): Timed[] {
  const all: Timed[] = [];
  for (const { words, time } of told) {
    const last = all.at(-1);
    if (words.kind === "text" && words.part && last?.words.kind === "text")
      all[all.length - 1] = { words: { ...last.words, text: last.words.text + words.text }, time: last.time };
    else all.push({ words, time });
  }
  return all;
}

function line(words: string): Told {
  return { kind: "line", line: words };
}

function textOf(text: string, part: boolean): Told {
  return { kind: "text", text, part };
}

/** What it asks and calls has events of its own. */
function pieceWords(piece: ProviderEvent): string | undefined {
  switch (piece.kind) {
    case "tool":
      return `uses ${piece.tool} ${JSON.stringify(piece.input)}`;
    case "tool-done":
      return `${piece.ok ? "got" : "failed"}: ${piece.text}`;
    case "failed":
      return `its provider failed: ${piece.reason}`;
    case "limit":
      return `a usage limit is reached until ${piece.until}`;
    default:
      return undefined;
  }
}

/** How the agent itself is. */
function lifeWords(event: AgentEvent): string | undefined {
  switch (event.event) {
    case "agent.created":
      return `${event.data.name} was made`;
    case "agent.terminated":
      return `terminated by ${event.data.by}: ${event.data.reason}`;
    case "agent.completed":
      return `its work is done: ${event.data.result}`;
    case "agent.crashed":
      return `CRASHED: ${event.data.reason}\n  → holdfast agent retry ${event.id}`;
    case "agent.retried":
      return "is tried again";
    case "agent.held":
      return `waits: ${event.data.reason}`;
    case "agent.released":
      return "goes on";
    case "agent.sleeping":
      return `sleeps until ${event.data.until}`;
    case "agent.woken":
      return "woke up";
    case "suspend.result":
      return `suspended (${event.data.reason})`;
    case "session.restored":
      return event.data.adopted ? "found again, its process runs on" : "resumed";
    case "process.ended":
      return event.data.outcome === "clean" || event.data.outcome === "stopped"
        ? undefined
        : `its process ended (${event.data.outcome}): ${event.data.reason}`;
    default:
      return undefined;
  }
}

/** What goes in and out of it. */
function talkWords(event: AgentEvent): string | undefined {
  switch (event.event) {
    case "message.enqueued":
      return `${event.data.kind} from ${senderName(event.data)}: ${event.data.payload}`;
    case "turn.start":
      return `turn ${event.data.turn} begins`;
    case "turn.retrying":
      return `turn ${event.data.turn} is tried again at ${event.data.until}: ${event.data.reason}`;
    case "turn.interrupted":
      return `turn ${event.data.turn} was interrupted`;
    case "turn.failed":
      return `turn ${event.data.turn} FAILED: ${event.data.reason}`;
    case "prompt.opened":
      return `asks for ${event.data.tool} ${JSON.stringify(event.data.input)}\n  → holdfast answer ${event.data.prompt_id} allow|deny`;
    case "prompt.answered":
      return `${event.data.prompt_id}: ${event.data.decision}, by ${event.data.by}${because(event.data.message)}`;
    case "prompt.stale":
      return `${event.data.prompt_id} must be asked again: ${event.data.reason}`;
    case "tool.answered":
      return `called ${event.data.tool}: ${JSON.stringify(event.data.result)}`;
    case "reminder.set":
      return `wants to be reminded at ${event.data.due}: ${event.data.text}`;
    default:
      return undefined;
  }
}

function because(message: string): string {
  return message === "" ? "" : `: ${message}`;
}
