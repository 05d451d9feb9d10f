// The permission commands: what agents ask, what people answer, and the rules that decide without asking.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { allHomes, type DataFlags, described, flag, home, proposing, text, textFlag } from "../flags.ts";
import type { AnswerFlags, PromptsFlags } from "./prompts.ts";
import type { AddRuleFlags } from "./rules.ts";

const PROMPT = "{id, agent, tool, input, since, deadline, state, name, stage}";
const RULE = "{id, agent, decision, tool, args, message, input?}";

const DECISIONS = ["allow", "deny"] as const;

function decisionOf(input: string): (typeof DECISIONS)[number] {
  const found = DECISIONS.find((decision) => decision === input);
  if (found === undefined) throw new Error("it must be allow or deny");
  return found;
}

const decision = {
  parse: decisionOf,
  placeholder: "allow|deny",
  brief: "The decision",
  proposeCompletions: () => DECISIONS,
} as const;

const promptId = {
  parse: text,
  placeholder: "prompt",
  brief: "A prompt's id, or at least its first 8 characters; of another home of the fleet also HOST/ID",
  proposeCompletions: proposing("prompt"),
} as const;

const prompts = buildCommand<PromptsFlags, [prompt?: string], Context>({
  loader: async () => (await import("./prompts.ts")).promptsCommand,
  parameters: {
    flags: {
      home,
      all: allHomes,
      json: flag(`One JSON array of ${PROMPT}; with --all also {host, home, ageMs}`),
    },
    positional: { kind: "tuple", parameters: [{ ...promptId, optional: true }] },
  },
  docs: described(
    "Show what agents ask, with everything they want to do; or one prompt, also if it is answered",
    "Each line of an agent's input begins with a bar: │, or ┆ if it continues the line above. Characters that cannot be",
    "seen are shown as \\u followed by their number.",
  ),
});

const answer = buildCommand<AnswerFlags, [prompt: string, decision: "allow" | "deny"], Context>({
  loader: async () => (await import("./prompts.ts")).answerCommand,
  parameters: {
    flags: {
      home,
      message: textFlag("text", "A message to the agent with the decision"),
      always: flag("Also add a rule for this agent, for this tool and exactly this input"),
      json: flag(`One JSON object ${PROMPT}, with --always also {rule}`),
    },
    positional: { kind: "tuple", parameters: [promptId, decision] },
  },
  docs: described(
    "Answer a permission prompt",
    "An answer is given once, and kept until the agent has received it. If the process that asked is gone,",
    "the agent has to ask again. What was answered is shown. If the id is not given in full on a terminal, it is",
    "shown first, and you are asked. A prompt of another home of the fleet (prompts --all) is answered there: the",
    "command waits for what becomes of it.",
  ),
});

const ls = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./rules.ts")).rulesLsCommand,
  parameters: { flags: { home, json: flag(`One JSON array of ${RULE}`) } },
  docs: { brief: "List the rules; an agent's own rules come first, and the first match decides" },
});

const add = buildCommand<AddRuleFlags, [decision: "allow" | "deny", tool: string], Context>({
  loader: async () => (await import("./rules.ts")).rulesAddCommand,
  parameters: {
    flags: {
      home,
      arg: {
        kind: "parsed",
        parse: text,
        variadic: true,
        optional: true,
        placeholder: "name=pattern",
        brief: "A pattern for an argument, such as command='git log *'. All patterns must match",
      },
      input: textFlag("json", "Exactly this input, in whatever order its names come"),
      agent: { ...textFlag("agent", "Only for this agent [default = all]"), proposeCompletions: proposing("agent") },
      message: textFlag("text", "A message to the agent"),
      json: flag(`One JSON object ${RULE}, with {warnings}`),
    },
    positional: {
      kind: "tuple",
      parameters: [
        decision,
        { parse: text, placeholder: "tool", brief: "A pattern for the tool's name: Bash, mcp__*" },
      ],
    },
  },
  docs: described(
    "Add a rule that decides without asking",
    "For example: holdfast rules add allow Bash --arg command='git log *'",
    "Prints the rule's id. A pattern must match the whole text: `*` is any characters, `?` one, `[ab]` one of these.",
    "In an allow rule, `*` matches neither a line end nor anything that joins commands in a shell (; & | < > ` $), nor",
    "an option: `git log *` allows neither `git log; rm -rf ~` nor `git log --output=x`, but `git log --oneline *` allows",
    "that one. `**` matches everything. In a deny rule `*` matches everything. Arguments that are not texts are matched",
    "as JSON. What an agent is denied is denied all agents below it.",
  ),
});

const rm = buildCommand<DataFlags, [rule: string], Context>({
  loader: async () => (await import("./rules.ts")).rulesRmCommand,
  parameters: {
    flags: { home, json: flag("One JSON object {id}") },
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: text,
          placeholder: "rule",
          brief: "A rule's id, or a prefix of it",
          proposeCompletions: proposing("rule"),
        },
      ],
    },
  },
  docs: { brief: "Remove a rule" },
});

const rules = buildRouteMap({
  routes: { ls, add, rm },
  docs: { brief: "Rules for what agents may do without asking: ls, add, rm" },
});

export const permissionRoutes = { prompts, answer, rules };
