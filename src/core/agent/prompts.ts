// Permission prompts: opened by an agent's process, answered by a rule, a person or a deadline (PR-1 … PR-3).
// H1. A prompt's id is derived from agent, first process and request with a key of the home: the same before and after
//     a crash of the daemon, and none that an agent could choose, to have it taken for another.
// H2. It is answered exactly once; the answer is kept until the process has taken it. A person's answer has an id: a
//     client that repeats it, because its acknowledgement was lost, gets the same reply; all others learn whose answer
//     counts.
// H3. If the process that asked is gone, it must ask again: until then an answer is refused, and one that was given is
//     never given to another process. If the next process asks the very same in the same turn, and nobody had answered,
//     it is the same prompt: it keeps its id and its age, also on another host, and its deadline as long as people have
//     one. What its agent took back is another prompt when it asks again.
// H4. The deadline is data. Activity of a person postpones it, unless it is the shorter deadline of an unattended
//     agent.
// H5. What is denied an agent is denied all below it, whatever their own rules say: a child never may more than its
//     parent. What is allowed an agent is not allowed its children by that: people said it of this one.
// H6. `always` is about exactly what was asked, and refused if that cannot be expressed. A rule that a person has
//     worded for it is added with the answer, or not at all: a prompt makes one rule at most.

import { equal, isRecord } from "../../base/json.ts";
import { type Refusal, refused } from "../../base/result.ts";
import { sizeOf } from "../workflow/limits.ts";
import { type Agent, type AgentRecord, openPrompts, type Prompt, RULE_BOOK } from "./agent.ts";
import type { AgentCommand } from "./commands.ts";
import type { Draft } from "./draft.ts";
import type { PromptAnswered } from "./events.ts";
import {
  cut,
  MAX_INPUT,
  MAX_OPTIONS,
  MAX_PINNED,
  MAX_PROMPTS,
  MAX_REASON,
  MAX_RULES,
  MAX_TOOL,
  REFRESH_MS,
} from "./limits.ts";
import { mayBecome } from "./prompt-machine.ts";
import type { Decision, ProviderEvent } from "./provider.ts";
import { exactRule, judge, type Rule, type RuleVerdict, whyUnfit } from "./rules.ts";

type Ask = Extract<ProviderEvent, { readonly kind: "ask" }>;
type Shown = Pick<Prompt, "tool" | "input" | "options">;

export function ask(draft: Draft, agent: Agent, question: Ask): void {
  const { id, generation } = agent;
  const { request } = question;
  if (agent.prompts.some((prompt) => prompt.request === request && prompt.generation === generation)) return;
  const large = isTooLarge(question);
  const shown = large ? shortened(question) : shownOf(question);
  const before = askedBefore(agent, shown);
  const prompt_id = before?.id ?? draft.keyedId("prompt", id, `${generation}`, request); // H1
  const { since = draft.at } = before ?? {};
  const { deadline, expires } = deadlineOf(draft, agent, before);
  const facts = { prompt_id, generation, ...(agent.turn && { turn: agent.turn.number }), request, ...shown };
  draft.add(id, { event: "prompt.opened", data: { ...facts, since, deadline, expires } });
  const verdict = large || openPrompts(agent).length >= MAX_PROMPTS ? TOO_MUCH : judgeFor(draft, agent, question);
  if (verdict !== undefined) close(draft, id, prompt_id, { ...verdict, by: "rule" });
}

/** H3 */
function askedBefore({ prompts, generation, turn }: Agent, { tool, input, options }: Shown): Prompt | undefined {
  return prompts.find(
    (prompt) =>
      mayBecome(prompt.state, "asked again") &&
      prompt.generation !== generation &&
      prompt.turn !== undefined &&
      prompt.turn === turn?.number &&
      prompt.tool === tool &&
      equal(prompt.input, input) &&
      equal(prompt.options, options),
  );
}

const TOO_MUCH = { decision: "deny", message: "It is more than a person could be asked." } as const;

function isTooLarge({ tool, input, options = null }: Ask): boolean {
  return sizeOf(input) > MAX_INPUT || tool.length > MAX_TOOL || sizeOf(options) > MAX_OPTIONS;
}

function shownOf({ tool, input, options = null }: Ask): Shown {
  return { tool, input, options };
}

function shortened({ tool }: Ask): Shown {
  return { tool: cut(tool, MAX_TOOL), input: "too large to be shown", options: null };
}

/** H5 */
function judgeFor(draft: Draft, agent: Agent, { tool, input }: Ask): RuleVerdict | undefined {
  for (const ancestor of draft.above(agent)) {
    const verdict = judge(draft.rules(ancestor), tool, input);
    if (verdict?.decision === "deny") return verdict;
  }
  return judge(draft.rules(agent), tool, input);
}

/** H4. `before`: H3. A default action waits anew: meanwhile nobody could have prevented it. */
function deadlineOf(draft: Draft, { settings }: Agent, before: Prompt | undefined) {
  const { prompt_default, prompt_ttl_ms } = settings;
  if (prompt_default !== null && prompt_default.after_ms < prompt_ttl_ms) {
    const expires = { decision: prompt_default.decision, refreshable: false };
    return { deadline: draft.in(prompt_default.after_ms), expires };
  }
  const isKept = before?.expires.refreshable === true && !draft.isDue(before.deadline);
  const deadline = isKept ? before.deadline : draft.in(prompt_ttl_ms);
  return { deadline, expires: { decision: "deny", refreshable: true } } as const;
}

