// The request of an item in the fleet's queue, sealed: what a run or an agent needs that is the same on every host.
// QR1. No variables, no secrets, no directories: those of the host that carries it out count.
import { check, fitting } from "../check.ts";
import { decodeLine } from "../lines.ts";
import { count, type Infer, json, literal, nullable, object, table, text } from "../shape.ts";

const RUN = object({
  v: count,
  kind: literal("run"),
  /** The name of the workflow's file, without a directory; and what is in it. */
  name: text,
  source: text,
  /** Parameters as texts and as values, as for any run. */
  texts: table(text),
  values: table(json),
});
const AGENT = object({
  v: count,
  kind: literal("agent"),
  name: text,
  instructions: text,
  provider: nullable(text),
  model: nullable(text),
  systemPrompt: text,
});

export type QueuedRun = Omit<Infer<typeof RUN>, "v">;
export type QueuedAgent = Omit<Infer<typeof AGENT>, "v">;
export type QueuedRequest = QueuedRun | QueuedAgent;

export function encodeQueued(request: QueuedRequest): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...request }));
}

/** Undefined: a newer version has written it. */
export function parseQueued(bytes: Uint8Array): QueuedRequest | undefined {
  const found = decodeLine(new TextDecoder().decode(bytes));
  const run = check(RUN, found);
  return run.ok ? run.value : fitting(AGENT, found);
}
