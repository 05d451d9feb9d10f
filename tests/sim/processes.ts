// A simulated process table: pids are given out again, zombies linger, a reboot ends everybody.
import { assert } from "../../src/base/assert.ts";
import {
  type ForegroundProcess,
  identify,
  isAlive,
  type Kin,
  type ListedProcess,
  type Processes,
  type ProcessIdentity,
  type ProcessOrigin,
  type Signal,
} from "../../src/world/process.ts";

/** Where a process comes from. Without a session it leads its own. */
type Family = {
  readonly ppid?: number;
  readonly session?: number;
  readonly variables?: Readonly<Record<string, string>>;
};
type Entry = Family & { readonly startTime: number; readonly state: "running" | "stopped" | "zombie" };

/** Who takes in those whose parent has gone. */
const INIT = 1;

export class SimProcesses implements Processes {
  pid: number;
  /** Every delivered signal, in order. */
  readonly signals: { readonly pid: number; readonly signal: Signal }[] = [];
  private readonly table = new Map<number, Entry>();
  private readonly stalled = new Set<number>();
  private readonly fronts = new Map<number, ForegroundProcess>();
  private tick = 0;
  private boot = 1;
  private lastPid = 1000;

  constructor() {
    this.pid = this.spawn().pid;
  }

  startTime(pid: number): number | undefined {
    const entry = this.table.get(pid);
    return entry === undefined || entry.state === "zombie" ? undefined : entry.startTime;
  }

  bootId(): string {
    return `boot-${this.boot}`;
  }

  alive(who: ProcessIdentity): boolean {
    return isAlive(this, who);
  }

  isTaken(pid: number): boolean {
    return this.table.has(pid);
  }

  list(): readonly ListedProcess[] {
    return [...this.table].flatMap(([pid, entry]) => (entry.state === "zombie" ? [] : listed(pid, entry)));
  }

  kin(pid: number): Kin | undefined {
    const entry = this.table.get(pid);
    if (entry === undefined || entry.state === "zombie") return undefined;
    return { ...listed(pid, entry), tty: null, argv: [] };
  }

  executable(): null {
    return null;
  }

  parent(): number {
    return this.kin(this.pid)?.ppid ?? INIT;
  }

  variable(pid: number, name: string): string | undefined {
    return this.table.get(pid)?.variables?.[name];
  }

  ticks(): number {
    return this.tick;
  }

  foreground(pid: number): ForegroundProcess | undefined {
    const front = this.fronts.get(pid);
    const startTime = this.startTime(front?.pid ?? pid);
    if (this.startTime(pid) === undefined) return undefined;
    return front !== undefined && startTime !== undefined ? front : { pid, argv: ["sh"], cwd: "/", ageMs: 0 };
  }

  /** All programs here are on the PATH. */
  origin(pid: number): ProcessOrigin | undefined {
    if (this.startTime(pid) === undefined) return undefined;
    return { elsewhere: false, executable: "/bin/x", find: () => "/bin/x", real: () => "/bin/x" };
  }

  /** From now on this one is in front of the terminal of `pid`. */
  putInFront(pid: number, front: ForegroundProcess): void {
    this.fronts.set(pid, front);
  }

  waitsForDisk(pid: number): boolean {
    return this.startTime(pid) !== undefined && this.stalled.has(pid);
  }

  isStopped(pid: number): boolean {
    return this.table.get(pid)?.state === "stopped";
  }

  /** The disk does not answer it; and later it does. */
  stall(pid: number, stalled = true): void {
    if (stalled) this.stalled.add(pid);
    else this.stalled.delete(pid);
  }

  kill(who: ProcessIdentity, signal: Signal): boolean {
    if (!this.alive(who)) return false;
    this.signals.push({ pid: who.pid, signal });
    if (signal === "SIGSTOP") this.set(who.pid, "stopped");
    else if (signal === "SIGCONT") this.set(who.pid, "running");
    else if (signal === "SIGKILL" || this.table.get(who.pid)?.state !== "stopped") this.set(who.pid, "zombie");
    return true; // A stopped process gets everything but SIGKILL later, when it continues; here: never.
  }

  /** A new process, with a new or a reused pid. */
  spawn(pid = this.lastPid + 1, family: Family = {}): ProcessIdentity {
    assert(!this.table.has(pid), `pid ${pid} is free`);
    this.tick += 1;
    this.lastPid = Math.max(pid, this.lastPid);
    this.table.set(pid, { ...family, startTime: this.tick, state: "running" });
    const who = identify(this, pid);
    assert(who !== undefined, "a new process is there");
    return who;
  }

  /** It ended, and its parent has not asked yet. */
  exit(pid: number): void {
    this.set(pid, "zombie");
  }

  /** The parent has asked: the pid is free again. */
  reap(pid: number): void {
    this.table.delete(pid);
    for (const [child, entry] of this.table) if (entry.ppid === pid) this.table.set(child, { ...entry, ppid: INIT });
  }

  /** We die and are reaped; our successor is another process. */
  restart(): void {
    this.reap(this.pid);
    this.pid = this.spawn().pid;
  }

  /** Everybody is gone; pids and ticks start anew, and we are the first. Containers of one machine share a boot. */
  reboot(isSameBoot = false): void {
    this.table.clear();
    this.fronts.clear();
    if (!isSameBoot) this.boot += 1;
    this.tick = 0;
    this.lastPid = this.pid - 1;
    this.spawn(this.pid);
  }

  private set(pid: number, state: Entry["state"]): void {
    const entry = this.table.get(pid);
    assert(entry !== undefined, `pid ${pid} is in the table`);
    this.table.set(pid, { ...entry, state });
  }
}

function listed(pid: number, { ppid = INIT, session = pid, startTime }: Entry): ListedProcess {
  return { pid, ppid, session, startTime };
}
