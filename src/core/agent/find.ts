// Finds the agent that a person means.
// FA1. A name means the one agent with exactly this name; if several parents have one, `parent/name` distinguishes
//      them. Anything else is a prefix of an id that matches only one agent. No match is refused; it never means "the
//      last one".
// FA4. A prompt and a rule are meant by the beginning of an id. Of a prompt's at least 8 characters are needed: fewer
//      are easily mistyped into another prompt.
import { matchOne, shortId } from "../../base/ids.ts";
import { nearest } from "../../base/nearest.ts";
import { ok, type Result, refused } from "../../base/result.ts";

/** An agent without a parent has null or none. */
type NamedAgent = { readonly id: string; readonly name: string; readonly parent?: string | null | undefined };

const SEE_ALL = "`holdfast agent tree` shows all.";
/** How many candidates are named. */
const MAX_NAMED = 20;

/** FA1 */
export function pickAgent<T extends NamedAgent>(agents: readonly T[], key: string): Result<T> {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const pathOf = (agent: T) => agentPath(byId, agent);
  const last = key.slice(key.lastIndexOf("/") + 1);
  const named = agents.filter((agent) => agent.name.endsWith(last) && `/${pathOf(agent)}`.endsWith(`/${key}`));
  const [only, ...others] = key === "" ? [] : named;
  if (only !== undefined && others.length === 0) return ok(only);
  if (only !== undefined) return severalOf(named, key, pathOf);
  const id = matchOne(byId.keys(), key);
  const found = id.ok ? byId.get(id.value) : undefined;
  if (found !== undefined) return ok(found);
  if (!id.ok && id.error.code === "ambiguous") return refused("ambiguous", id.error.message, SEE_ALL);
  const message = key === "" ? "No name was given." : `There is no agent ${JSON.stringify(key)}.`;
  const near = nearest(
    key,
    agents.flatMap((agent) => [agent.name, pathOf(agent)]),
  );
  return refused("unknown", message, near === undefined ? SEE_ALL : `Did you mean ${near}? ${SEE_ALL}`);
}

/** FA4 */
const MIN_PROMPT_KEY = 8;

type Prompts<T> = (closed: boolean) => readonly T[];

/** A prompt that is no longer open is found too: answering it is refused with what became of it. */
export function pickPrompt<T extends { readonly id: string }>(prompts: Prompts<T>, key: string): Result<T> {
  const open = matchPrompt(prompts(false), key);
  return open.ok || open.error.code !== "unknown" ? open : matchPrompt(prompts(true), key);
}

/** An id, or its beginning. */
export function matchPrompt<T extends { readonly id: string }>(prompts: readonly T[], key: string): Result<T> {
  const exact = prompts.find(({ id }) => id === key);
  if (exact !== undefined) return ok(exact);
  if (key.length < MIN_PROMPT_KEY) return TOO_SHORT;
  const ids = prompts.map(({ id }) => id);
  const meant = matchOne(ids, key);
  const found = meant.ok ? prompts[ids.indexOf(meant.value)] : undefined;
  if (found !== undefined) return ok(found);
  const none = refused("unknown", `There is no prompt ${key}.`, "holdfast prompts shows all.");
  return meant.ok || meant.error.code === "unknown" ? none : meant;
}

const TOO_SHORT = refused(
  "usage",
  `A prompt is named by at least ${MIN_PROMPT_KEY} characters of its id.`,
  "holdfast prompts",
);

/** FA4 */
export function pickRule<T extends { readonly rule: { readonly rule_id: string } }>(
  rules: readonly T[],
  key: string,
): Result<T> {
  const ids = rules.map(({ rule }) => rule.rule_id);
  const meant = matchOne(ids, key);
  const found = meant.ok ? rules[ids.indexOf(meant.value)] : undefined;
  if (found !== undefined) return ok(found);
  const { code, message } = meant.ok ? { code: "unknown", message: `There is no rule ${key}.` } : meant.error;
  return refused(code, message, "`holdfast rules ls` shows all.");
}

function severalOf<T extends NamedAgent>(found: readonly T[], key: string, pathOf: (agent: T) => string) {
  const named = found.slice(0, MAX_NAMED).map((agent) => `${pathOf(agent)} (${shortId(agent.id)})`);
  const more = found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : "";
  const message = `${JSON.stringify(key)} matches ${found.length}: ${named.join(", ")}${more}.`;
  return refused("ambiguous", message, "Give its path, or its id.");
}

/** The agent's name after those of its parents: `root/worker`. */
function agentPath(agents: ReadonlyMap<string, NamedAgent>, agent: NamedAgent): string {
  const names: string[] = [];
  let above: NamedAgent | undefined = agent;
  while (above !== undefined) {
    names.unshift(above.name);
    const { parent }: NamedAgent = above;
    above = parent == null ? undefined : agents.get(parent);
  }
  return names.join("/");
}
