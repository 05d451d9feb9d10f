// Which process is killed first when memory runs out: `oom_score_adj`, which a child inherits from us at its start.
// Best effort: if the system does not permit it, the child is started all the same.
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import { attempt } from "./attempt.ts";

const PATH = "/proc/self/oom_score_adj";
/** Enough to outweigh any difference in size that matters; 1000 is the system's limit. */
const MORE = 300;
const LIMIT = 1000;

export function withHigherOomScore<T>(act: () => T): T {
  const before = score();
  if (before === undefined || !set(Math.min(LIMIT, before + MORE))) return act();
  try {
    return act();
  } finally {
    set(before);
  }
}

function score(): number | undefined {
  const found = favour(() => readFileSync(PATH, "latin1"));
  return found === undefined ? undefined : Number(found);
}

function set(value: number): boolean {
  return (
    favour(() => {
      const file = openSync(PATH, constants.O_WRONLY);
      try {
        return writeSync(file, String(value));
      } finally {
        closeSync(file);
      }
    }) !== undefined
  );
}

function favour<T>(act: () => T): T | undefined {
  try {
    return attempt("favour", PATH, act);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
