// Words that the commands on workflows have in common.
import { text } from "../flags.ts";
import type { Context } from "../outside.ts";

export const ROW =
  "{id, name, path, state, step, steps, startedAt, at, iteration, items, needs, error, resumed, worktree}";

function proposeRuns(this: Context): Promise<readonly string[]> {
  return this.runs?.() ?? Promise.resolve([]);
}

/** A run that exists. */
export const workflow = {
  parse: text,
  placeholder: "run",
  brief: "A run's id, the beginning of its id, its name, or the path of its file",
  proposeCompletions: proposeRuns,
} as const;
