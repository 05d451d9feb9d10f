// Agents that are over for good are forgotten: they leave memory, if they are not archived, and their files may be
// removed.
// LG1. This is first made durable, in the log of the global rules: a later request for such an agent finds it there.
// LG2. No write to their logs is pending any more, and that is on disk: no recovery writes a line of theirs into an
//      empty file.
// LG3. After a crash in between they are back as they were, terminated; the next round forgets them again.
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

/** An id has 32 characters: so many fit into one transaction. */
const AT_ONCE = 1000;

/** Returns those that were forgotten. */
export async function forgetAgents(parts: Parts, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  for (let at = 0; at < ids.length; at += AT_ONCE)
    for (const id of await letSomeGo(parts, ids.slice(at, at + AT_ONCE))) gone.add(id);
  return gone;
}

async function letSomeGo(parts: Parts, ids: readonly string[]): Promise<string[]> {
  const { log, store, records, checkpoints } = parts;
  await log.drain(); // LG2: the next append records this on disk.
  const over = new Set(overForGood(store.states.values()).map(({ id }) => id));
  const agents = ids.filter((id) => over.has(id) || !store.states.has(id)); // Those that are archived are over.
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
