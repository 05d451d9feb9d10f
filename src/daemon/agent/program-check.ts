// Whether the program of a new agent is there: a name that nothing leads to is refused when the agent is created, and
// not reported minutes later by an agent that cannot start.
// PC1. Names are looked up on the PATH that the agent will have: that of the caller, which is recorded, and the
//      daemon's own only if there is none. The refusal says whose it was.
// PC2. A path that begins in a worktree or a clone is not checked: they do not exist yet.
import { joinPath } from "../../base/path.ts";
import { type Refusal, refused } from "../../base/result.ts";
import type { SessionPlan } from "../../core/agent/events.ts";
import { type Recipe, styleOf } from "../../core/agent/provider.ts";
import { findProgram, isProgram } from "../../home/find-program.ts";
import type { Disk } from "../../world/disk.ts";

export type ProgramSearch = {
  readonly disk: Disk;
  /** The daemon's own PATH, if agents get it. */
  readonly ownPath: string | undefined;
};

export function whyNoProgram(
  { disk, ownPath }: ProgramSearch,
  { recipe, cwd, environment, workspace }: Pick<SessionPlan, "recipe" | "cwd" | "environment" | "workspace">,
): Refusal | undefined {
  const program = programOf(recipe);
  if (program === undefined) return undefined;
  const hint = "Install it, or give its whole path after --, or in [provider.NAME] command.";
  if (program.includes("/")) {
    const isRelative = !program.startsWith("/");
    if (isRelative && workspace !== null && (workspace.worktree !== null || workspace.sandbox !== null))
      return undefined; // PC2
    const path = isRelative ? joinPath(cwd, program) : program;
    if (isProgram(disk, path)) return undefined;
    return refused("no-program", `${path} is not a program.`, hint).error;
  }
  const path = environment["PATH"] ?? ownPath ?? "";
  if (findProgram(disk, path, program) !== undefined) return undefined;
  const whose = environment["PATH"] === undefined ? "the PATH of Holdfast's daemon" : "your PATH"; // PC1
  return refused("no-program", `${program} is not on ${whose}: ${path}`, hint).error;
}

function programOf(recipe: Recipe): string | undefined {
  if (styleOf(recipe) === "request") return undefined;
  return recipe.command[0] ?? (recipe.provider === "claude" ? "claude" : undefined);
}
