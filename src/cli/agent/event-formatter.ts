// Formats an agent's events for people: its input, its text, the tools it uses, its prompts, and how its turns end.
// TE1. A response that already appeared in the turn is not shown twice.
// TE2. Bookkeeping (inputs taken, processes that start and are suspended) is shown only with --all.
// TE3. An entry that cannot be read is a line that says so: its agent was set aside for it, and a person looks why.
// TE4. What others wrote cannot pass for a line of ours: all of its lines but the first begin with `>`, as all lines of
//      an agent's own text do (`quoted`). Names of tools have one line.
import { localTime, type Zone } from "../../base/local-time.ts";
import { plainLine } from "../../base/visible.ts";
import type { AgentEvent, Trimmed } from "../../core/agent/events.ts";
import { senderName } from "../../core/agent/messages.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { Entry } from "../../log/session/entry.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";

/** A line about the agent, or text from it; `part` continues where the last text ended. */
export type Told =
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "text"; readonly text: string; readonly part: boolean };

export class AgentEventFormatter {
  readonly #zone: Zone;
  #said = "";

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  tellEntry(entry: Entry): Told[] {
    try {
      const event = agentEventOf(entry);
      return event === undefined ? [] : this.tell(event);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return [line(`the event ${entry.seq} (${entry.event}) cannot be read: ${quoted(reason)}`)]; // TE3
    }
  }

  tell(event: AgentEvent): Told[] {
    if (event.event === "turn.start") this.#said = "";
    if (event.event === "agent.read") return event.data.events.flatMap((piece) => this.#piece(piece));
    if (event.event === "turn.complete") {
      const { turn, response, usage } = event.data;
      const known = this.#said.trimEnd().endsWith(response.trimEnd());
      const used = usage === undefined ? "" : ` (${usageText(usage)})`;
      return [...(known ? [] : [textOf(response, false)]), line(`turn ${turn} is complete${used}`)]; // TE1
    }
    const words = lifeWords(event, this.#zone) ?? talkWords(event, this.#zone);
    return words === undefined ? [] : [line(words)];
  }

  #piece(piece: ProviderEvent): Told[] {
    if (piece.kind === "text") {
      this.#said += piece.text;
      return [textOf(piece.text, piece.part === true)];
    }
    const words = pieceWords(piece, this.#zone);
    return words === undefined ? [] : [line(words)];
  }
}

export type Timed = { readonly words: Told; readonly time: string };

/** Joins text that arrived in pieces, with the time of the first piece. */
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

/** TE4. Text that follows words of ours on the same line. */
function quoted(text: string): string {
  return text.replaceAll("\n", `\n${QUOTE}`);
}

/** TE4. What every line of an agent's own text begins with. */
export const QUOTE = "> ";
/** TE4. What every line of ours begins with. */
export const OURS = "· ";

function textOf(text: string, part: boolean): Told {
  return { kind: "text", text, part };
}

/** Prompts and tool calls have events of their own. */
function pieceWords(piece: ProviderEvent, zone: Zone): string | undefined {
  switch (piece.kind) {
    case "tool":
      return `uses ${plainLine(piece.tool)} ${JSON.stringify(piece.input)}`;
    case "tool-done":
      return `${piece.ok ? "got" : "failed"}: ${quoted(piece.text)}`;
    case "stderr":
      return `on standard error: ${quoted(piece.text)}`;
    case "failed":
      return `its provider failed: ${quoted(piece.reason)}`;
    case "limit": {
      const until = piece.until === "" ? "" : ` until ${plainLine(localTime(zone, piece.until))}`;
      return `a usage limit applies${until}${because(piece.reason ?? "")}`;
    }
    case "retrying": {
      const seconds = Math.ceil(piece.delay_ms / 1000);
      return `its provider tries again in ${seconds} s (${piece.attempt} of ${piece.of}): ${quoted(piece.reason)}`;
    }
    default:
      return undefined;
  }
}

/** The agent's own life cycle. */
function lifeWords(event: AgentEvent, zone: Zone): string | undefined {
  switch (event.event) {
    case "agent.created":
      return `${event.data.name} was created`;
    case "agent.terminated":
      return `terminated by ${event.data.by}: ${quoted(event.data.reason)}`;
    case "agent.completed":
      return `its work is done: ${quoted(event.data.result)}`;
    case "agent.crashed":
      return `CRASHED: ${quoted(event.data.reason)}\n  → holdfast agent retry ${event.id}`;
    case "agent.retried":
      return "retrying";
    case "agent.held":
      return `waits: ${quoted(event.data.reason)}`;
    case "session.renewed":
      return "begins a new conversation, with what is on record of the old one";
    case "agent.released":
      return "continues";
    case "agent.sleeping":
      return `sleeps until ${localTime(zone, event.data.until)}${because(event.data.reason ?? "")}`;
    case "agent.woken":
      return "woke up";
    case "suspend.result":
      return `suspended (${event.data.reason})`;
    case "session.restored":
      return event.data.adopted ? "found again, its process is still running" : "resumed";
    case "process.ended":
      return event.data.outcome === "clean" || event.data.outcome === "stopped"
        ? undefined
        : `its process ended (${event.data.outcome}): ${quoted(event.data.reason)}`;
    default:
      return undefined;
  }
}

/** The agent's inputs and outputs. */
function talkWords(event: AgentEvent, zone: Zone): string | undefined {
  switch (event.event) {
    case "message.enqueued":
      return `${event.data.kind} from ${senderName(event.data)}: ${quoted(event.data.payload)}`;
    case "message.dropped":
      return `the message ${event.data.message_id} was dropped`;
    case "message.edited":
      return `the message ${event.data.message_id} is now: ${quoted(event.data.payload)}`;
    case "conversation.trimmed":
      return trimmedWords(event.data);
    case "turn.start":
      return `turn ${event.data.turn} begins`;
    case "turn.retrying":
      return `turn ${event.data.turn} is retried at ${localTime(zone, event.data.until)}: ${quoted(event.data.reason)}`;
    case "turn.interrupted":
      return `turn ${event.data.turn} was interrupted`;
    case "turn.failed":
      return `turn ${event.data.turn} FAILED: ${quoted(event.data.reason)}`;
    case "prompt.opened":
      return [
        `asks for ${plainLine(event.data.tool)} ${JSON.stringify(event.data.input)}`,
        `  → holdfast answer ${event.data.prompt_id} allow|deny`,
      ].join("\n");
    case "prompt.answered":
      return `${event.data.prompt_id}: ${event.data.decision}, by ${event.data.by}${because(event.data.message)}`;
    case "prompt.stale":
      return `${event.data.prompt_id} must be asked again: ${quoted(event.data.reason)}`;
    case "tool.answered":
      return `called ${plainLine(event.data.tool)}: ${JSON.stringify(event.data.result)}`;
    case "reminder.set":
      return `wants to be reminded at ${localTime(zone, event.data.due)}: ${quoted(event.data.text)}`;
    default:
      return undefined;
  }
}

function trimmedWords({ from, to, why, limit }: Trimmed): string {
  const pieces = to - from;
  const which = pieces === 1 ? "a piece" : `${pieces} pieces`;
  if (why === "failed") return `is asked without ${which} of its conversation: that turn failed`;
  const most = limit === undefined ? "" : ` of ${limit} tokens`;
  return `is asked without ${which} of its conversation from now on: with them it is longer than the model's limit${most}`;
}

function because(message: string): string {
  return message === "" ? "" : `: ${quoted(message)}`;
}
