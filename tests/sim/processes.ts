// A simulated process table: pids are given out again, zombies linger, a reboot ends everybody.
import { assert } from "../../src/base/assert.ts";
import { identify, isAlive, type Processes, type ProcessIdentity, type Signal } from "../../src/world/process.ts";

type Entry = { readonly startTime: number; readonly state: "running" | "stopped" | "zombie" };

export class SimProcesses implements Processes {
  pid: number;
  /** Every signal that reached somebody, in order. */
  readonly signals: { readonly pid: number; readonly signal: Signal }[] = [];
  private readonly table = new Map<number, Entry>();
  private ticks = 0;
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

  kill(who: ProcessIdentity, signal: Signal): boolean {
    if (!this.alive(who)) return false;
    this.signals.push({ pid: who.pid, signal });
    if (signal === "SIGSTOP") this.set(who.pid, "stopped");
    else if (signal === "SIGCONT") this.set(who.pid, "running");
    else this.set(who.pid, "zombie");
    return true;
  }

  /** A new process, with a pid of its own or one that somebody had before. */
  spawn(pid = this.lastPid + 1): ProcessIdentity {
    assert(!this.table.has(pid), `pid ${pid} is free`);
    this.ticks += 1;
    this.lastPid = Math.max(pid, this.lastPid);
    this.table.set(pid, { startTime: this.ticks, state: "running" });
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
  }

  /** We die and are reaped; the process that comes after us is somebody else. */
  restart(): void {
    this.reap(this.pid);
    this.pid = this.spawn().pid;
  }

  /** Everybody is gone; pids and ticks start anew, and we are the first. */
  reboot(): void {
    this.table.clear();
    this.boot += 1;
    this.ticks = 0;
    this.lastPid = this.pid - 1;
    this.spawn(this.pid);
  }

  private set(pid: number, state: Entry["state"]): void {
    const entry = this.table.get(pid);
    assert(entry !== undefined, `pid ${pid} is in the table`);
    this.table.set(pid, { ...entry, state });
  }
}
