// The configuration of agents in the form that the core uses: slots, settings, and the recipes of named providers.
import type { AgentConfig } from "../../core/agent/draft.ts";
import { PROVIDERS, type ProviderName, type Recipe } from "../../core/agent/provider.ts";
import { SHIPPED } from "../../core/agent/shipped.ts";
import type { Config, Providing } from "../../wire/files/config-schema.ts";
import { configRules } from "../../wire/rpc/listed-agent.ts";

const DAY_MS = 86_400_000;

/** Every decision asks for it, and few configurations are read. */
const known = new WeakMap<Config, AgentConfig>();

export function agentConfigOf(config: Config): AgentConfig {
  const made = known.get(config) ?? madeOf(config);
  known.set(config, made);
  return made;
}

function madeOf({ agents, provider, rule }: Config): AgentConfig {
  const slots = Object.fromEntries(PROVIDERS.map((name) => [name, agents.slots]));
  const named = Object.entries(provider).map(([name, providing]): [string, Recipe] => [
    name,
    recipeOf(name, providing),
  ]);
  return {
    slots,
    paused: false,
    rules: configRules({ rule }),
    defaults: {
      recovery: agents.recovery,
      recovery_prompt: agents.recoveryPrompt,
      hung_after_ms: agents.hungAfterS * 1000,
      prompt_ttl_ms: agents.promptDays * DAY_MS,
      sleep_on_limit: agents.sleepOnLimit,
    },
    spawns: Object.fromEntries(Object.entries(provider).map(([name, { spawns }]) => [name, spawns])),
    recipes: {
      ...Object.fromEntries(PROVIDERS.map((name) => [name, plain(name)])),
      ...SHIPPED, // SH1
      ...Object.fromEntries(named),
    },
  };
}

/** A provider without any configuration. */
function plain(provider: ProviderName): Recipe {
  return { provider, model: null, command: [], flags: [], permissionMode: null, options: { keys: null } };
}

function recipeOf(name: string, providing: Providing): Recipe {
  const { kind, command, flags, model, permissionMode } = providing;
  const mode = permissionMode === "default" ? null : permissionMode;
  return {
    ...{ provider: kind, name, model: model === "default" ? null : model, command, flags, permissionMode: mode },
    options: optionsOf(providing),
  };
}

function optionsOf({ kind, baseUrl, keyEnv, keys, keyProxy, contextTokens, ...other }: Providing): Recipe["options"] {
  if (kind === "openai")
    return { base_url: baseUrl, key_env: keyEnv, ...(contextTokens > 0 && { context_tokens: contextTokens }) };
  const named = { keys: keys.length === 0 ? null : keys, ...(keyProxy && { key_proxy: true }) };
  if (kind !== "command") return named;
  const { resume, sessionPath, outputPath } = other;
  return { ...named, resume, session_path: sessionPath, ...(outputPath !== "" && { output_path: outputPath }) };
}
