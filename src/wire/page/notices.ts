// What the page reads from notices about agents (the daemon publishes each event of theirs under its name).
import { fitting } from "../check.ts";
import type { Notice } from "../rpc/rpc.ts";
import { object, text } from "../shape.ts";

const OF_AGENT = object({ event: text, id: text });
const MESSAGE = object({
  data: object({ message_id: text, sender: text, recipient: text, kind: text, payload: text, timestamp: text }),
});

export type NoticedMessage = {
  readonly id: string;
  /** An agent's id, "user", or "holdfast". */
  readonly sender: string;
  readonly recipient: string;
  readonly kind: string;
  readonly text: string;
  readonly at: string;
};

/** The agent that a notice is about; undefined if it is about something else. */
export function noticedAgent({ data }: Notice): string | undefined {
  return fitting(OF_AGENT, data)?.id;
}

export function noticedMessage({ topic, data }: Notice): NoticedMessage | undefined {
  const found = topic === "message.enqueued" ? fitting(MESSAGE, data)?.data : undefined;
  if (found === undefined) return undefined;
  const { message_id: id, sender, recipient, kind, payload, timestamp: at } = found;
  return { id, sender, recipient, kind, text: payload, at };
}
