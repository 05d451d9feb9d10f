// Which input and output of an agent's process is poisoned (log/session/poisons.ts).
import { type Agent, agentSession } from "../../core/agent/agent.ts";
import type { EventLog } from "../../log/event-log.ts";
import { isSkipped } from "../../log/session/poisons.ts";

/** Where the lines of its output begin that an operator has skipped. */
export function skippedLines({ poisons }: EventLog, { id, generation }: Agent): ReadonlySet<number> {
  const skipped = poisons.known(agentSession(id)).filter(isSkipped);
  return new Set(
    skipped.flatMap(({ bytes }) => (bytes.kind === "output" && bytes.generation === generation ? bytes.from : [])),
  );
}
