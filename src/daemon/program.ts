// The daemon of a home. The watchdog starts and restarts it; the daemon in turn keeps a watchdog running.
// M1. There is one per home: a daemon that finds a lock taken exits with a code of its own, which does not count as a
//     crash. The first lock is beside wal/, not in run/: the process that writes the log has it, even after all of run/
//     was removed. A daemon that does not get it has changed nothing.
// M2. The start-up is driven by its table (core/startup.ts): the state decides what is done next. Every way out reports
//     what is wrong and what can be done.
// M3. The socket is bound in parallel, so that status requests are answered during recovery, and a path that cannot be
//     bound does not delay the recovery. Whether it was bound is checked when the table asks for it.
// M4. A daemon whose lock was removed takes it again; if another process has taken it in the meantime, the daemon
//     exits.
import { type Fault, isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { type StartupEvent, type StartupState, startupMachine } from "../core/startup.ts";
import { HeartbeatLink, keepWatchdog, startHeartbeat } from "../home/heartbeat-client.ts";
import { DAEMON_LOCK, WAL_LOCK, WATCHDOG_LOCK, WATCHDOG_SOCKET, WEB_ADDRESS, WEB_LOCK } from "../home/layout.ts";
import { logPath } from "../home/run-log.ts";
import { SafeMode } from "../home/safe-mode.ts";
import { readServiceMark } from "../home/service-mark.ts";
import { readWanted } from "../home/wanted.ts";
import { livingPid, watchedPrograms } from "../home/watched.ts";
import { makeDirectories, readWhole } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { takeLock } from "../log/file/lock.ts";
import { configRefusal, loadConfig } from "../wire/files/config.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE, SAFE_MODE_VARIABLE } from "../wire/heartbeat.ts";
import { VERSION } from "../wire/version.ts";
import { identify } from "../world/process.ts";
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realHttp } from "../world/real/http.ts";
import { realHttpClient } from "../world/real/http-client.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realWatch } from "../world/real/watch.ts";
import { realSelf } from "../world/self.ts";
import { realWorld } from "../world/world.ts";
import { bindRetrying } from "./bind.ts";
import { Bus } from "./bus.ts";
import { Daemon } from "./daemon.ts";

const FAILED = 1;
const USAGE = 2;
const DEFAULT_HEARTBEAT_MS = 2_000;
/** The log's own, and the one by which others find us. */
const LOCKS = [WAL_LOCK, DAEMON_LOCK] as const;

const program = realProgram();
const out = realConsole();
const self = realSelf();
const doors = {
  ...realWorld(),
  ...{ sockets: realSockets(), children: realChildren(), watch: realWatch(), self },
  ...{ http: realHttp(), httpClient: realHttpClient() },
};

function say(words: string): void {
  const line = `${new Date(doors.clock.now()).toISOString()} daemon ${doors.processes.pid}: ${words}\n`;
  // Nothing reads it any more, and there is nowhere else to report it.
  void out.err.write(line).catch(() => undefined);
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

function leave(words: string, code: number): never {
  say(words);
  return program.exit(code);
}

/** Held until the process ends. */
function lock(home: string, name: string): void {
  const path = joinPath(home, name);
  const owner = identify(doors.processes, doors.processes.pid);
  makeDirectories(doors.disk, parentOf(path));
  const held = owner === undefined ? undefined : takeLock(doors, path, owner);
  if (held?.ok !== true) leave(held?.error.message ?? "it cannot find itself in /proc", ANOTHER_RUNS); // M1
}

/** M4. A record that cannot be read proves nothing: a full disk may have kept us from writing ours. */
function keepLock(home: string, name: string): void {
  if (doors.disk.stat(joinPath(home, name)) === undefined) lock(home, name);
  const pid = living(home, name);
  if (pid !== null && pid !== doors.processes.pid) leave(`process ${pid} has taken this home over`, ANOTHER_RUNS);
}

function configuration() {
  const env = self.environment();
  return loadConfig({
    env: (name) => env[name],
    absolute: out.absolute,
    read: (path) => readWhole(doors.disk, path),
  });
}

function heartbeatMs(): number {
  return Number(self.environment()[HEARTBEAT_VARIABLE]) || DEFAULT_HEARTBEAT_MS;
}

/** Checks our files in run/ on every heartbeat. */
function tend(home: string, daemon: Daemon): void {
  for (const name of LOCKS) tolerating(() => keepLock(home, name));
  void daemon.tend();
}

function tolerating(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`${error.message}. ${error.hint}`);
  }
}

/**
 * `beaten` is called after every beat: one timer for both, so that the process wakes up once. If fewer beats are asked
 * for, more are sent, so that our files are checked no less often.
 */
function heartbeat(home: string, beaten: () => void): HeartbeatLink {
  const who = identify(doors.processes, doors.processes.pid) ?? { pid: 0, startTime: 0, bootId: "" };
  const ports = {
    connect: (events: Parameters<typeof doors.sockets.connect>[1]) =>
      doors.sockets.connect(joinPath(home, WATCHDOG_SOCKET), events),
    after: doors.clock.after,
    chance: () => doors.random.fraction(),
  };
  const keeper = keepWatchdog({
    wanted: () => readWanted(doors.disk, home),
    managed: () => readServiceMark(doors.disk, home) !== undefined,
    start: () =>
      doors.children.detached(
        { argv: self.command("src/watchdog/main.ts", home), cwd: home, env: self.environment() },
        logPath(home),
      ),
    elapsed: () => doors.clock.elapsed(),
  });
  const link = new HeartbeatLink(ports, { name: "daemon", ...who }, keeper);
  const beat = () => {
    link.send();
    beaten();
  };
  startHeartbeat({ send: beat, after: link.after }, Math.min(heartbeatMs(), DEFAULT_HEARTBEAT_MS));
  return link;
}

