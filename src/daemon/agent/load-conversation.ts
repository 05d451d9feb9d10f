// The part of a bare LLM's conversation before the last recovery, read from its log when the model is asked again.
// RL1. All of it or nothing: a model is never asked with an incomplete conversation.
// RL2. It is read in slices, so that other work is not delayed.
// RL3. A disk that does not let it be read is asked again for a few seconds; then it is refused with the disk's reason.
import { mayPass } from "../../base/fault.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { type Agent, agentSession } from "../../core/agent/agent.ts";
import { pieceOf, recalled, type Said } from "../../core/agent/conversation.ts";
import type { EventLog } from "../../log/event-log.ts";
import { agentEventOf } from "../../wire/stored/agent.ts";
import type { Clock } from "../../world/clock.ts";
import { inSlices } from "../../world/slices.ts";
import { Pauses } from "../../world/wait.ts";
import type { AgentStore } from "./store.ts";

export type Recalling = { readonly log: EventLog; readonly clock: Clock; readonly store: AgentStore };

/** RL3 */
const RETRIES = { firstMs: 100, mostMs: 1_000, allMs: 5_000 };

/** Afterwards the agent has all of its conversation; refused if its log does not have it (RL1). */
export async function loadConversation({ log, clock, store }: Recalling, id: string): Promise<Result<void>> {
  const before = store.agent(id);
  if (before === undefined || before.conversation.earlier === 0) return ok(undefined);
  const first = await readFirst({ log, clock }, before);
  if (typeof first === "string") return lost(before, first);
  const agent = store.agent(id); // It may have changed in the meantime.
  if (agent !== undefined) store.put(id, { ...agent, conversation: recalled(agent.conversation, first) });
  return ok(undefined);
}

/** RL2, RL3 */
async function readFirst({ log, clock }: Omit<Recalling, "store">, agent: Agent): Promise<readonly Said[] | string> {
  const pauses = new Pauses(clock, RETRIES);
  for (;;) {
    try {
      return await inSlices(clock, firstOf(log, agent), () => undefined);
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (!(await pauses.next())) return error.message;
    }
  }
}

/** The first pieces, as many as there were; or the reason why they cannot be read. */
function* firstOf(log: EventLog, { id, conversation }: Agent): Generator<undefined, readonly Said[] | string> {
  const first: Said[] = [];
  const skipped = log.poisons.skipped(agentSession(id));
  for (const reading of log.read(agentSession(id))) {
    if (first.length === conversation.earlier) return first;
    if (reading.kind === "harmed" || reading.kind === "break") return `it is damaged at byte ${reading.start}`;
    if (reading.kind === "trimmed") return `it begins after ${reading.through}`;
    const event = reading.kind === "entry" && !skipped.has(reading.entry.seq) ? agentEventOf(reading.entry) : undefined;
    const piece = event && pieceOf(event);
    if (piece !== undefined) first.push(piece);
    yield undefined;
  }
  return first.length === conversation.earlier ? first : `it has ${first.length} of ${conversation.earlier} pieces`;
}

function lost({ id }: Agent, why: string): Result<never> {
  const message = `What was said before cannot be read from its log: ${why}.`;
  return refused("agent.forgotten", message, `holdfast log verify ${id.slice(0, 12)}`);
}
