// The recipe of a new agent: its provider's configuration, with what the request overrides.
import { own } from "../../base/own.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { AgentConfig } from "../../core/agent/draft.ts";
import type { Recipe } from "../../core/agent/provider.ts";

export type RecipeWish = Pick<Recipe, "model" | "command" | "flags" | "permissionMode"> & { readonly provider: string };

const NEEDS_COMMAND: readonly string[] = ["acp", "command", "scripted"];

export function recipeFor(agentConfig: Pick<AgentConfig, "recipes">, wish: RecipeWish): Result<Recipe> {
  const known = own(agentConfig.recipes, wish.provider);
  if (known === undefined) return noProvider(wish.provider, Object.keys(agentConfig.recipes));
  const recipe = {
    ...known,
    model: wish.model ?? known.model,
    command: wish.command.length > 0 ? wish.command : known.command,
    flags: [...known.flags, ...wish.flags],
    permissionMode: wish.permissionMode ?? known.permissionMode,
  };
  const lacks = recipe.command.length === 0 && NEEDS_COMMAND.includes(recipe.provider);
  return lacks ? noCommand(recipe.provider) : ok(recipe);
}

function noProvider(name: string, known: readonly string[]): Result<never> {
  const add = `add [provider.${name}] to the configuration, then: holdfast reload`;
  const hint = `Use one of ${known.join(", ")}, or ${add}`;
  return refused("unknown-provider", `There is no provider ${name}.`, hint);
}

function noCommand(provider: string): Result<never> {
  return refused(
    "no-command",
    `The provider ${provider} needs a command.`,
    "Give it after --, or in the configuration as [provider.NAME] command.",
  );
}
