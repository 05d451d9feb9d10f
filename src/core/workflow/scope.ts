// What names mean at a place of a run.
// S1. An item sees its own variables first, then the run's; what it sets is its own.
// S2. The names in BUILT_IN always mean the same: no step may set them.

import type { Json } from "../../base/json.ts";
import { lookUp } from "../../base/table.ts";
import type { Scope } from "./evaluate.ts";
import { eachItem, itemIn } from "./item-list.ts";
import type { Run, Track } from "./run.ts";

export const BUILT_IN: readonly string[] = ["item", "item_index", "iteration", "map", "error", "run"];

export function scopeOf(run: Run, track: Track): Scope {
  const look = (name: string): Json | undefined => {
    if (BUILT_IN.includes(name)) return builtIn(run, track, name); // S2
    return Object.hasOwn(track.variables, name) ? track.variables[name] : lookUp(run.variables, name); // S1
  };
  return { look };
}

function builtIn(run: Run, track: Track, name: string): Json | undefined {
  if (name === "run") return runOf(run);
  if (name === "iteration") return track.place.iteration;
  if (name === "map") return mapOf(run);
  if (name === "error") return errorOf(track);
  if (track.item === undefined) return undefined;
  return name === "item" ? itemIn(run.items.all, track.item)?.value : track.item;
}

/** `run.worktree` is null if there is none. */
function runOf({ id, name, cwd, worktree }: Run): Json {
  if (worktree === undefined) return { id, name, cwd, worktree: null };
  return { id, name, cwd, worktree: worktree.path, repository: worktree.repository, branch: worktree.branch };
}

function errorOf({ handling }: Track): Json | undefined {
  if (handling === undefined) return undefined;
  const { step, message, exit_code } = handling.error;
  return { step, message, exit_code };
}

/** Evaluating `map` costs as much as there are items, so only expressions that name it pay for it. */
function mapOf({ items, definition }: Run): Json | undefined {
  if (definition.flow.mode !== "mapreduce") return undefined;
  const results: Json[] = [];
  const errors: Json[] = [];
  for (const { value, state } of eachItem(items.all)) {
    if (state.kind === "succeeded") results.push(state.result);
    if (state.kind === "failed" || state.kind === "cleared") errors.push({ item: value, error: state.error.message });
  }
  return { total: items.all.length, successful: items.succeeded, failed: items.failed, results, errors };
}
