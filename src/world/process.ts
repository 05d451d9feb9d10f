// The door to other processes. A pid alone names nobody: the system gives it to somebody else one day.
// P1. A process is alive when its pid is there and no zombie, started when we recorded it, in this same boot of the machine.

export type ProcessIdentity = { readonly pid: number; readonly startTime: number; readonly bootId: string };

/** One line of the process table. `session` is the pid of the session's leader, who may be gone. */
export type ListedProcess = {
  readonly pid: number;
  readonly ppid: number;
  readonly session: number;
  readonly startTime: number;
};

/** Who is in front of a terminal. `ageMs`: how long ago it was started. */
export type ForegroundProcess = {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly ageMs: number;
};

export type Signal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP" | "SIGSTOP" | "SIGCONT";

/** Who somebody is: all that a holder asks. */
export interface Identities {
  /** Our own pid. */
  readonly pid: number;
  /** When this pid was started, in ticks since boot; undefined where nobody has it, or only a zombie. */
  startTime(pid: number): number | undefined;
  /** Changes with every boot, so that pids and start times of another boot never match. */
  bootId(): string;
}

export interface Processes extends Identities {
  alive(who: ProcessIdentity): boolean;
  /** Whether somebody of this user has this pid, be it a stranger or a zombie: a hint, for a fraction of what `alive` costs. */
  isTaken(pid: number): boolean;
  /** Whether a thread of it waits for the disk (state D). Any thread: a sync may be on one of a pool while the others wait for it. */
  waitsForDisk(pid: number): boolean;
  /** Everybody who is there now, zombies left out. */
  list(): readonly ListedProcess[];
  /** A variable that a process was started with; undefined where it has none of that name, is gone, or is not ours to look into. */
  variable(pid: number, name: string): string | undefined;
  /**
   * Who is in front of the terminal of the process `pid`: the leader of its foreground group, else `pid` itself (no terminal, or the
   * leader is gone or not ours to look into). `cwd` is the path by which the directory went, where it was deleted. Undefined
   * where `pid` itself is gone.
   */
  foreground(pid: number): ForegroundProcess | undefined;
  /** Now, in the unit of `startTime`. */
  ticks(): number;
  /** False where it was gone already; never signals a stranger that has its pid by now. */
  kill(who: ProcessIdentity, signal: Signal): boolean;
}

/** Who has this pid now, for the record; undefined where nobody has. */
export function identify(processes: Identities, pid: number): ProcessIdentity | undefined {
  const startTime = processes.startTime(pid);
  return startTime === undefined ? undefined : { pid, startTime, bootId: processes.bootId() };
}

/** P1, for whoever implements `Processes`. */
export function isAlive(processes: Identities, who: ProcessIdentity): boolean {
  return who.bootId === processes.bootId() && processes.startTime(who.pid) === who.startTime;
}
