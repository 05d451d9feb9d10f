// Text of an agent as it comes, over the bus. It is no event: it may be lost or repeated.
import { fitting } from "../check.ts";
import { count, flag, type Infer, object, optional, text } from "../shape.ts";

const partial = object({
  id: text,
  /** It comes again as a whole in the `agent.read` of this generation with this offset, or a later one. */
  generation: count,
  offset: count,
  /** How many characters of that text came before it. */
  from: count,
  text,
  /** It continues the text before it without a break, also if `from` is 0. */
  joins: optional(flag),
});

export type PartialText = Infer<typeof partial>;

const PARTIAL = "partial.";

export function partialTopic(id: string): string {
  return `${PARTIAL}${id}`;
}

export function isPartialTopic(topic: string): boolean {
  return topic.startsWith(PARTIAL);
}

/** Undefined if it is none. */
export function partialOf(data: unknown): PartialText | undefined {
  return fitting(partial, data);
}
