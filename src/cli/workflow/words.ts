// Texts that the workflow commands share.
import { proposing, text } from "../flags.ts";

export const ROW =
  "{id, name, path, state, step, steps, startedAt, at, iteration, items, needs, error, resumed, worktree}";

/** An existing run. */
export const workflow = {
  parse: text,
  placeholder: "run",
  brief: "A run's id, a prefix of its id, its name, or the path of its file",
  proposeCompletions: proposing("run"),
} as const;
