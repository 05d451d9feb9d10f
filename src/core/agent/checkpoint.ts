// An agent as a JSON value: a cached fold, so that recovery reads only the end of the log.
// K1. What is read back (wire/stored/agent.ts) folds on like the state itself. A bare LLM's conversation stays in the
//     log.
import type { Agent, AgentRecord, RuleBook } from "./agent.ts";
import { type Conversation, putAway } from "./conversation.ts";

/** The shape of the file; its contents have their own version (STORED_VERSION). */
export const CHECKPOINT_VERSION = 1;

/**
 * Raise it with every change of the fold or the state: a checkpoint with another version is folded again from the log.
 */
export const STORED_VERSION = 5;

/** `resident` is the agent's record: the name is part of the file format. */
export type StoredResident = {
  readonly version: number;
  readonly resident: RuleBook | (Omit<Agent, "conversation"> & { readonly conversation: Omit<Conversation, "said"> });
};

export function storedOf(record: AgentRecord): StoredResident {
  if (record.kind === "rules") return { version: STORED_VERSION, resident: record };
  const { said: _, ...rest } = putAway(record.conversation); // L3 of conversation.ts
  return { version: STORED_VERSION, resident: { ...record, conversation: rest } };
}