type Closing = Omit<PromptAnswered, "prompt_id" | "at">;

function close(draft: Draft, id: string, prompt_id: string, { decision, by, message, ...more }: Closing): void {
  const data = { prompt_id, decision, by, message: cut(message, MAX_REASON), ...more, at: draft.at };
  draft.add(id, { event: "prompt.answered", data });
}

type Answer = Extract<AgentCommand, { readonly kind: "answer" }>;

/** H2 */
export function isRepeat({ prompts }: Agent, { prompt, answer }: Answer): boolean {
  return prompts.some(({ id, state }) => id === prompt && "answer_id" in state && state.answer_id === answer);
}

export function answerPrompt(draft: Draft, agent: Agent, command: Answer): Refusal | undefined {
  const { id } = agent;
  if (isRepeat(agent, command)) return undefined;
  const prompt = agent.prompts.find((one) => one.id === command.prompt);
  if (prompt === undefined)
    return refused("unknown", `There is no prompt ${command.prompt}.`, "holdfast prompts").error;
  if (!mayBecome(prompt.state, "client sends response")) return whyNot(prompt); // H2
  const { decision, message, always, worded, answer: answer_id, device } = command;
  const isAdding = always || worded !== undefined;
  const rule = worded === undefined ? ruleFor(prompt, decision) : { ...worded.rule, rule_id: ruleIdFor(prompt.id) };
  const owner = worded?.isForAll === true ? RULE_BOOK : id;
  const wrong = isAdding ? whyNoRule(draft.get(owner), rule) : undefined;
  if (wrong !== undefined) return wrong;
  close(draft, id, prompt.id, { decision, by: "user", message, answer_id });
  const made = { at: draft.at, ...(device !== undefined && { device }) };
  if (isAdding && rule !== undefined) draft.add(owner, { event: "rule.added", data: { rule, ...made } }); // H6
  refreshPrompts(draft, draft.agent(id));
  return undefined;
}

/** `owner`: who gets the rule; undefined before the first one for all. */
function whyNoRule(owner: AgentRecord | undefined, rule: Rule | undefined): Refusal | undefined {
  const hint = "Answer without a rule.";
  if (rule === undefined)
    return refused("not-exact", "No rule can be made that is about exactly this input.", hint).error;
  const broken = whyUnfit(rule);
  if (broken !== undefined) return refused("bad-rule", `This is not a rule: ${broken}.`, hint).error;
  if ((owner?.rules.length ?? 0) < MAX_RULES) return undefined;
  return refused("too-many", `There are ${MAX_RULES} rules already.`, `Remove some. ${hint}`).error;
}

function whyNot({ id, state }: Prompt): Refusal {
  if (state.kind === "stale")
    return refused(
      "stale",
      `Prompt ${id} must be asked again: ${state.reason}`,
      "`holdfast prompts` lists the open prompts.",
    ).error;
  const given = "by" in state ? `: ${state.decision} by ${state.by} at ${state.at}` : "";
  return refused("answered", `Prompt ${id} is already answered${given}.`, "A prompt can be answered only once.").error;
}

/** H6. A person said yes to this, not to everything. An input without names, or a tool without one, cannot be told. */
function ruleFor({ id, tool, input }: Prompt, decision: Decision): Rule | undefined {
  if (!isRecord(input) || tool === "" || sizeOf(input) > MAX_PINNED) return undefined;
  return { rule_id: ruleIdFor(id), decision, ...exactRule(tool, input), message: "As answered before." };
}

/** The id of the rule that `always` makes of a prompt. */
export function ruleIdFor(prompt: string): string {
  return `always-${prompt}`;
}

export function refreshPrompts(draft: Draft, { id, settings, prompts }: Agent): void {
  const deadline = draft.in(settings.prompt_ttl_ms);
  for (const { id: prompt_id, state, expires, deadline: before } of prompts) {
    if (!mayBecome(state, "user activity detected") || !expires.refreshable) continue;
    if (settings.prompt_ttl_ms - draft.left(before) < REFRESH_MS) continue;
    draft.add(id, { event: "prompt.refreshed", data: { prompt_id, deadline } });
  }
}

/** The agent no longer wants an answer. An answer that was already given is on its way, and is taken or not. */
export function withdraw(draft: Draft, agent: Agent, request: string): void {
  const found = agent.prompts.find((one) => one.request === request && one.generation === agent.generation);
  if (found === undefined || !mayBecome(found.state, "taken back")) return;
  const reason = "The agent took its question back.";
  draft.add(agent.id, { event: "prompt.stale", data: { prompt_id: found.id, reason, taken_back: true } });
}

/** H3 */
export function stalePrompts(draft: Draft, { id, prompts }: Agent, reason: string): void {
  for (const prompt of prompts) goStale(draft, id, prompt, reason);
}

function goStale(draft: Draft, id: string, { id: prompt_id, state }: Prompt, reason: string): void {
  if (mayBecome(state, "the asker is gone")) draft.add(id, { event: "prompt.stale", data: { prompt_id, reason } });
}

/** H4: those whose deadline has passed. */
export function expirePrompts(draft: Draft, { id, prompts }: Agent): void {
  for (const { id: prompt_id, state, deadline, expires } of prompts) {
    const passed = expires.refreshable ? "7 days no activity" : "the default action's time";
    if (!mayBecome(state, passed) || !draft.isDue(deadline)) continue;
    const by = expires.refreshable ? "expired" : "default";
    close(draft, id, prompt_id, { decision: expires.decision, by, message: "Nobody answered in time." });
  }
}
