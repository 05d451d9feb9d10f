// An agent as a value that JSON can hold: a cached fold, so that recovery reads the log's tail and not its history.
// K1. What is read back (wire/stored/agent.ts) folds on as the state itself would. A bare LLM's conversation stays in the log.
import type { Agent, AgentRecord, RuleBook } from "./agent.ts";
import { type Conversation, putAway } from "./conversation.ts";

/** To be raised with every change of the fold or the state: a checkpoint of other rules is folded again. */
export const STORED_VERSION = 2;

/** `resident` is the agent's record: the name is part of the file format. */
export type StoredResident = {
  readonly version: number;
  readonly resident: RuleBook | (Omit<Agent, "conversation"> & { readonly conversation: Omit<Conversation, "said"> });
};

export function storedOf(record: AgentRecord): StoredResident {
  if (record.kind === "rules") return { version: STORED_VERSION, resident: record };
  const { earlier, bytes } = putAway(record.conversation); // L3 of conversation.ts
  return { version: STORED_VERSION, resident: { ...record, conversation: { earlier, bytes } } };
}
