// What the page reads from notices about agents (the daemon publishes each event of theirs under its name).
import { fitting } from "../check.ts";
import { type ListedMessage, listedMessageIn } from "../rpc/messages.ts";
import type { Notice } from "../rpc/rpc.ts";
import { json, object, text } from "../shape.ts";

const OF_AGENT = object({ event: text, id: text });
const WITH_DATA = object({ data: json });

/** The agent that a notice is about; undefined if it is about something else. */
export function noticedAgent({ data }: Notice): string | undefined {
  return fitting(OF_AGENT, data)?.id;
}

export function noticedMessage({ topic, data }: Notice): ListedMessage | undefined {
  return topic === "message.enqueued" ? listedMessageIn(fitting(WITH_DATA, data)?.data) : undefined;
}
