// Which process is killed first when memory runs out: `oom_score_adj`, which a child inherits from us at its start.
// Best effort: if the system does not permit it, the child is started all the same.
import { constants, openSync, readSync, writeSync } from "node:fs";
import { isFault } from "../../base/fault.ts";
import { attempt } from "./attempt.ts";

const PATH = "/proc/self/oom_score_adj";
/** Enough to outweigh any difference in size that matters; 1000 is the system's limit. */
const MORE = 300;
const LIMIT = 1000;

/** Kept open: a holder of attempts starts one program after the other. */
let file: number | undefined;

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
  const into = Buffer.alloc(16);
  const length = favour((fd) => readSync(fd, into, 0, into.length, 0));
  return length === undefined ? undefined : Number(into.toString("latin1", 0, length));
}

function set(value: number): boolean {
  return favour((fd) => writeSync(fd, String(value), 0)) !== undefined;
}

function favour<T>(act: (fd: number) => T): T | undefined {
  try {
    return attempt("favour", PATH, () => {
      file ??= openSync(PATH, constants.O_RDWR);
      return act(file);
    });
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
