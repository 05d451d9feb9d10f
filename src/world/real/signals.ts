// Signals to a child's groups. A terminal's child leads a session; the job in front of it may be another group of that session.
// S1. A group is signalled only while the child that leads it was not waited for (the caller sees to that): its number cannot be
//     anybody else's.
import { readFileSync } from "node:fs";
import { attempt, systemCode, unless } from "./attempt.ts";

const GONE = ["ENOENT", "ESRCH"];
/** tpgid is field 8 of the stat line; after the name, which is field 2, the manual counts from 3. */
const FOREGROUND = 8 - 3;
/** What is meant to end the child ends its shell too, not only the job in front. */
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
    // A name that the system does not know is refused by Bun itself, and not with a system's code.
    if (systemCode(error) === "ESRCH" || error instanceof TypeError) return false;
    throw attempt("signal", `group ${group}`, (): never => {
      throw error;
    });
  }
}

/** The group in front of the child's terminal; undefined where it has none, or the child is gone. */
function foreground(child: number): number | undefined {
  const path = `/proc/${child}/stat`;
  const line = unless(GONE, "", () => attempt("foreground", path, () => readFileSync(path, "latin1")));
  const group = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[FOREGROUND]);
  return Number.isSafeInteger(group) && group > 1 ? group : undefined;
}
