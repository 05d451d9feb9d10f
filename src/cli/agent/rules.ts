// `holdfast rules ls|add|rm`: what agents are allowed or denied without asking a person.
// RU1. A rule's id is chosen before it is added, so that a retry after a daemon died adds the same rule.
// RU2. A rule that allows more than it seems to gets a warning.

import { newId } from "../../base/ids.ts";
import { canonical, parseJson } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { pickRule } from "../../core/agent/find.ts";
import type { Decision } from "../../core/agent/provider.ts";
import { warningsOf } from "../../core/agent/rule-warnings.ts";
import { type Rule, whyUnfit } from "../../core/agent/rules.ts";
import type { ListedAgent, OwnedRule } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { NO_SUCH_METHOD } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome, meantHome } from "../home.ts";
import { look } from "../look.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { findAgent } from "./find.ts";

export type AddRuleFlags = DataFlags & {
  readonly arg?: readonly string[];
  readonly input?: string;
  readonly agent?: string;
  readonly message?: string;
};

/** Unique among a thousand, and short enough to type. */
const ID_LENGTH = 12;
const HEAD = ["ID", "AGENT", "DECISION", "TOOL", "ARGUMENTS", "MESSAGE"];
const CUTS = [
  { column: HEAD.indexOf("MESSAGE"), keeps: "start" },
  { column: HEAD.indexOf("ARGUMENTS"), keeps: "start" },
] as const;

function ruleRow({ agent, rule, from }: OwnedRule) {
  const { rule_id, decision, tool, args, message, input } = rule;
  const more = { ...(input !== undefined && { input }), ...(from !== undefined && { from }) };
  return { id: rule_id, agent, decision, tool, args, message, ...more };
}

/** What it is about: the tool, and its arguments. */
export function ruleText(rule: Rule): string {
  return [rule.tool, argumentText(rule)].filter((part) => part !== "").join(" ");
}

/** An input says more than the patterns beside it (P5 of core/agent/rules.ts). */
function argumentText({ args, input }: Rule): string {
  if (input !== undefined) return `with exactly ${input}`;
  return Object.entries(args)
    .map(([name, pattern]) => `${name}=${pattern}`)
    .join(" ");
}

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const found = await look(world, { home: home.value, json: flags.json }, async (client) => {
    const rules = await allRows(client, "rule.list", {});
    const agents = await allRows(client, "agent.list", {});
    if (!rules.ok) return rules;
    return agents.ok ? ok({ rules: rules.value, agents: agents.value }) : agents;
  });
  if (!found.ok) return found;
  const { rules, agents } = found.value;
  if (flags.json) await printJson(world.console, rules.map(ruleRow));
  else if (rules.length === 0) await say(world.console, "there are no rules: agents ask about everything.");
  else await world.console.out.write(tableOf(world, rules, agents));
  return ok(EXIT.ok);
}

function tableOf({ console }: DaemonCommandWorld, rules: readonly OwnedRule[], agents: readonly ListedAgent[]): string {
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  const rows = rules.map(({ agent, rule }) => {
    const { rule_id, decision, tool, message } = rule;
    const owner = agent === null ? "all" : (names.get(agent) ?? agent);
    return [rule_id, owner, decision, tool, argumentText(rule), message].map(visibleLine);
  });
  return tableText(console, [HEAD, ...rows], CUTS);
}

async function add(world: DaemonCommandWorld, flags: AddRuleFlags, decision: Decision, tool: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  const rule_id = newId(world.random.bytes(16)).slice(0, ID_LENGTH); // RU1
  const made = ruleOfFlags(flags, { rule_id, decision, tool, message: flags.message ?? "" });
  if (!home.ok) return home;
  if (!made.ok) return made;
  const rule = made.value;
  const added = await onDaemon(world, home.value, async (client, again): Promise<Result<OwnedRule>> => {
    const owner = flags.agent === undefined ? undefined : await findAgent(client, flags.agent);
    if (owner?.ok === false) return owner;
    const agent = owner?.value.id ?? null;
    const done = await client.call("rule.add", { agent, rule });
    return done.ok || (again && done.error.code === "id-taken") ? ok({ agent, rule }) : done;
  });
  if (!added.ok) return added;
  const warnings = warningsOf(rule);
  if (flags.json) await printJson(world.console, { ...ruleRow(added.value), warnings });
  else await world.console.out.write(`${rule_id}\n`);
  for (const warning of warnings) await say(world.console, `careful: ${warning}`); // RU2
  return ok(EXIT.ok);
}

function ruleOfFlags({ arg = [], input }: AddRuleFlags, head: Omit<Rule, "args" | "input">): Result<Rule> {
  const args = argsOf(arg);
  if (!args.ok) return args;
  const value = input === undefined ? undefined : parseJson(input);
  if (value?.ok === false)
    return refused("usage", "The input is not JSON.", 'Give it as --input \'{"command":"ls"}\'.');
  const rule: Rule = { ...head, args: args.value, ...(value !== undefined && { input: canonical(value.value) }) };
  const wrong = whyUnfit(rule);
  if (wrong === undefined) return ok(rule);
  const hint = "In a pattern, `*` is any characters, `?` is one, `[ab]` is one of these.";
  return refused("usage", `This is not a rule: ${wrong}.`, hint);
}

function argsOf(given: readonly string[]): Result<Readonly<Record<string, string>>> {
  const wrong = given.find((one) => one.indexOf("=") < 1);
  if (wrong !== undefined)
    return refused("usage", `"${wrong}" is not an argument.`, "Give it as --arg name='pattern'.");
  return ok(Object.fromEntries(given.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])));
}

async function rm(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  let rule: string | undefined;
  const removed = await onDaemon(world, home.value, async (client, again): Promise<Result<string>> => {
    const meant: Result<string> = rule === undefined ? await ruleOf(client, key) : ok(rule);
    if (!meant.ok) return meant;
    rule = meant.value;
    const done = await client.call("rule.remove", { rule });
    return done.ok || (again && done.error.code === "unknown") ? ok(rule) : done;
  });
  if (!removed.ok) return removed;
  if (flags.json) await printJson(world.console, { id: removed.value });
  return ok(EXIT.ok);
}

/** A daemon that is older than this lists them, and the rule is applied here. */
async function ruleOf(client: RpcClient, key: string): Promise<Result<string>> {
  let found = await client.call("rule.find", { key });
  if (!found.ok && found.error.code === NO_SUCH_METHOD) {
    const rules = await allRows(client, "rule.list", {});
    found = rules.ok ? pickRule(rules.value, key) : rules;
  }
  return found.ok ? ok(found.value.rule.rule_id) : found;
}

export const rulesLsCommand = withDaemonWorld(ls);
export const rulesAddCommand = withDaemonWorld(add);
export const rulesRmCommand = withDaemonWorld(rm);
