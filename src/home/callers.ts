// Finds out who is behind a connection, or behind this process: the facts for core/principal.ts.
// CA1. What a process says about itself is not believed, unless it says that it is an agent's holder: a terminal's is
//      one if the claim on disk names its pid and start time; a daemon, watchdog or page if its lock does. A file that
//      cannot be read proves nothing.
// CA2. The marker in the environment shows what the tree no longer does, if an agent's holder has died. A marker of
//      another home says nothing here.
// CA3. It is looked once for each connection, when it first wants to change something: looking costs nothing.
// Against programs of the same user this is a hurdle, not a wall (docs/decisions/0019-principals.md).
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { Refusal } from "../base/result.ts";
import { type Caller, mayAct, notAllowed, type Relative, type Role, standingOf } from "../core/principal.ts";
import { agentIn } from "../core/terminal/agent-names.ts";
import { isArchivedName, sessionPath } from "../log/session/places.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Kin, Kinship, ProcessIdentity } from "../world/process.ts";
import type { Connection } from "../world/socket.ts";
import { noteAttempt } from "./attempts.ts";
import { readHolder } from "./held/holder-files.ts";
import { HOME_ID, homeId } from "./held/home-id.ts";
import { AGENTS, AGENTS_TYPED, DAEMON_LOCK, STANDBY_LOCK, WATCHDOG_LOCK, WEB_LOCK } from "./layout.ts";
import { lockOwner } from "./lock-record.ts";

type CallerWorld = { readonly disk: Disk; readonly processes: Kinship; readonly clock: Pick<Clock, "now"> };

/** Set in every program that a holder runs (holder/child.ts). */
export const TERMINAL_MARKER = "HOLDFAST_TERMINAL";
/** The last two words of a holder's command line: its program, and the directory of what it holds. */
const HOLDER = /\/(?:holder-[0-9a-f]{12}\.js|holder\/main\.ts)$/;
const HELD = /\/(?:(terminals\/[0-9a-f]{32})|agents\/([0-9a-f]{32})\/processes\/\d{1,9})$/;
/** The marker of an agent's process: the agent and its generation. Attempts of workflows have the same form. */
const OF_PROCESS = /^([0-9a-f]{32})\.\d{1,9}$/;

/** Beside them is the session of the rules for all. */
const AGENT = /^[0-9a-f]{32}$/;

const OTHER: Role = { kind: "other" };
const OURS: Role = { kind: "ours" };
const TERMINAL: Role = { kind: "terminal" };
/** There is nothing to look at: an operator of a system that tells nothing about its sockets. */
const UNTOLD: Caller = { principal: "operator", pid: null, exe: null, tty: null };

export class Callers {
  readonly #world: CallerWorld;
  readonly #home: string;

  constructor(world: CallerWorld, home: string) {
    this.#world = world;
    this.#home = home;
  }

  of(connection: Connection): Caller {
    const peer = connection.peer?.();
    if (peer === undefined) return UNTOLD;
    return peer === "gone" ? { ...UNTOLD, principal: "unknown" } : this.#caller(peer);
  }

  /** This process itself. */
  self(): Caller {
    return this.#caller(this.#world.processes.pid);
  }

  /**
   * Whether this home has agents, or had an agent CLI in a terminal: if not, everyone is the operator, and no one needs
   * a look.
   */
  get hasAgents(): boolean {
    const { disk } = this.#world;
    if (readable(() => disk.stat(joinPath(this.#home, AGENTS_TYPED))) !== undefined) return true;
    return disk.list(joinPath(this.#home, AGENTS)).some((name) => AGENT.test(name) || isArchivedName(name));
  }

  /** Whether it is the process that started us, or took us over: for a holder, its daemon. */
  isParent(connection: Connection): boolean {
    const peer = connection.peer?.();
    return peer !== undefined && peer === this.#world.processes.parent();
  }

  /**
   * For someone who wants to change something: returns the refusal, if they may not. The attempt of an agent is
   * recorded; a client that is gone was most probably killed.
   */
  refusal(caller: Caller, did: string): Refusal | undefined {
    if (mayAct(caller)) return undefined;
    const { disk, clock } = this.#world;
    const at = new Date(clock.now()).toISOString();
    if (caller.principal === "agent") noteAttempt(disk, this.#home, { caller, did, at });
    return notAllowed({ caller, did });
  }

  #caller(pid: number): Caller {
    const { processes } = this.#world;
    const locks = [DAEMON_LOCK, WATCHDOG_LOCK, WEB_LOCK, STANDBY_LOCK].map((name) => this.#owner(name));
    let tty: string | null = null;
    const look = (of: number): Relative | undefined => {
      const kin = processes.kin(of);
      if (of === pid) tty = kin?.tty ?? null;
      return kin && { pid: of, ppid: kin.ppid, startTime: kin.startTime, role: () => this.#role(kin, locks) };
    };
    const standing = standingOf(pid, look);
    return { ...standing, pid, exe: processes.executable(pid), tty };
  }

  #owner(name: string): ProcessIdentity | undefined {
    return readable(() => lockOwner(this.#world.disk, joinPath(this.#home, name)));
  }

  #role(kin: Kin, locks: readonly (ProcessIdentity | undefined)[]): Role {
    if (locks.some((owner) => this.#is(kin, owner))) return OURS; // CA1
    return this.#heldBy(kin) ?? this.#marked(kin) ?? cliIn(kin) ?? OTHER;
  }

  #is({ pid, startTime }: Kin, who: ProcessIdentity | undefined): boolean {
    return who?.pid === pid && who.startTime === startTime && who.bootId === this.#world.processes.bootId();
  }

  /** CA1 */
  #heldBy(kin: Kin): Role | undefined {
    const [program = "", directory = ""] = kin.argv.slice(-2);
    const [, terminal, agent] = (HOLDER.test(program) && HELD.exec(directory)) || [];
    if (agent !== undefined) return this.#ofAgent(agent);
    if (terminal === undefined) return undefined;
    const place = { disk: this.#world.disk, directory: joinPath(this.#home, terminal) };
    return this.#is(
      kin,
      readable(() => readHolder(place)),
    )
      ? TERMINAL
      : undefined;
  }

  /** CA2 */
  #marked({ pid }: Kin): Role | undefined {
    const { disk, processes } = this.#world;
    const agent = OF_PROCESS.exec(processes.variable(pid, TERMINAL_MARKER) ?? "")?.[1];
    if (agent === undefined) return undefined;
    const isOurs = processes.variable(pid, HOME_ID) === readable(() => homeId(disk, this.#home));
    return isOurs ? this.#ofAgent(agent) : undefined;
  }

  /** Undefined if this home has no such agent. */
  #ofAgent(agent: string): Role | undefined {
    const { disk } = this.#world;
    const path = () => sessionPath(disk, this.#home, `${AGENTS}/${agent}`); // What an archived one has left is its own.
    return readable(() => disk.stat(path())) === undefined ? undefined : { kind: "agent", agent };
  }
}

/** CA1: a program that calls itself an agent is one. Whether that matters depends on where it runs (PR2). */
function cliIn({ argv }: Kin): Role | undefined {
  const command = agentIn(argv);
  return command && { kind: "cli", name: command.agent };
}

/** CA1 */
function readable<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** For a command that changes something without asking the daemon. */
export function whyNotAllowed(world: CallerWorld, home: string, did: string): Refusal | undefined {
  const callers = new Callers(world, home);
  return callers.refusal(callers.self(), did);
}
