// A conversation that its provider cannot continue: the agent waits, with a choice for a person. They end it, try once
// more, or have a new conversation started, whose first prompt has what was said before.
// FR1. Nothing new is started in place of the old conversation without a person: they would not notice.
// FR2. Its turn stays, with the messages in it: the new conversation continues it.
// FR3. The history contains texts of others. It is between marks that none of them could know (G4 of messages.ts).
import { type Refusal, refused } from "../../base/result.ts";
import { type Agent, isNamed } from "./agent.ts";
import { dashed, derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import { cut, MAX_REASON, STOP_GRACE_MS } from "./limits.ts";
import { tellParent } from "./messages.ts";
import { styleOf } from "./provider.ts";
import { failTurn } from "./turns.ts";

/** Its process cannot open its session: a new one is a failed turn, an old one is lost (FR1). */
export function unopened(draft: Draft, agent: Agent, why: string): void {
  const { id, generation, process: program } = agent;
  if (isNamed(agent) || agent.remembers === true) holdUnresumable(draft, agent, why);
  else if (agent.turn !== undefined) failTurn(draft, id, `It could not open a session: ${why}`);
  else if (agent.held === undefined) hold(draft, id, `It could not open a session: ${why}`);
  if (program.kind !== "Running" && program.kind !== "Spawning") return;
  if (styleOf(agent.plan.recipe) === "turn") return; // It has ended by itself.
  const stop = { generation, reason: "unopened", signal: "SIGTERM", kill_at: draft.in(STOP_GRACE_MS) } as const;
  draft.add(id, { event: "process.stopping", data: stop });
}

/** FR2 */
export function holdUnresumable(draft: Draft, agent: Agent, why: string): void {
  const { id } = agent;
  const choice = `A new one, with what was said so far: holdfast agent retry ${id.slice(0, 8)} --fresh`;
  const reason = `Its conversation cannot be resumed: ${cut(why.trim(), MAX_REASON)} ${choice}`;
  draft.add(id, { event: "agent.held", data: { reason, at: draft.at, unresumable: true } });
  tellParent(draft, agent, "child.crashed", reason);
}

function hold(draft: Draft, id: string, why: string): void {
  draft.add(id, { event: "agent.held", data: { reason: cut(why, MAX_REASON), at: draft.at } });
}

/** Starts a new conversation with its next process. `history`: what was said so far, from its log. */
export function renew(draft: Draft, agent: Agent, history: string): Refusal | undefined {
  const { id, name, generation, process: program } = agent;
  if (styleOf(agent.plan.recipe) === "request")
    return refused("no-session", `The conversation of ${name} is in its log.`, "It is never lost: leave out --fresh.")
      .error;
  if (["Spawning", "Running", "Hung", "Detached"].includes(program.kind))
    return refused("running", `${name} has a process, with its conversation.`, `First: holdfast agent suspend ${name}`)
      .error;
  const session = dashed(derivedId(id, "session", `${generation}`));
  draft.add(id, { event: "session.renewed", data: { session, history: told(draft, agent, history), at: draft.at } });
  return undefined;
}

/** FR3 */
function told(draft: Draft, { id, generation }: Agent, history: string): string {
  if (history === "") return `${INTRODUCTION} Nothing of it is on record.`;
  const mark = draft.keyedId("history", id, `${generation}`);
  return `${INTRODUCTION} This is what is on record of it:\n<history ${mark}>\n${history}\n</history ${mark}>`;
}

const INTRODUCTION =
  "Your earlier conversation could not be continued, so this is a new one. Look at what is already done before you go " +
  "on, and do not repeat what has had its effect.";
