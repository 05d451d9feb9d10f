// What a child gets of its parent: never more than the parent has. Rules are in prompts.ts (H5).
// IN1. An agent starts others on its own provider, or on one that its provider's configuration lists. This holds for
//      each of its ancestors as well: a chain of providers reaches nothing that its first member does not list.
// IN2. A child does without asking at most what its parent does: the permission mode is a ceiling for all below, also
//      if the parent's own provider has no modes.
// IN3. The child of a sandboxed agent is in a sandbox that shows nothing else, no matter who creates it.
import { own } from "../../base/own.ts";
import { type Refusal, refused } from "../../base/result.ts";
import type { Agent } from "./agent.ts";
import type { AgentConfig } from "./draft.ts";
import type { Recipe } from "./provider.ts";
import type { Sandbox } from "./workspace.ts";

/** The configured name of its provider; recipes of older versions have only the kind. */
export function providerName({ name, provider }: Recipe): string {
  return name ?? provider;
}

/** IN1. `line` is the agent that spawns and its ancestors. */
export function whyNotOn(line: Iterable<Agent>, wanted: string, spawns: AgentConfig["spawns"]): Refusal | undefined {
  for (const { name, plan } of line) {
    const provider = providerName(plan.recipe);
    if (provider === wanted || own(spawns, provider)?.includes(wanted)) continue;
    const hint = `A person can allow it in the configuration: [provider.${provider}] spawns = ["${wanted}"].`;
    return refused("not-listed", `${name} runs on ${provider}, whose agents may not start any on ${wanted}.`, hint)
      .error;
  }
  return undefined;
}

/** From the one in which Claude Code asks most to the one in which it asks nothing. */
const MODES = ["plan", "default", "acceptEdits", "auto", "bypassPermissions"];
const EVERYTHING = "bypassPermissions";

type Mode = Recipe["permissionMode"];

/** IN2. A mode that this version does not know is below itself and below the one in which nothing is asked. */
function isBelow(mode: Mode, ceiling: Mode): boolean {
  const [wanted, most] = [mode ?? "default", ceiling ?? "default"];
  if (wanted === most || most === EVERYTHING) return true;
  return MODES.includes(wanted) && MODES.indexOf(wanted) <= MODES.indexOf(most);
}

/** IN2. The recipe of a child whose mode nobody chose. */
export function lowered(recipe: Recipe, { permissionMode: ceiling }: Recipe): Recipe {
  return isBelow(recipe.permissionMode, ceiling) ? recipe : { ...recipe, permissionMode: ceiling };
}

/** IN2. For a child whose mode a person chose. */
export function whyNotMode({ permissionMode: mode }: Recipe, { name, plan }: Agent): Refusal | undefined {
  const { permissionMode: ceiling } = plan.recipe;
  if (isBelow(mode, ceiling)) return undefined;
  const what = `${name} has the permission mode ${ceiling ?? "default"}, and its agents cannot have ${mode}.`;
  return refused("above-parent", what, "Choose a lower --permission-mode, or create it without --parent.").error;
}

/** What a person wants a child to see. */
export type WantedPlaces = Pick<Sandbox, "read" | "write" | "network"> & { readonly cwd: string };

/** IN3 */
export function whyNotThere(parent: string, sandbox: Sandbox, wanted: WantedPlaces): Refusal | undefined {
  const seen = [...sandbox.read, ...sandbox.write];
  const hidden = [wanted.cwd, ...wanted.read].find((path) => !isIn(path, seen));
  const kept = wanted.write.find((path) => !isIn(path, sandbox.write));
  const hint = "Bind less, or create it without --parent.";
  if (hidden !== undefined)
    return refused("above-parent", `${parent} is in a sandbox that does not show ${hidden}.`, hint).error;
  if (kept !== undefined)
    return refused("above-parent", `${parent} is in a sandbox in which ${kept} cannot be changed.`, hint).error;
  if (!wanted.network || sandbox.network) return undefined;
  return refused("above-parent", `${parent} is in a sandbox without a network.`, "Add --no-network.").error;
}

function isIn(path: string, places: readonly string[]): boolean {
  return !path.split("/").includes("..") && places.some((place) => path === place || path.startsWith(`${place}/`));
}
