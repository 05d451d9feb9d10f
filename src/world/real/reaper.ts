// Makes this process the one that the orphans among its descendants are given to (a child subreaper, Linux): what a
// program leaves behind stays below us, even after a double fork into a session of its own.
// RE1. What we were given must be waited for when it ends, one by one. Waiting for just any child would take the ends
//      of our own children away from Bun.
// RE2. Best effort: if the system does not permit it, orphans go where they always went.
import { readdirSync, readFileSync } from "node:fs";
import type { Program } from "../program.ts";
import { attempt, unless } from "./attempt.ts";
import { fieldsIn, GONE, statLine } from "./identities.ts";
import { fromLibc } from "./libc.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const TASKS = "/proc/self/task";

type Library = ReturnType<typeof load>;

/** `own`: the pid of our own child, once there is one. */
export function adoptOrphans(program: Pick<Program, "onSignal">, own: () => number | undefined): void {
  const library = tried(load);
  if (library === undefined || library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return; // RE2
  program.onSignal("SIGCHLD", () => reap(library, own()));
}

/** RE1 */
function reap({ waitpid }: Library, own: number | undefined): void {
  const threads = unless(GONE, [], () => attempt("reap", TASKS, () => readdirSync(TASKS)));
  for (const pid of threads.flatMap(childrenOf)) {
    const isZombie = fieldsIn(statLine("reap", `/proc/${pid}/stat`) ?? ") ?")[0] === "Z";
    if (pid !== own && isZombie) waitpid(pid, null, WNOHANG);
  }
}

function childrenOf(thread: string): number[] {
  const path = `${TASKS}/${thread}/children`;
  const text = unless(GONE, "", () => attempt("reap", path, () => readFileSync(path, "latin1")));
  return text.split(" ").filter(Boolean).map(Number);
}

function load() {
  return fromLibc({
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  });
}

function tried<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error) return undefined; // RE2
    throw error;
  }
}
