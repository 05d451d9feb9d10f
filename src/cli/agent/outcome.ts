// What became of a message: the end of the turn that took it, or why it is not known yet. Pure: a fold over the events.
// OC1. A turn takes a message with its prompt, or by `check_inbox` while it runs; the next end of a turn is that
//      turn's.
// OC2. Nothing is decided before the message itself has been seen: earlier events are not about it.
import type { AgentEvent } from "../../core/agent/events.ts";

export type Outcome =
  | { readonly kind: "complete"; readonly turn: number; readonly response: string }
  | { readonly kind: "failed"; readonly turn: number; readonly reason: string }
  /** It cannot continue without a person. */
  | { readonly kind: "crashed" | "terminated" | "held"; readonly reason: string }
  /** A person has removed the message. */
  | { readonly kind: "dropped" }
  | { readonly kind: "asks"; readonly prompts: readonly string[] };

export class MessageWatch {
  readonly #message: string;
  readonly #open: Set<string>;
  #held: string | undefined;
  #seen = false;
  #taken = false;
  #end: Outcome | undefined;

  /** `open`: the prompts that were open when the message was sent. */
  constructor(message: string, open: readonly string[]) {
    this.#message = message;
    this.#open = new Set(open);
  }

  /** The outcome as far as it is known; undefined while there is none. */
  get outcome(): Outcome | undefined {
    if (this.#end !== undefined || !this.#seen) return this.#end; // OC2
    if (this.#open.size > 0) return { kind: "asks", prompts: [...this.#open] };
    return this.#held === undefined ? undefined : { kind: "held", reason: this.#held };
  }

  note(event: AgentEvent): void {
    if (this.#end !== undefined) return;
    this.#notePrompts(event);
    this.#noteMessage(event);
    if (this.#seen) this.#end = this.#isDropped(event) ? { kind: "dropped" } : endOf(event, this.#taken); // OC2
  }

  #notePrompts(event: AgentEvent): void {
    if (event.event === "prompt.opened") this.#open.add(event.data.prompt_id);
    if (event.event === "prompt.answered" || event.event === "prompt.stale") this.#open.delete(event.data.prompt_id);
    if (event.event === "agent.held") this.#held = event.data.reason;
    if (event.event === "agent.released") this.#held = undefined;
  }

  #isDropped(event: AgentEvent): boolean {
    return event.event === "message.dropped" && event.data.message_id === this.#message;
  }

  /** OC1 */
  #noteMessage(event: AgentEvent): void {
    const message = this.#message;
    if (event.event === "message.enqueued" && event.data.message_id === message) this.#seen = true;
    if (event.event === "turn.start" && event.data.messages.includes(message)) this.#taken = true;
    if (event.event === "message.delivered" && event.data.message_id === message) this.#taken = true;
  }
}

function endOf(event: AgentEvent, taken: boolean): Outcome | undefined {
  switch (event.event) {
    case "turn.complete":
      return taken ? { kind: "complete", turn: event.data.turn, response: event.data.response } : undefined;
    case "turn.failed":
      return taken ? { kind: "failed", turn: event.data.turn, reason: event.data.reason } : undefined;
    case "agent.crashed":
      return { kind: "crashed", reason: event.data.reason };
    case "agent.terminated":
      return { kind: "terminated", reason: event.data.reason };
    default:
      return undefined;
  }
}
