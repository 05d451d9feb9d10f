// Stops, continues and kills the programs of a home's agents and steps (core/fleet/programs.ts says which these are).
// FZ1. What was stopped already when we began stays so: it is on record before the first signal. A program that stops
//      its own child is not continued by us.
// FZ2. A standby that is killed loses nothing: its successor finds the record, and looks for what is stopped. Also on
//      record is what we have stopped: a program may lose its holder, and all that shows whose it is, meanwhile.
// FZ3. Looking is repeated until nothing new is found: a program may start others until it is stopped itself.
// FZ4. Parents are stopped before their children, and continued after them: none sees a child that stands still.
// FZ5. A disk that takes no record keeps nothing running: what it should have is remembered here, and written when it
//      can be. Only if this program is killed by then does its successor take what we have stopped for FZ1's.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { Listed } from "../core/family.ts";
import { programsOf } from "../core/fleet/programs.ts";
import { TERMINAL_MARKER } from "../home/callers.ts";
import { HOME_ID, homeId } from "../home/held/home-id.ts";
import { AGENTS, DAEMON_LOCK, FROZEN, STANDBY_LOCK, WATCHDOG_LOCK, WEB_LOCK } from "../home/layout.ts";
import { lockOwner } from "../home/lock-record.ts";
import { removeIfThere } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { writeUnsynced } from "../log/file/unsynced-file.ts";
import { fitting } from "../wire/check.ts";
import { ORDERS } from "../wire/holder/orders.ts";
import { count, type Infer, list, number, object, text } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes, Signal } from "../world/process.ts";

const PROCESS = object({ pid: count, startTime: number });
const RECORD = object({ bootId: text, kept: list(PROCESS), stopped: list(PROCESS) });
type FrozenRecord = Infer<typeof RECORD>;
type Named = Infer<typeof PROCESS>;

/** The marker of an agent's process or an attempt; that of a terminal has no number. */
const OF_PROGRAM = /^[\w-]{1,64}\.\d{1,9}$/;
const LOCKS = [DAEMON_LOCK, WATCHDOG_LOCK, WEB_LOCK, STANDBY_LOCK] as const;
/** FZ3. Each round stops those that could start more, so two or three are enough unless they race us. */
const MAX_ROUNDS = 8;

export type FreezerWorld = { readonly disk: Disk; readonly processes: Processes; readonly home: string };

export class Freezer {
  readonly #world: FreezerWorld;
  /** FZ5 */
  #unwritten: FrozenRecord | undefined;

  constructor(world: FreezerWorld) {
    this.#world = world;
  }

  /** FZ2 */
  get isFrozen(): boolean {
    return this.#record() !== undefined;
  }

  /** Stops what runs, and what has been started since. Returns how many. */
  freeze(): number {
    let record = this.#record() ?? this.#begin();
    if (this.#unwritten !== undefined) this.#write(record); // FZ5
    let done: readonly Named[] = [];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const running = this.#programs().filter(({ pid }) => !this.#world.processes.isStopped(pid));
      const sent = running.filter((one) => !has(done, one) && this.#send(one, "SIGSTOP")); // FZ4
      if (sent.length === 0) break; // FZ3
      done = withNew(done, sent);
      record = { ...record, stopped: withNew(record.stopped, sent) };
      this.#write(record);
    }
    return done.length;
  }

  /** Continues what we have stopped. Returns how many. */
  goOn(): number {
    const record = this.#record();
    if (record === undefined) return 0;
    const mayGoOn = ({ pid, startTime }: Named) => !has(record.kept, { pid, startTime }); // FZ1
    const all = withNew(record.stopped, this.#programs()).filter(mayGoOn).reverse();
    const stopped = all.filter(({ pid }) => this.#world.processes.isStopped(pid));
    const sent = stopped.filter((program) => this.#send(program, "SIGCONT")); // FZ4
    this.#forget();
    return sent.length;
  }

  /** Returns how many. */
  kill(): number {
    const left = withNew(this.#record()?.stopped ?? [], this.#programs());
    const killed = left.filter((program) => this.#send(program, "SIGKILL"));
    if (killed.length === 0) this.#forget();
    return killed.length;
  }

  get #path(): string {
    return joinPath(this.#world.home, FROZEN);
  }

  #record(): FrozenRecord | undefined {
    if (this.#unwritten !== undefined) return this.#unwritten;
    const record = fitting(RECORD, readJson(this.#world.disk, this.#path));
    return record?.bootId === this.#world.processes.bootId() ? record : undefined;
  }

  /** FZ1 */
  #begin(): FrozenRecord {
    const { processes } = this.#world;
    const kept = this.#programs().filter(({ pid }) => processes.isStopped(pid));
    const record = { bootId: processes.bootId(), kept: kept.map(named), stopped: [] };
    this.#write(record);
    return record;
  }

  #write(record: FrozenRecord): void {
    this.#unwritten = record;
    try {
      writeUnsynced(this.#world.disk, this.#path, Buffer.from(`${JSON.stringify({ v: 1, ...record })}\n`));
      this.#unwritten = undefined;
    } catch (error) {
      if (!isFault(error)) throw error; // FZ5
    }
  }

  #forget(): void {
    this.#unwritten = undefined;
    removeIfThere(this.#world.disk, this.#path);
  }

  /** One that we may not signal, such as a command under sudo, does not keep us from the others. */
  #send({ pid, startTime }: Named, signal: Signal): boolean {
    const { processes } = this.#world;
    try {
      return processes.kill({ pid, startTime, bootId: processes.bootId() }, signal);
    } catch (error) {
      if (!isFault(error, "EPERM")) throw error;
      return false;
    }
  }

  #programs(): Listed[] {
    const { disk, processes, home } = this.#world;
    const listed = processes.list();
    const ours = homeId(disk, home);
    const marked = listed.filter(({ pid }) => this.#isMarked(pid, ours));
    const holders = listed.filter(({ pid }) => this.#isHolder(pid));
    const owners = LOCKS.flatMap((name) => lockOwner(disk, joinPath(home, name))?.pid ?? []);
    return programsOf({
      processes: listed,
      ...{ marked: pidsOf(marked), holders: pidsOf(holders), spared: new Set([processes.pid, ...owners]) },
    });
  }

  #isMarked(pid: number, ours: string | undefined): boolean {
    const { processes } = this.#world;
    const marker = processes.variable(pid, TERMINAL_MARKER);
    if (marker === undefined || !OF_PROGRAM.test(marker)) return false;
    return ours !== undefined && processes.variable(pid, HOME_ID) === ours;
  }

  /** By its last words: the directory of an agent's process, or that it takes orders for this home. */
  #isHolder(pid: number): boolean {
    const { processes, home } = this.#world;
    const argv = processes.kin(pid)?.argv ?? [];
    const [word, last = ""] = argv.slice(-2);
    return (word === ORDERS && last === home) || last.startsWith(`${joinPath(home, AGENTS)}/`);
  }
}

function named({ pid, startTime }: Named): Named {
  return { pid, startTime };
}

function has(those: readonly Named[], one: Named): boolean {
  return those.some(({ pid, startTime }) => pid === one.pid && startTime === one.startTime);
}

function withNew(those: readonly Named[], more: readonly Named[]): Named[] {
  return [...those, ...more.filter((one) => !has(those, one)).map(named)];
}

function pidsOf(listed: readonly Listed[]): ReadonlySet<number> {
  return new Set(listed.map(({ pid }) => pid));
}