function others(home: string) {
  const watchdog = living(home, WATCHDOG_LOCK);
  const web = living(home, WEB_LOCK);
  const url = web === null ? undefined : readJson(doors.disk, joinPath(home, WEB_ADDRESS))?.["url"];
  return {
    watchdog: { pid: watchdog },
    web: { pid: web, url: typeof url === "string" ? url : null },
    programs: watchedPrograms({ ...doors, home }),
  };
}

function living(home: string, path: string): number | null {
  return livingPid(doors, joinPath(home, path));
}

async function main(): Promise<never> {
  const [home] = program.args;
  if (home === undefined || !home.startsWith("/")) return leave("the first word is the home, as a full path", USAGE);
  for (const name of LOCKS) lock(home, name);
  const ended = Promise.withResolvers<number>();
  const started = new Startup(home, ended);
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, () => ended.resolve(0));
  program.onSignal("SIGHUP", () => undefined);
  await Promise.race([goThrough(started.work), ended.promise]); // A signal is not kept waiting by a recovery.
  const code = await ended.promise;
  if (code === 0) await started.daemon?.stop();
  started.link?.leave(code);
  return program.exit(code);
}

/** A start of the daemon: what is done in each state of the table (core/startup.ts), and what was made on the way. */
class Startup {
  readonly #home: string;
  readonly #ended: PromiseWithResolvers<number>;
  daemon: Daemon | undefined;
  link: HeartbeatLink | undefined;
  #refusal = "";
  #damage: readonly string[] = [];
  #fault: Fault | undefined;
  readonly #bindFailures: Fault[] = [];
  #bound: Promise<Fault | undefined> = Promise.resolve(undefined);

  readonly work: StartupWork = {
    LoadConfig: () => this.#loadConfig(),
    ConfigError: () => leave(this.#refusal, FAILED),
    InitStorage: () => this.#initStorage(),
    CorruptionDetected: () => "attempt",
    AttemptRecovery: () => this.#sayDamage(),
    RecoveryFailed: () => leave(`the storage cannot be opened: ${wordsOf(this.#fault)}`, FAILED),
    ReconcileState: () => this.#reconcile(),
    StartServers: () => this.#startServers(),
    LocalServerFailed: () => this.#retried(),
    ServerExhausted: () => leave(`the socket cannot be bound: ${wordsOf(this.#fault)}`, FAILED),
    Running: async (): Promise<StartupEvent> => {
      await this.#ended.promise;
      return "shutdown signal";
    },
  };

  constructor(home: string, ended: PromiseWithResolvers<number>) {
    this.#home = home;
    this.#ended = ended;
  }

  async #loadConfig(): Promise<StartupEvent> {
    const loaded = configuration();
    if (!loaded.ok) {
      const { message, hint } = configRefusal(loaded.error);
      this.#refusal = `${message} ${hint}`;
      return "config invalid";
    }
    await this.#makeDaemon(loaded.value.config);
    return "config valid";
  }

  async #makeDaemon(config: Config): Promise<void> {
    const home = this.#home;
    let tending = (): void => undefined;
    const link = heartbeat(home, () => tending());
    this.link = link;
    const bus = new Bus();
    bus.subscribe(["recovery.stage.changed"], () => void (daemon.isLive && link.live()));
    const safeMode = new SafeMode({ ...doors, home }, (fault) => say(fault.message), bus);
    const reason = self.environment()[SAFE_MODE_VARIABLE];
    if (reason) await safeMode.enter(reason); // The watchdog's word, also if the disk did not take its file.
    const onBug = (error: unknown) => {
      say(`stopped: ${String(error)}`);
      this.#ended.resolve(FAILED);
    };
    const ports = { config, version: VERSION, bus, safeMode, others: () => others(home), onBug, say };
    const daemon: Daemon = new Daemon({ world: { ...doors, home }, ...ports });
    this.daemon = daemon;
    tending = () => tend(home, daemon);
  }

  /** DS-2, M3 */
  async #initStorage(): Promise<StartupEvent> {
    const daemon = this.#made();
    const failed = (fault: Fault) => {
      this.#bindFailures.push(fault);
      say(`the socket cannot be bound: ${fault.message}`);
    };
    this.#bound = bindRetrying(doors, () => daemon.serve(), failed);
    try {
      this.#damage = await daemon.openStorage();
      return this.#damage.length === 0 ? "storage healthy" : "integrity check failed";
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#fault = error;
      return "integrity check failed";
    }
  }

  /** What could be mended was, when the log was opened. */
  #sayDamage(): StartupEvent {
    if (this.#fault !== undefined) return "recovery failed";
    const found = "What was found is in quarantine/; holdfast log verify says more";
    say(`the storage was damaged: ${this.#damage.join("; ")}. ${found}`);
    return "recovery worked";
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

/** The one place where Faults are caught. */
async function start(): Promise<never> {
  try {
    return await main();
  } catch (error) {
    if (!isFault(error)) throw error;
    return leave(`${error.message}. ${error.hint}`, FAILED);
  }
}

void out.staying(start()).then((code) => program.exit(code)); // Not awaited: put into one file it is no module.
