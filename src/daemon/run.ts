// The daemon of a home as a program, from its locks to its exit code. The watchdog starts and restarts it; the daemon
// in turn keeps a watchdog running (presence.ts).
// M1. There is one per home: a daemon that finds a lock taken exits with a code of its own, which does not count as a
//     crash. The first lock is beside wal/, not in run/: the process that writes the log has it, even after all of run/
//     was removed. A daemon that does not get it has changed nothing.
// M2. The start-up is driven by its table (core/startup.ts): the state decides what is done next. Every way out reports
//     what is wrong and what can be done.
// M3. The socket is bound in parallel, so that status requests are answered during recovery, and a path that cannot be
//     bound does not delay the recovery. Whether it was bound is checked when the table asks for it.
// M4. A home in a fleet is opened only once it is ours there. If another host has it, this daemon stays in InitStorage:
//     it answers `status`, refuses the rest, and ends when it is asked to.
import { type Fault, isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type StartupEvent, type StartupState, startupMachine } from "../core/startup.ts";
import { DiskFaults } from "../home/disk-faults.ts";
import { idOf } from "../home/identity.ts";
import { SafeMode } from "../home/safe-mode.ts";
import { readWhole } from "../log/file/file.ts";
import { configRefusal } from "../wire/files/config.ts";
import { ANOTHER_RUNS, SAFE_MODE_VARIABLE } from "../wire/heartbeat.ts";
import { VERSION } from "../wire/version.ts";
import { bindRetrying } from "./bind.ts";
import { Bus } from "./bus.ts";
import { Daemon } from "./daemon.ts";
import { leasedWorld } from "./fleet/lease.ts";
import { GIVEN_UP } from "./fleet/lost-home.ts";
import { FleetMember } from "./fleet/member.ts";
import { LiveConfig } from "./live-config.ts";
import type { DaemonPorts, DaemonProgram } from "./ports.ts";
import { Presence } from "./presence.ts";

const FAILED = 1;

/** Resolves with the exit code. */
export async function runDaemon(given: DaemonProgram): Promise<number> {
  const ended = Promise.withResolvers<number>();
  const faults = new DiskFaults(given.world.clock);
  const program = { ...given, world: { ...given.world, disk: faults.watch(given.world.disk) } };
  const presence = new Presence(program);
  const others = () => ({ ...presence.others(), disk: faults.trouble }); // In this order: looking may fail as well.
  const startup = new Startup(program, { presence, others, ended });
  try {
    presence.takeLocks(); // M1
    void program.told.then(() => ended.resolve(0));
    await Promise.race([goThrough(startup.work), ended.promise]); // A signal is not kept waiting by a recovery.
    const code = await ended.promise;
    if (code === 0) await startup.stop();
    return code;
  } catch (error) {
    if (!isFault(error)) throw error;
    await startup.halted();
    program.say(`${startup.isOpen ? "stopped" : "the daemon cannot start"}: ${wordsOf(error)}`);
    return FAILED;
  }
}

/** What is done in each state. A state without work is the last one. */
type StartupWork = { readonly [state in StartupState]?: () => StartupEvent | Promise<StartupEvent> };

/** M2: from state to state, as the table says, until there is nothing more to do. */
async function goThrough(work: StartupWork, from: StartupState = startupMachine.initial): Promise<void> {
  const event = await work[from]?.();
  if (event === undefined) return;
  const next = startupMachine.next(from, event);
  if (!next.ok) throw new Error(next.error.message);
  return goThrough(work, next.value);
}

type StartupLinks = {
  readonly presence: Presence;
  readonly others: DaemonPorts["others"];
  readonly ended: PromiseWithResolvers<number>;
};

/** A start of the daemon: what is done in each state of the table (core/startup.ts), and what was made on the way. */
class Startup {
  readonly #program: DaemonProgram;
  readonly #links: StartupLinks;
  daemon: Daemon | undefined;
  #fleet: FleetMember | undefined;
  /** Whether its storage is open. */
  isOpen = false;
  #refusal = "";
  #damage: readonly string[] = [];
  #fault: Fault | undefined;
  readonly #bindFailures: Fault[] = [];
  #bound: Promise<Fault | undefined> = Promise.resolve(undefined);

  readonly work: StartupWork = {
    LoadConfig: () => this.#loadConfig(),
    ConfigError: () => this.#leave(this.#refusal),
    InitStorage: () => this.#initStorage(),
    CorruptionDetected: () => "attempt",
    AttemptRecovery: () => this.#sayDamage(),
    RecoveryFailed: () => this.#notOpened(),
    ReconcileState: () => this.#reconcile(),
    StartServers: () => this.#startServers(),
    LocalServerFailed: () => this.#retried(),
    ServerExhausted: () => this.#leave(`the socket cannot be bound: ${wordsOf(this.#fault)}`),
    Running: async (): Promise<StartupEvent> => {
      await this.#links.ended.promise;
      return "shutdown signal";
    },
  };

  constructor(program: DaemonProgram, links: StartupLinks) {
    this.#program = program;
    this.#links = links;
  }

