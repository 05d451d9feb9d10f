// Messages between agents as clients list them, from what the log has of one.
import { fitting } from "../check.ts";
import { object, text } from "../shape.ts";

const MESSAGE = object({
  ...{ message_id: text, sender: text, recipient: text, kind: text, payload: text, timestamp: text },
});

export type ListedMessage = {
  readonly id: string;
  /** An agent's id, "user", or "holdfast". */
  readonly sender: string;
  readonly recipient: string;
  readonly kind: string;
  readonly text: string;
  readonly at: string;
};

/** From the data of `message.enqueued`; undefined if it is not one. */
export function listedMessageIn(data: unknown): ListedMessage | undefined {
  const found = fitting(MESSAGE, data);
  if (found === undefined) return undefined;
  const { message_id: id, sender, recipient, kind, payload, timestamp: at } = found;
  return { id, sender, recipient, kind, text: payload, at };
}
