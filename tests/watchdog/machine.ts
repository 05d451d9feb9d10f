// A small machine in memory for the watchdog's program: child processes that exit, sockets, a disk, a clock. The tests
// act as the watched programs.
import { Fault } from "../../src/base/fault.ts";
import { WATCHDOG_SOCKET } from "../../src/home/layout.ts";
import { makeDirectories } from "../../src/log/file/file.ts";
import { type Held, takeLock } from "../../src/log/file/lock.ts";
import { NewsDesk } from "../../src/watchdog/news.ts";
import type { WatchdogOptions } from "../../src/watchdog/owner.ts";
import { PACE } from "../../src/watchdog/pace.ts";
import { runWatchdog } from "../../src/watchdog/run.ts";
import { daemonSpec, lockPathOf, programSpec, type WatchSpec, webSpec } from "../../src/watchdog/specs.ts";
import { LIMITS } from "../../src/watchdog/watchdog.ts";
import { encodeHeartbeat, type HeartbeatMessage, HeartbeatReader } from "../../src/wire/heartbeat.ts";
import type { Children, Command, Ending } from "../../src/world/children.ts";
import type { ProcessIdentity, Signal } from "../../src/world/process.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../../src/world/socket.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";
import { type SimWorld, simWorld } from "../sim/world.ts";

export const HOME = "/h";

export type Child = {
  readonly name: string;
  readonly who: ProcessIdentity;
  readonly command: Command;
  readonly ended: (ending: Ending) => void;
};

/** Processes whose parent is notified of their exit. */
class MachineProcesses extends SimProcesses {
  readonly children = new Map<number, Child>();
  /** The locks they hold, released when they exit. */
  readonly held = new Map<number, Held>();

  override kill(who: ProcessIdentity, signal: Signal): boolean {
    const reached = super.kill(who, signal);
    if (reached && this.startTime(who.pid) === undefined) this.end(who.pid, { kind: "signalled", signal });
    return reached;
  }

  /** Ends this process and notifies its parent, if it still listens. */
  end(pid: number, ending: Ending): void {
    const child = this.children.get(pid);
    this.children.delete(pid);
    this.held.get(pid)?.release();
    this.reap(pid);
    setImmediate(() => child?.ended(ending));
  }
}

class MachineChildren implements Children {
  readonly started: Child[] = [];
  missing = false;
  /** The machine has no room for another process. */
  full = false;
  readonly #processes: MachineProcesses;

  constructor(processes: MachineProcesses) {
    this.#processes = processes;
  }

  watched(command: Command, ended: (ending: Ending) => void): number {
    if (this.full) throw new Fault({ code: "EAGAIN", operation: "start", path: command.argv[0] });
    if (this.missing) throw new Fault({ code: "ENOENT", operation: "start", path: command.argv[0] });
    const child = { name: command.argv[0], who: this.#processes.spawn(), command, ended };
    this.started.push(child);
    this.#processes.children.set(child.who.pid, child);
    return child.who.pid;
  }

  pty(): never {
    throw new Error("the watchdog opens no terminal");
  }

  pipes(): never {
    throw new Error("the watchdog opens no pipe");
  }

  told(): never {
    throw new Error("the watchdog starts only watched programs");
  }

  detached(): never {
    throw new Error("the watchdog starts only watched programs");
  }
}

export class MachineSockets implements Sockets {
  readonly listening = new Map<string, (connection: Connection) => ConnectionEvents>();
  refused: string | undefined;

  async listen(path: string, accept: (connection: Connection) => ConnectionEvents): Promise<Listener> {
    if (this.refused !== undefined) throw new Fault({ code: this.refused, operation: "listen", path });
    if (this.listening.has(path)) throw new Fault({ code: "EADDRINUSE", operation: "listen", path });
    this.listening.set(path, accept);
    const inPlace = () => this.listening.get(path) === accept;
    return { inPlace, touch: () => undefined, close: () => void (inPlace() && this.listening.delete(path)) };
  }

  async connect(path: string, events: ConnectionEvents): Promise<Connection> {
    const accept = this.listening.get(path);
    if (accept === undefined) throw new Fault({ code: "ENOENT", operation: "connect", path });
    let open = true;
    const close = () => {
      if (!open) return;
      open = false;
      setImmediate(() => {
        theirs.closed();
        events.closed();
      });
    };
    const end = (to: () => ConnectionEvents): Connection => ({
      send: (bytes) => void (open && setImmediate(() => open && to().bytes(bytes))),
      waiting: 0,
      flush: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      end: close,
      destroy: close,
    });
    const theirs = accept(end(() => events));
    return end(() => theirs);
  }
}

/** A watched program, played by the test. */
export type Caller = {
  /** What the watchdog sent. */
  readonly heard: HeartbeatMessage[];
  say(message: HeartbeatMessage): Promise<void>;
  raw(text: string): Promise<void>;
  hangUp(): Promise<void>;
};

class RecordedNews extends NewsDesk {
  readonly #published: (readonly [string, unknown])[];

