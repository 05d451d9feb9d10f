// The outbox: who is to be called about which prompt, and how far that is. Pure; daemon/notify/desk.ts stores it and
// sends.
// OB1. There is one call for each prompt and target, so that a target shows one notification for it: whatever is sent
//      again has the same tag.
// OB2. A call is made from a prompt that is open, and becomes "done" only if its target shows that the prompt is over,
//      or never showed it, or is gone. Together with the open prompts, which are in the agents' logs, this is
//      everything: what was lost with the memory of a daemon is found by looking at both.
// OB3. What was about to be sent when a daemon died may have arrived ("sent"): it is sent again, or withdrawn.
// OB4. A full outbox takes no more calls. They are made when there is room, if their prompts are still open.
// OB5. Replies count for what they answer: that of a question says nothing once the prompt is over, and a refusal
//      nothing of an earlier attempt that may have arrived.
import { type CallEvent, type CallState, callMachine } from "./call-machine.ts";

/** The prompt is over: what its targets are to show instead. */
export type Over = {
  readonly decision: "allow" | "deny" | null;
  /** For people: "on Firefox", "by a rule". */
  readonly how: string;
  readonly at: string;
};

export type Call = {
  readonly prompt: string;
  readonly target: string;
  readonly state: Exclude<CallState, "done">;
  readonly agent: string;
  /** What the notification was about, for the one that replaces it: the agent and its question may be gone by then. */
  readonly name: string;
  readonly tool: string;
  /** How often its prompt had been asked again (H3 of core/agent/prompts.ts). */
  readonly again?: number;
  readonly over: Over | null;
};

/** By `keyOf`, oldest first. */
export type Outbox = ReadonlyMap<string, Call>;

export type NewCall = Pick<Call, "prompt" | "target" | "agent" | "name" | "tool" | "again">;

/** A few kilobytes on disk for each dozen; more than a person answers in a day. */
export const MAX_CALLS = 1_024;

export function keyOf({ prompt, target }: Pick<Call, "prompt" | "target">): string {
  return `${prompt} ${target}`;
}

/** OB1, OB4. The same outbox if nothing is new, or there is no room. */
export function called(outbox: Outbox, calls: readonly NewCall[], isQuiet: boolean): Outbox {
  const room = Math.max(0, MAX_CALLS - outbox.size);
  const made = calls.filter((call) => !outbox.has(keyOf(call))).slice(0, room);
  if (made.length === 0) return outbox;
  const state = isQuiet ? "held" : "due";
  return new Map([...outbox, ...made.map((call) => [keyOf(call), { ...call, state, over: null }] as const)]);
}

/** The quiet hours are over. */
export function released(outbox: Outbox): Outbox {
  const held = [...outbox].filter(([, { state }]) => state === "held");
  return held.reduce((before, [key]) => after(before, key, "quiet hours end"), outbox);
}

/** The outbox after an event of one call; the same if it has no such call, or the event means nothing to it (OB5). */
export function after(outbox: Outbox, key: string, event: CallEvent): Outbox {
  const call = outbox.get(key);
  const next = call && callMachine.table[call.state][event];
  if (call === undefined || next === undefined || next === call.state) return outbox;
  return changed(outbox, key, next === "done" ? undefined : { ...call, state: next });
}

export function over(outbox: Outbox, key: string, how: Over): Outbox {
  const later = after(outbox, key, "prompt is over");
  const call = later.get(key);
  return call?.state === "withdrawing" && call.over === null ? changed(later, key, { ...call, over: how }) : later;
}

/** OB5. What the sender of a call's last attempt reports; `tried`: the call when that attempt began. */
export function replied(outbox: Outbox, tried: Call, event: CallEvent): Outbox {
  const key = keyOf(tried);
  const isPast = dueOf(tried) === "question" && outbox.get(key)?.state === "withdrawing";
  if (isPast && event !== "target is gone") return outbox;
  return after(outbox, key, event === "refused" && tried.state === "sent" ? "lost" : event);
}

/** All calls of a target that is gone. */
export function withoutTarget(outbox: Outbox, target: string): Outbox {
  return new Map([...outbox].filter(([, call]) => call.target !== target));
}

/** What is to be sent for it now; undefined if nothing is. */
export function dueOf({ state }: Call): "question" | "end" | undefined {
  if (state === "due" || state === "sent") return "question";
  return state === "withdrawing" ? "end" : undefined;
}

/** After this long nobody looks at how a prompt ended. */
export const WITHDRAWN_MS = 24 * 3_600_000;

function changed(outbox: Outbox, key: string, call: Call | undefined): Outbox {
  const next = new Map(outbox);
  if (call === undefined) next.delete(key);
  else next.set(key, call);
  return next;
}
