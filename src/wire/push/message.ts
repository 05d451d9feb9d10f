// A message as it arrives at a service worker (core/notify/message.ts). Only the home can seal one, and it is still
// read with limits: what a notification shows is what people answer.
import type { Message } from "../../core/notify/message.ts";
import { fitting } from "../check.ts";
import { decodeLine } from "../lines.ts";
import { list, literal, nullable, object, type Shape, textOf } from "../shape.ts";

const id = textOf({ least: 1, most: 64 });
const line = textOf({ most: 1_000 });

const MESSAGE: Shape<Message> = object({
  ...{ v: literal(1), kind: literal("question", "end", "test"), tag: id, title: line, body: line },
  prompt: nullable(object({ id, agent: id, name: line, tool: line, decision: nullable(literal("allow", "deny")) })),
  actions: list(literal("allow", "deny")),
});

/** Undefined if it is none, or of a version that is not known here. */
export function messageIn(text: string): Message | undefined {
  return fitting(MESSAGE, decodeLine(text));
}
