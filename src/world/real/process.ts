// Processes on Linux, read from /proc.
import { readdirSync } from "node:fs";
import { isAlive, type Processes, type ProcessIdentity, type Signal } from "../process.ts";
import { attempt, unless } from "./attempt.ts";
import { foreground } from "./foreground.ts";
import { GONE, statLine, stoppedInLine, waitsInLine } from "./identities.ts";
import { realKinship } from "./kinship.ts";
import { origin } from "./origin.ts";
import { list, ticks } from "./process-list.ts";

export function realProcesses(): Processes {
  const found = realKinship();
  const alive = (who: ProcessIdentity): boolean => isAlive(found, who);
  return {
    ...found,
    alive,
    isTaken,
    waitsForDisk,
    isStopped: (pid) => stoppedInLine(statLine("isStopped", `/proc/${pid}/stat`) ?? ""),
    list,
    foreground,
    origin,
    ticks,
    kill: (who, signal) => alive(who) && send(who.pid, signal),
  };
}

function waitsForDisk(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  const threads = unless(GONE, [], () => attempt("waitsForDisk", tasks, () => readdirSync(tasks)));
  return threads.some((thread) => waitsInLine(statLine("waitsForDisk", `${tasks}/${thread}/stat`) ?? ""));
}

/** Signal 0 sends nothing: the system only reports whether there is a process that we may signal. */
function isTaken(pid: number): boolean {
  return unless(["ESRCH", "EPERM"], false, () => attempt("kill", `pid ${pid}`, () => process.kill(pid, 0)));
}

function send(pid: number, signal: Signal): boolean {
  return unless(["ESRCH"], false, () => attempt("kill", `pid ${pid}`, () => process.kill(pid, signal)));
}
