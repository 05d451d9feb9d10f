// Which input and output of an agent's process is poisoned (log/session/poisons.ts).
import { type Agent, agentSession } from "../../core/agent/agent.ts";
import type { EventLog } from "../../log/event-log.ts";
import { type Bytes, isSkipped, type Poison } from "../../log/session/poisons.ts";

/** Where the lines of its output begin that an operator has skipped. */
export function skippedLines({ poisons }: EventLog, { id, generation }: Agent): ReadonlySet<number> {
  const skipped = poisons.known(agentSession(id)).filter(isSkipped);
  return new Set(
    skipped.flatMap(({ bytes }) => (bytes.kind === "output" && bytes.generation === generation ? bytes.from : [])),
  );
}

/** Where its codec has failed, and would fail again: it was not skipped, and is not read or sent yet. */
export function poisonAhead({ poisons }: EventLog, agent: Agent): Poison | undefined {
  return poisons.known(agentSession(agent.id)).find((poison) => !isSkipped(poison) && isAhead(poison.bytes, agent));
}

function isAhead(bytes: Bytes, { generation, consumed, outbox }: Agent): boolean {
  if (bytes.kind === "event" || bytes.generation !== generation) return false;
  return bytes.kind === "output" ? bytes.from >= consumed : bytes.number > outbox.confirmed;
}