  constructor(published: (readonly [string, unknown])[]) {
    super();
    this.#published = published;
  }

  override publish(topic: string, data: Parameters<NewsDesk["publish"]>[1]): void {
    this.#published.push([topic, data]);
    super.publish(topic, data);
  }
}

export class Machine {
  readonly world: SimWorld & {
    readonly processes: MachineProcesses;
    children: MachineChildren;
    sockets: MachineSockets;
  };
  readonly said: string[] = [];
  readonly published: (readonly [string, unknown])[] = [];

  constructor(disk = new SimDisk()) {
    const processes = new MachineProcesses();
    const children = new MachineChildren(processes);
    this.world = { ...simWorld(1, disk), processes, children, sockets: new MachineSockets() };
    makeDirectories(disk, `${HOME}/run`);
  }

  get started(): readonly Child[] {
    return this.world.children.started;
  }

  /** The command lines of all programs started so far, in order. */
  get names(): string {
    return this.started.map((child) => child.name).join(" ");
  }

  last(name = "daemon"): Child {
    const child = this.started.findLast((started) => started.name === name);
    if (child === undefined) throw new Error(`${name} was never started`);
    return child;
  }

  /** Runs a watchdog; `told` makes it exit, `over` says how it ended. */
  run(specs: readonly WatchSpec[], options: Partial<WatchdogOptions> = {}) {
    const told = Promise.withResolvers<void>();
    const news = new RecordedNews(this.published);
    const say = (text: string) => void this.said.push(text);
    const defaults = { limits: LIMITS, pace: PACE, stopMs: 10_000, say, news, told: told.promise };
    const over = runWatchdog(this.world, HOME, specs, { ...defaults, ...options });
    return { told: told.resolve, over };
  }

  /** The watchdog dies without a word: nothing listens, its children are orphans, and its locks are free. */
  forgetWatchdog(): void {
    this.world.sockets.listening.clear();
    this.world.processes.children.clear();
  }

  /** Takes its lock, as a daemon does when it starts. */
  lock(name: string, who: ProcessIdentity): void {
    const lock = takeLock(this.world, lockPathOf(HOME, name), who);
    if (!lock.ok) throw new Error(lock.error.message);
    this.world.processes.held.set(who.pid, lock.value);
  }

  /** Ends a process: its lock is released and its parent is notified. */
  async end(who: ProcessIdentity, ending: Ending): Promise<void> {
    this.world.processes.end(who.pid, ending);
    await this.settle();
  }

  async call(name: string, who: ProcessIdentity, live = false): Promise<Caller> {
    const reader = new HeartbeatReader();
    const heard: HeartbeatMessage[] = [];
    const events = {
      bytes: (bytes: Uint8Array) => void heard.push(...(reader.push(bytes) ?? [])),
      closed: () => undefined,
    };
    const connection = await this.world.sockets.connect(`${HOME}/${WATCHDOG_SOCKET}`, events);
    const caller: Caller = {
      heard,
      say: (message) => caller.raw(Buffer.from(encodeHeartbeat(message)).toString()),
      raw: async (text) => {
        connection.send(Buffer.from(text));
        await this.settle();
      },
      hangUp: async () => {
        connection.end();
        await this.settle();
      },
    };
    await caller.say({ type: "hello", name, ...who, live, ...(name === "daemon" && { news: true }) });
    return caller;
  }

  /** Moves the clock in steps, so that what each timer started can finish before the next. */
  async pass(ms: number, step = 250): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      this.world.clock.advance(Math.min(step, left));
      await this.settle();
    }
  }

  /** Lets everything in progress finish; writing to the disk takes several turns. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await this.world.clock.settle();
  }
}

const command = (name: string): Command => ({ argv: [name], cwd: HOME, env: { PATH: "/bin" } });

export const DAEMON_SPEC = daemonSpec(HOME, command("daemon"));
export const WEB_SPEC = webSpec(HOME, command("web"));
export const PROGRAM_SPEC = programSpec("program", command("program"));

/** A typical program: has its lock, connects, and is live. */
export async function comeUp(machine: Machine, name = "daemon"): Promise<Caller> {
  const { who } = machine.last(name);
  machine.lock(name, who);
  return machine.call(name, who, true);
}
