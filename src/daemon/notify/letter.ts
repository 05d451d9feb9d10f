// What a call says at the moment it is sent, and how a prompt ended, from the agents as they are now.
import { timeText } from "../../base/time-text.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { Device } from "../../core/devices.ts";
import { endMessage, type Message, questionMessage } from "../../core/notify/message.ts";
import type { Call, Over } from "../../core/notify/outbox.ts";
import type { Clock } from "../../world/clock.ts";
import type { Target } from "./senders.ts";

export type LetterPorts = {
  readonly clock: Clock;
  agent(id: string): Agent | undefined;
  /** Those that may use the page now. */
  devices(): readonly Device[];
  /** For people: where this answer was given; undefined if it is not known any more. */
  answeredBy(answer: string): string | undefined;
};

export type Letter = { readonly message: Message; readonly ttlS: number };

const DAY_S = 86_400;
/** Four weeks: what push services keep at most. */
const MAX_TTL_S = 28 * DAY_S;

/** Undefined if the question is not there any more. */
export function letterOf(call: Call, target: Target, ports: LetterPorts): Letter | undefined {
  const { prompt: id, agent, name, tool, over } = call;
  const again = call.again === undefined ? {} : { again: call.again };
  if (over !== null)
    return { message: endMessage({ id, agent, name, tool, decision: over.decision, ...again }, over), ttlS: DAY_S };
  const prompt = ports.agent(agent)?.prompts.find((one) => one.id === id);
  if (prompt === undefined) return undefined;
  const leftS = Math.ceil((Date.parse(prompt.deadline) - ports.clock.now()) / 1000);
  const message = questionMessage({ id, agent, name, tool, ...again, input: prompt.input }, mayAnswer(target, ports));
  return { message, ttlS: Math.min(Math.max(0, leftS), MAX_TTL_S) };
}

function mayAnswer(target: Target, { devices }: LetterPorts): boolean {
  if (target.kind !== "browser") return false;
  return devices().find(({ id }) => id === target.subscription.device)?.rights !== "look";
}

export function endOf(agent: Agent, id: string, { clock, answeredBy }: LetterPorts): Over {
  const state = agent.prompts.find((prompt) => prompt.id === id)?.state;
  if (state === undefined || !("by" in state))
    return { decision: null, how: "The agent asks no longer.", at: timeText(clock.now()) };
  const { decision, by, at } = state;
  const where = state.answer_id === undefined ? undefined : answeredBy(state.answer_id);
  return { decision, how: by === "user" ? `Answered ${where ?? "by you"}.` : NOT_BY_A_PERSON[by], at };
}

const NOT_BY_A_PERSON = {
  rule: "A rule has decided.",
  expired: "Nobody answered in time.",
  default: "Nobody answered in time.",
} as const;

export function gone({ clock }: LetterPorts): Over {
  return { decision: null, how: "The agent is gone.", at: timeText(clock.now()) };
}
