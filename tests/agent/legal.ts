// Whether a decision changes an agent's process and its prompts only as their tables say (core/agent/process.ts and
// prompt-machine.ts). Tests check every decision. The daemon consults the tables where it has a choice, and records
// what the world reports even if a cell is missing: that is no reason to take every agent down.
import { changesOf } from "../../src/base/machine.ts";
import type { AgentRecord } from "../../src/core/agent/agent.ts";
import { processMachine } from "../../src/core/agent/process.ts";
import { placeOf, promptMachine } from "../../src/core/agent/prompt-machine.ts";

/** A crash passes through Crashed or Killed, and a process that has ended may be started again in the same decision. */
const processMay = changesOf(processMachine, ["Crashed", "Killed", "Idle"]);
/** PM1 of prompt-machine.ts; and an answer may be taken in the decision that gives it. */
const promptMay = changesOf(promptMachine, [
  ...(["Pending", "Forwarded", "WaitingForClient", "ActivityRefresh"] as const),
  ...(["AutoApproved", "AutoDenied", "Responded", "Expired"] as const),
]);

export function expectLegal(before: AgentRecord | undefined, after: AgentRecord): void {
  if (before?.kind !== "agent" || after.kind !== "agent") return;
  const [from, to] = [before.process.kind, after.process.kind];
  if (!processMay(from, to)) throw new Error(`a process that is ${from} became ${to}`);
  const was = new Map(before.prompts.map(({ id, state }) => [id, placeOf(state)]));
  for (const { id, state } of after.prompts) {
    const prompt = was.get(id) ?? promptMachine.initial;
    if (!promptMay(prompt, placeOf(state))) throw new Error(`a prompt that is ${prompt} became ${placeOf(state)}`);
  }
}
