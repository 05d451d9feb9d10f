// The end of everything at once, as when a machine loses its power: nothing sees another one end.
import { realProcesses } from "../../src/world/real/process.ts";
import { PATIENCE_MS, until } from "../until.ts";

const processes = realProcesses();

/** `pids`: what runs now. */
export async function powerOff(pids: () => readonly number[]): Promise<void> {
  const stopped = new Set<number>();
  for (let fresh = pids(); fresh.length > 0; fresh = pids().filter((pid) => !stopped.has(pid))) {
    for (const pid of fresh) stopped.add(pid);
    for (const pid of fresh) send(pid, "SIGSTOP");
  }
  await until(
    "all of it is gone",
    () => {
      const left = pids();
      for (const pid of left) send(pid, "SIGKILL");
      return left.length === 0;
    },
    pids,
    4 * PATIENCE_MS, // A full host has a hundred processes.
  );
}

/** What runs with a path below this directory among its words. */
export function runningBelow(directory: string): readonly number[] {
  const isIts = (pid: number) => processes.kin(pid)?.argv.some((word) => word.startsWith(directory)) === true;
  return processes.list().flatMap(({ pid }) => (isIts(pid) ? [pid] : []));
}

/** A process that has ended meanwhile needs none. */
function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  const startTime = processes.startTime(pid);
  if (startTime !== undefined) processes.kill({ pid, startTime, bootId: processes.bootId() }, signal);
}
