// An agent as a value that JSON can hold: a cached fold, so that recovery reads the log's tail and not its history.
// K1. What is read back (wire/agents/stored-agent.ts) folds on as the state itself would.
import { itemsOf } from "../../base/vector.ts";
import type { Agent, Resident, RuleBook } from "./agent.ts";
import type { Said } from "./conversation.ts";

/** To be raised with every change of the fold or the state: a checkpoint of other rules is folded again. */
export const STORED_VERSION = 2;

export type StoredResident = {
  readonly version: number;
  readonly resident: RuleBook | (Omit<Agent, "conversation"> & { readonly conversation: readonly Said[] });
};

export function storedOf(resident: Resident): StoredResident {
  if (resident.kind === "rules") return { version: STORED_VERSION, resident };
  return { version: STORED_VERSION, resident: { ...resident, conversation: [...itemsOf(resident.conversation)] } };
}
