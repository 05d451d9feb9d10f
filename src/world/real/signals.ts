// Signals to a child's groups. A child on a terminal leads a session; the foreground job may be another group of that
// session.
// S1. A group is signalled only before the child that leads it has been waited for (the caller ensures this): until
//     then its number cannot belong to others.
import { readFileSync } from "node:fs";
import { attempt, systemCode, unless } from "./attempt.ts";

const GONE = ["ENOENT", "ESRCH"];
/** tpgid is field 8 of the stat line; after the name, which is field 2, the manual counts from 3. */
const FOREGROUND = 8 - 3;
/** Signals that should end the child end its shell too, not only the foreground job. */
const ENDINGS = ["SIGHUP", "SIGTERM", "SIGKILL"];

export function signalTerminal(child: number, name: string): boolean {
  const front = foreground(child) ?? child;
  const groups = ENDINGS.includes(name) ? new Set([child, front]) : new Set([front]);
  return [...groups].map((group) => signalGroup(group, name)).includes(true);
}

export function signalGroup(group: number, name: string): boolean {
  try {
    process.kill(-group, name as NodeJS.Signals);
    return true;
  } catch (error) {
    // Bun itself refuses an unknown name, with an error that is not a system error.
    if (systemCode(error) === "ESRCH" || error instanceof TypeError) return false;
    throw attempt("signal", `group ${group}`, (): never => {
      throw error;
    });
  }
}

/** The foreground group of the child's terminal; undefined if it has no terminal, or the child is gone. */
function foreground(child: number): number | undefined {
  const path = `/proc/${child}/stat`;
  const line = unless(GONE, "", () => attempt("foreground", path, () => readFileSync(path, "latin1")));
  const group = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[FOREGROUND]);
  return Number.isSafeInteger(group) && group > 1 ? group : undefined;
}
