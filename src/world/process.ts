// Access to other processes. A pid alone does not identify a process: the system reuses pids.
// P1. A process is alive if its pid exists, is not a zombie, and has the recorded start time in the recorded boot of
//     the machine.

export type ProcessIdentity = { readonly pid: number; readonly startTime: number; readonly bootId: string };

/** One line of the process table. `session` is the pid of the session's leader, which may be gone. */
export type ListedProcess = {
  readonly pid: number;
  readonly ppid: number;
  readonly session: number;
  readonly startTime: number;
};

/** The foreground process of a terminal. `ageMs`: how long ago it was started. */
export type ForegroundProcess = {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly ageMs: number;
};

/** Where a process runs, and what. */
export type ProcessOrigin = {
  /** Whether it sees other files, processes, users or networks than we do: in a container, a sandbox, a chroot. */
  readonly elsewhere: boolean;
  /** The file it runs, also if it was replaced since. */
  readonly executable: string;
  /** What each name is for it: the real path of the first file of that name on its PATH. */
  find(name: string): string | undefined;
  /** The real path of a file that it names; undefined if there is none. */
  real(path: string): string | undefined;
};

export type Signal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP" | "SIGSTOP" | "SIGCONT";

/** The identity of processes: all that a holder needs. */
export interface Identities {
  /** Our own pid. */
  readonly pid: number;
  /** When this pid was started, in ticks since boot; undefined if it does not exist or is a zombie. */
  startTime(pid: number): number | undefined;
  /** Changes with every boot, so that pids and start times of another boot never match. */
  bootId(): string;
}

/** Where a process comes from. `tty` is the device of its terminal, or null; `argv` is as it says itself. */
export type Kin = {
  readonly pid: number;
  readonly ppid: number;
  readonly startTime: number;
  readonly tty: string | null;
  readonly argv: readonly string[];
};

/** All that is needed to find out from whom a process descends. */
export interface Kinship extends Identities {
  /** Undefined if it does not exist, is a zombie, or is not visible to us. */
  kin(pid: number): Kin | undefined;
  /** The path of its program; null if it is not readable to us. */
  executable(pid: number): string | null;
  /** Our parent now: the process that started us, or took us over. */
  parent(): number;
  /**
   * A variable from the process's initial environment; undefined if it is not set, or the process is gone or not
   * readable to us.
   */
  variable(pid: number, name: string): string | undefined;
}

export interface Processes extends Kinship {
  alive(who: ProcessIdentity): boolean;
  /**
   * Whether a process of this user has this pid, even an unrelated one or a zombie: a hint, at a fraction of the cost
   * of `alive`.
   */
  isTaken(pid: number): boolean;
  /**
   * Whether any of its threads waits for the disk (state D): one thread of a pool may sync while the others wait for
   * it.
   */
  waitsForDisk(pid: number): boolean;
  /** Whether it was stopped (state T): it lives, and does nothing. */
  isStopped(pid: number): boolean;
  /** All processes that exist now, without zombies. */
  list(): readonly ListedProcess[];
  /**
   * The foreground process on the terminal of `pid`: the leader of its foreground group, else `pid` itself (if there is
   * no terminal, or the leader is gone or not readable to us). If the directory was deleted, `cwd` is its former path.
   * Returns undefined if `pid` itself is gone.
   */
  foreground(pid: number): ForegroundProcess | undefined;
  /** Undefined if the process is gone or not readable to us. */
  origin(pid: number): ProcessOrigin | undefined;
  /** The current time, in the unit of `startTime`. */
  ticks(): number;
  /** Returns false if it was already gone; never signals an unrelated process that has its pid by now. */
  kill(who: ProcessIdentity, signal: Signal): boolean;
}

/** Identifies the process that has this pid now; undefined if there is none. */
export function identify(processes: Identities, pid: number): ProcessIdentity | undefined {
  const startTime = processes.startTime(pid);
  return startTime === undefined ? undefined : { pid, startTime, bootId: processes.bootId() };
}

/** P1, for implementations of `Processes`. */
export function isAlive(processes: Identities, who: ProcessIdentity): boolean {
  return who.bootId === processes.bootId() && processes.startTime(who.pid) === who.startTime;
}
