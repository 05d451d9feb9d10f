// Messages: how they are enqueued, what a turn's prompt contains of them, and what a parent gets about its children.
// G1. A message between agents is one transaction over both logs: `message.sent` in the sender's, `message.enqueued` in
//     the recipient's.
// G2. A message id that was seen before is a repeat and changes nothing (the last few are remembered, read or not).
// G3. A message from a person or the parent releases an agent that was held for one (AG-7).
// G4. No text of a message can pass for another message: each is between two marks that its sender could not know,
//     since they are made for the turn with the key of the home (D4 of derive.ts). The headings outside are ours.
import { isId } from "../../base/ids.ts";
import { own } from "../../base/own.ts";
import { type Refusal, refused } from "../../base/result.ts";
import { sizeOf } from "../workflow/limits.ts";
import type { Agent } from "./agent.ts";
import { derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import type { Message, MessageKind } from "./events.ts";
import { MAX_INBOX, MAX_MESSAGES_A_TURN, MAX_PAYLOAD, MAX_PAYLOAD_BYTES, MAX_PROMPT } from "./limits.ts";

export const USER = "user";
export const HOLDFAST = "holdfast";

export type NewMessage = {
  readonly id: string;
  /** The id that an older version would have given it (D5 of derive.ts). */
  readonly former?: string;
  /** USER, HOLDFAST, or the agent that writes. */
  readonly from: typeof USER | typeof HOLDFAST | Agent;
  readonly kind: MessageKind;
  readonly payload: string;
  readonly replyTo?: string | undefined;
  /** What the sender is to the recipient, if it is an agent. */
  readonly relation?: string;
};

/** Returns why it cannot be delivered; undefined once it is enqueued. */
export function enqueue(draft: Draft, recipient: Agent, letter: NewMessage): Refusal | undefined {
  const wrong = isSeen(recipient, letter) ? undefined : whyNot(recipient, letter);
  if (wrong === undefined) deliver(draft, recipient, letter);
  return wrong;
}

/** G2 */
function isSeen({ seen }: Agent, { id: message_id, former = message_id }: NewMessage): boolean {
  return seen.some((id) => id === message_id || id === former);
}

/** Without any condition. */
export function deliver(draft: Draft, recipient: Agent, letter: NewMessage): void {
  if (isSeen(recipient, letter)) return; // G2
  const { id: message_id, from, kind, payload, replyTo, relation } = letter;
  const { at } = draft;
  if (typeof from !== "string")
    draft.add(from.id, { event: "message.sent", data: { message_id, recipient: recipient.id, at } }); // G1
  const sender = typeof from === "string" ? from : from.id;
  const metadata = typeof from === "string" ? {} : { sender_name: from.name, relation: relation ?? "agent" };
  const head = { message_id, sender, recipient: recipient.id, kind, payload };
  const data: Message = { ...head, timestamp: at, reply_to: replyTo ?? null, metadata };
  draft.add(recipient.id, { event: "message.enqueued", data });
  release(draft, draft.agent(recipient.id), sender);
}

export function whyNot(
  recipient: Agent,
  { payload, replyTo }: Pick<NewMessage, "payload" | "replyTo">,
): Refusal | undefined {
  // G4: it is part of the heading.
  if (replyTo !== undefined && !isId(replyTo))
    return refused("bad-reply", "What a message replies to is named by its id.", "Give the id, or leave it out.").error;
  const bytes = sizeOf(payload);
  if (payload.length > MAX_PAYLOAD || bytes > MAX_PAYLOAD_BYTES) {
    const most = `at most ${MAX_PAYLOAD} and ${MAX_PAYLOAD_BYTES} are allowed`;
    const what = `The message has ${payload.length} characters, and ${bytes} bytes as JSON; ${most}.`;
    return refused("too-large", what, "Write it to a file, and send the path.").error;
  }
  if (recipient.inbox.length < MAX_INBOX) return undefined;
  return refused("inbox-full", `${recipient.name} has ${MAX_INBOX} unread messages.`, "Try again later.").error;
}

/** G3 */
function release(draft: Draft, agent: Agent, sender: string): void {
  if (agent.held === undefined || agent.settings.recovery === "never") return;
  // FR1 of fresh.ts: a parent that writes each time it learns of it would go on for ever.
  const needed = agent.settings.recovery !== "ask" && agent.held.unresumable !== true && sender === agent.parent;
  if (sender === USER || needed) draft.add(agent.id, { event: "agent.released", data: { at: draft.at } });
}

/** Sends a message about a child to its parent, unless the parent is gone or held. */
export function tellParent(draft: Draft, child: Agent, kind: MessageKind, text: string): void {
  const parent = draft.live(child.parent);
  if (parent === undefined) return;
  const id = derivedId(child.id, kind, `${child.generation}`, `${child.turns}`, draft.at);
  enqueue(draft, parent, { id, from: child, kind, payload: text, relation: "child" });
}

/** As many of them, from the first on, as fit into one turn. */
export function forOneTurn(messages: readonly Message[]): readonly Message[] {
  let size = 0;
  const fits = messages.slice(0, MAX_MESSAGES_A_TURN).filter(({ payload }) => {
    size += sizeOf(payload);
    return size <= MAX_PROMPT;
  });
  return fits.length === 0 ? messages.slice(0, 1) : fits;
}

/**
 * A single message from a person is passed on unchanged, and so is the task that a parent gives, along with the system
 * prompt, to a new agent. Everything else gets a heading with the sender, and marks around its text (G4).
 */
export function promptOf(messages: readonly Message[], mark: string): string {
  const [first] = messages;
  const plain = first?.sender === USER || first?.kind === "instructions";
  if (messages.length === 1 && first !== undefined && plain) return first.payload;
  const note = `What is between <text ${mark}> and </text ${mark}> was written by the sender named before it.`;
  return [note, ...messages.map((message) => paragraphOf(message, mark))].join("\n\n");
}

const HEADINGS: Readonly<Record<MessageKind, string>> = {
  message: "Message",
  instructions: "Instructions",
  broadcast: "Broadcast",
  result: "Result",
  reminder: "Reminder",
  "child.terminated": "Your agent was terminated",
  "child.crashed": "Your agent crashed and does not run",
  "child.failed": "A turn of your agent failed",
  "child.suspended": "Your agent was interrupted and waits for a message from you",
};

function paragraphOf(message: Message, mark: string): string {
  const { message_id, kind, payload, reply_to } = message;
  const answers = reply_to === null ? "" : `, in reply to ${reply_to}`;
  const heading = `[${own(HEADINGS, kind) ?? "Message"} from ${senderName(message)}, id ${message_id}${answers}]`;
  return `${heading}\n<text ${mark}>\n${payload}\n</text ${mark}>`;
}

export function senderName({ sender, metadata }: Message): string {
  if (sender === USER) return "the user";
  if (sender === HOLDFAST) return "holdfast";
  const name = metadata["sender_name"];
  return typeof name === "string" ? `${name} (your ${metadata["relation"]})` : sender;
}