  #leave(words: string): never {
    this.#program.say(words);
    return this.#program.exit(FAILED);
  }

  /** M4. If another host has the home, it exits with a code of its own. */
  async halted(): Promise<void> {
    await this.#fleet?.halted();
  }

  /** What waits for a database that is away was not acknowledged: the next process sends it. */
  async stop(): Promise<void> {
    try {
      await this.daemon?.stop();
    } catch (error) {
      if (!isFault(error, GIVEN_UP)) throw error;
      this.#program.say("stopped while the database of the fleet is away: what waits for it is on this disk");
    }
  }

  async #loadConfig(): Promise<StartupEvent> {
    const { world, absolute } = this.#program;
    const env = world.self.environment();
    const read = (path: string) => readWhole(world.disk, path);
    const loaded = LiveConfig.load({ env: (name: string) => env[name], absolute, read });
    if (!loaded.ok) {
      const { message, hint } = configRefusal(loaded.error);
      this.#refusal = `${message} ${hint}`;
      return "config invalid";
    }
    const fleet = this.#fleetOf(loaded.value);
    if (!fleet.ok) {
      this.#refusal = `${fleet.error.message} ${fleet.error.hint}`;
      return "config invalid";
    }
    this.#fleet = fleet.value;
    await this.#makeDaemon(loaded.value);
    return "config valid";
  }

  /** M4. Undefined: the home is in no fleet. */
  #fleetOf({ current: { fleet: config } }: LiveConfig): Result<FleetMember | undefined> {
    const { world, postgres, hostName, say, exit } = this.#program;
    if (config.url === "") return ok(undefined);
    const home = idOf(world);
    if (home === undefined) return refused("fleet-home", "This home has no id yet.", "Start it with `holdfast up`.");
    const gone = () => exit(ANOTHER_RUNS);
    return FleetMember.of({ world, postgres, config, home, host: config.host || hostName, say, gone });
  }

  async #makeDaemon(live: LiveConfig): Promise<void> {
    const { world, say } = this.#program;
    const { presence, others, ended } = this.#links;
    const fleet = this.#fleet;
    let tending = (): void => undefined;
    const link = presence.heartbeat({ beaten: () => tending(), news: (news) => daemon.announce(news) });
    const bus = new Bus();
    bus.subscribe(["recovery.stage.changed"], () => void (daemon.isLive && link.live()));
    const safeMode = new SafeMode(world, (fault) => say(fault.message), bus);
    const reason = world.self.environment()[SAFE_MODE_VARIABLE];
    if (reason) await safeMode.enter(reason); // The watchdog's word, even if the disk refused its file.
    let said = "";
    const onBug = (error: unknown) => {
      if (isFault(error, GIVEN_UP)) return; // It ends already.
      const words = `stopped: ${String(error)}`;
      if (words !== said) say(words); // Everything that waits for a log fails with the same error.
      said = words;
      const left = fleet?.halted() ?? Promise.resolve(); // M4: it may exit with a code of its own.
      void left.then(() => ended.resolve(FAILED));
    };
    const leased = fleet === undefined ? world : leasedWorld(world, fleet.lease);
    const leave = () => ended.resolve(0);
    const ports = {
      ...{ world: leased, config: live.current, live, version: VERSION, bus, safeMode, others },
      ...{ onBug, say, leave, fleet },
    };
    const daemon: Daemon = new Daemon(ports);
    this.daemon = daemon;
    this.#program.onReload?.(() => void daemon.reload().catch(onBug));
    tending = () => {
      presence.keepLocks();
      void daemon.tend().catch(onBug);
    };
  }

  /** DS-2, M3 */
  async #initStorage(): Promise<StartupEvent> {
    const { world, say } = this.#program;
    const daemon = this.#made();
    const failed = (fault: Fault) => {
      this.#bindFailures.push(fault);
      say(`the socket cannot be bound: ${fault.message}`);
    };
    this.#bound = bindRetrying(world, () => daemon.serve(), failed);
    try {
      const role = await this.#fleet?.begin();
      if (role === "follower") await new Promise<never>(() => undefined); // M4
      this.#damage = await daemon.openStorage();
      this.isOpen = true;
      return this.#damage.length === 0 ? "storage healthy" : "integrity check failed";
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#fault = error;
      return "integrity check failed";
    }
  }

  /** What could be repaired was, when the log was opened. */
  #sayDamage(): StartupEvent {
    if (this.#fault !== undefined) return "recovery failed";
    const found = "What was found is in quarantine/; holdfast log verify says more";
    this.#program.say(`the storage was damaged: ${this.#damage.join("; ")}. ${found}`);
    return "recovery worked";
  }

  async #notOpened(): Promise<never> {
    await this.halted();
    return this.#leave(`the storage cannot be opened: ${wordsOf(this.#fault)}`);
  }

  async #reconcile(): Promise<StartupEvent> {
    await this.#made().recover();
    return "state reconciled";
  }

  /** DS-3, M3 */
  async #startServers(): Promise<StartupEvent> {
    this.#fault = await this.#bound;
    return this.#bindFailures.length === 0 ? "bound" : "bind failed";
  }

  #retried(): StartupEvent {
    return this.#fault === undefined ? "bound" : "max retries";
  }

  #made(): Daemon {
    if (this.daemon === undefined) throw new Error("the configuration is loaded first");
    return this.daemon;
  }
}

function wordsOf(fault: Fault | undefined): string {
  return fault === undefined ? "" : `${fault.message}. ${fault.hint}`;
}
