// Agents that are over for good are let go of: nobody remembers them, and their files may be removed.
// LG1. That they were is durable first, in the log of the rules for all: whoever asks later where one is finds it there.
// LG2. Nothing of their logs is on its way any more, and that is on disk: no recovery brings a line of them back into an empty file.
// LG3. A crash in between brings them back as they were, terminated; the next round lets go of them again.
import { agentSession, RULE_BOOK } from "../../core/agent/agent.ts";
import { overForGood } from "../../core/agent/gone.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { AgentCheckpoints } from "./checkpoints.ts";
import type { SessionRecords } from "./records.ts";
import type { AgentStore } from "./store.ts";

type Parts = {
  readonly log: EventLog;
  readonly store: AgentStore;
  readonly records: SessionRecords;
  readonly checkpoints: AgentCheckpoints;
};

/** An id is 32 characters: one transaction has room for them. */
const AT_ONCE = 1000;

/** Those of them that nobody remembers any more. */
export async function forgetAgents(parts: Parts, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  for (let at = 0; at < ids.length; at += AT_ONCE)
    for (const id of await letSomeGo(parts, ids.slice(at, at + AT_ONCE))) gone.add(id);
  return gone;
}

async function letSomeGo(parts: Parts, ids: readonly string[]): Promise<string[]> {
  const { log, store, records, checkpoints } = parts;
  await log.drain(); // LG2: what is appended next says so on disk.
  const over = new Set(overForGood(store.states.values()).map(({ id }) => id));
  const agents = ids.filter((id) => over.has(id));
  if (agents.length === 0) return [];
  const durable = await store.submit({ kind: "collect", id: RULE_BOOK, agents }); // LG1
  const gone = durable.ok ? agents.filter((id) => log.release(agentSession(id))) : [];
  for (const id of gone) {
    store.put(id, undefined);
    records.forget(id);
    checkpoints.forget(id);
  }
  return gone;
}
