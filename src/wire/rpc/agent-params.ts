// Where what a client says about agents becomes a type.
import { isId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { AgentSettings } from "../../core/agent/events.ts";
import type { Rule } from "../../core/agent/rules.ts";
import { isObject } from "../lines.ts";
import type { NewAgent } from "./agent.ts";

type Check = (value: unknown) => boolean;
type Given = Readonly<Record<string, unknown>>;

const isText: Check = (value) => typeof value === "string";
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isTable: Check = (value) => isObject(value) && Object.values(value).every(isText);
const isMs: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 1000;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const isPaths: Check = (value) => Array.isArray(value) && value.every((path) => isText(path) && path.startsWith("/"));
const isSandbox: Check = (value) =>
  isObject(value) && isPaths(value["read"]) && isPaths(value["write"]) && typeof value["network"] === "boolean";
const isWorkspace: Check = (value) =>
  isObject(value) && typeof value["worktree"] === "boolean" && orNull(isSandbox)(value["sandbox"]);

const NEW: Readonly<Record<keyof NewAgent, Check>> = {
  id: (value) => typeof value === "string" && isId(value),
  name: isText,
  parent: orNull(isText),
  instructions: isText,
  provider: orNull(isText),
  model: orNull(isText),
  systemPrompt: isText,
  cwd: (value) => typeof value === "string" && value.startsWith("/"),
  env: isTable,
  command: isTexts,
  flags: isTexts,
  permissionMode: orNull(isText),
  settings: isObject,
  workspace: (value) => value === undefined || isWorkspace(value),
};

const SETTINGS: Readonly<Record<keyof AgentSettings, Check>> = {
  recovery: (value) => value === "auto" || value === "parent" || value === "ask" || value === "never",
  recovery_prompt: isText,
  hung_after_ms: isMs,
  prompt_ttl_ms: isMs,
  prompt_default: orNull((value) => {
    return (
      isObject(value) && isMs(value["after_ms"]) && (value["decision"] === "allow" || value["decision"] === "deny")
    );
  }),
  sleep_on_limit: (value) => typeof value === "boolean",
};

const RULE: Readonly<Record<keyof Rule, Check>> = {
  rule_id: isText,
  decision: isText,
  tool: isText,
  args: isTable,
  message: isText,
};

export function readNewAgent(given: Given): Result<NewAgent> {
  const wrong = wrongIn(NEW, given);
  if (wrong !== undefined) return malformed(wrong);
  const settings = readSettings(given["settings"]);
  return settings.ok ? ok({ ...(given as NewAgent), settings: settings.value }) : settings;
}

/** Some of them; what is not named stays as it is. */
export function readSettings(given: unknown): Result<Partial<AgentSettings>> {
  if (!isObject(given)) return malformed("settings");
  const names = Object.keys(given);
  const wrong = names.find(
    (name) => !Object.hasOwn(SETTINGS, name) || !SETTINGS[name as keyof AgentSettings](given[name]),
  );
  return wrong === undefined ? ok(given as Partial<AgentSettings>) : malformed(wrong);
}

export function readRule(given: unknown): Result<Rule> {
  const wrong = isObject(given) ? wrongIn(RULE, given) : "rule";
  return wrong === undefined ? ok(given as Rule) : malformed(wrong);
}

/** Arguments came as JSON, so that is what they are. */
export function jsonOf(value: unknown): Json {
  return (value ?? {}) as Json;
}

function wrongIn(checks: Readonly<Record<string, Check>>, given: Given): string | undefined {
  return Object.keys(checks).find((name) => checks[name]?.(given[name]) !== true);
}

function malformed(name: string): Result<never> {
  const hint = "The command and the daemon may be of different versions.";
  return refused("bad-params", `The request is malformed: ${name} is not what it should be.`, hint);
}
