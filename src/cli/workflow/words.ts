// Words that the commands on workflows have in common.
import { proposing, text } from "../flags.ts";

export const ROW =
  "{id, name, path, state, step, steps, startedAt, at, iteration, items, needs, error, resumed, worktree}";

/** A run that exists. */
export const workflow = {
  parse: text,
  placeholder: "run",
  brief: "A run's id, the beginning of its id, its name, or the path of its file",
  proposeCompletions: proposing("run"),
} as const;
