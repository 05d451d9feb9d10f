// What the usual programs of agents need from outside: the variables with their keys, and the way to their services.
// PA1. An agent gets the keys of its own provider, and none of another.
// PA2. Which keys it gets is part of its recipe: agents of older versions, whose recipes do not say it, keep what they
//      had.
// PA3. From a sandbox a program reaches its usual service by a tunnel, and one that the operator chose (its address in
//      a variable) as plain HTTP, which its proxy passes on. So does a program whose key stays outside (`key_proxy`):
//      the proxy adds it, and the program gets a word in its place.
import { isList } from "../../base/json.ts";
import { baseName } from "../../base/path.ts";
import type { Recipe } from "./provider.ts";

type Access = {
  /** In the order in which the program looks for one. */
  readonly keys: readonly string[];
  readonly hosts: readonly string[];
  /** The variable with the address of its service, and what it is without one; null if there is no such variable. */
  readonly base: { readonly variable: string; readonly url: string } | null;
};

/** How a program in a sandbox reaches the service of its provider, and the variables that tell it so. */
export type ServiceAccess = {
  readonly hosts: readonly string[];
  readonly service: { readonly url: string; readonly identity: Env } | null;
  readonly variables: Env;
};

type Env = Readonly<Record<string, string>>;
type AgentProgram = { readonly provider: string; readonly command: readonly string[] };

/** By the first part of the program's name: `codex-acp` is `codex`. */
const PROGRAMS: ReadonlyMap<string, Access> = new Map<string, Access>([
  [
    "claude",
    {
      keys: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
      hosts: ["api.anthropic.com"],
      base: { variable: "ANTHROPIC_BASE_URL", url: "https://api.anthropic.com" },
    },
  ],
  ["codex", { keys: ["OPENAI_API_KEY", "CODEX_API_KEY"], hosts: ["api.openai.com", "chatgpt.com"], base: null }],
  [
    "gemini",
    {
      keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      hosts: ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
      base: null,
    },
  ],
]);

const ALL_KEYS: readonly string[] = [...PROGRAMS.values()].flatMap(({ keys }) => keys);

/** The variables that an agent gets, of those that all agents may have. */
export function variablesFor(recipe: Recipe, names: readonly string[]): readonly string[] {
  const { keys } = recipe.options;
  if (keys === undefined) return names; // PA2
  return [...names.filter((name) => !ALL_KEYS.includes(name)), ...keysOf(recipe)]; // PA1
}

/** Those that the configuration names, otherwise the usual ones of its program. */
export function keysOf(recipe: Recipe): readonly string[] {
  const { keys = null } = recipe.options;
  if (isList(keys)) return keys.filter((name) => typeof name === "string");
  return accessOf(recipe)?.keys ?? [];
}

/** Whether its sandbox lets it reach a service without being told of it. */
export function hasKnownService(program: AgentProgram): boolean {
  return accessOf(program) !== undefined;
}

/** Whether its key can stay outside: only if we know how requests to its service are authenticated. */
export function canHideKey(recipe: Recipe): boolean {
  return accessOf(recipe)?.base != null;
}

export function hidesKey({ options }: Recipe): boolean {
  return options["key_proxy"] === true;
}

/** PA3. `env` is what it would get without a proxy, `proxy` the proxy's address in the sandbox. */
export function serviceAccess(recipe: Recipe, env: Env, proxy: string): ServiceAccess {
  const { hosts = [], base = null } = accessOf(recipe) ?? {};
  const chosen = base === null ? undefined : env[base.variable];
  if (base === null || (chosen === undefined && !hidesKey(recipe))) return { hosts, service: null, variables: {} };
  const key = hidesKey(recipe) ? keysOf(recipe).find((name) => env[name] !== undefined) : undefined;
  const identity = key === undefined ? {} : identityOf(key, env[key] ?? "");
  const variables = { ...(key !== undefined && { [key]: PLACEHOLDER }), [base.variable]: proxy };
  return { hosts: [], service: { url: chosen ?? base.url, identity }, variables };
}

/** PA3. Without a proxy that adds it, such a program has no key at all. */
export function withoutHidden(recipe: Recipe, env: Env): Env {
  if (!hidesKey(recipe)) return env;
  const keys = keysOf(recipe);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !keys.includes(name)));
}

/** What a program finds where its key would be. */
const PLACEHOLDER = "held-by-the-proxy";

function identityOf(name: string, key: string): Env {
  return name === "ANTHROPIC_API_KEY" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
}

function accessOf({ provider, command }: AgentProgram): Access | undefined {
  const program = provider === "claude" ? "claude" : baseName(command[0] ?? "");
  return PROGRAMS.get(program.split("-")[0] ?? "");
}
