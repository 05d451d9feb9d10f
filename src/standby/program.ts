// The standby program of a home that is in a fleet. The watchdog starts and restarts it.
// SP1. One for each home: if the lock is taken, it exits with a special code, which is not a crash.
// SP2. The guard needs nothing but this machine: it begins first, and works whatever is wrong with configuration, key
//      or database. Those are tried again for as long as it takes.
// SP3. If run/ is removed, its lock is put back; if another one has the lock by then, that one stays.
// SP4. When it ends, what it has stopped stays stopped: the next one goes on.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import { postgresTarget } from "../fleet/target.ts";
import { HeartbeatLink, startHeartbeat } from "../home/heartbeat-client.ts";
import { RUN, STANDBY_LOCK, WATCHDOG_SOCKET } from "../home/layout.ts";
import { startWatchdog } from "../home/start-watchdog.ts";
import { readTunnelStatus } from "../home/tunnel-files.ts";
import { makeDirectories, readWhole } from "../log/file/file.ts";
import { type Held, takeLock } from "../log/file/lock.ts";
import { loadConfig, problemText } from "../wire/files/config.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE } from "../wire/heartbeat.ts";
import { identify, type ProcessIdentity } from "../world/process.ts";
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realMachine } from "../world/real/machine.ts";
import { realPostgres } from "../world/real/postgres/client.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realSelf } from "../world/self.ts";
import type { ConnectionEvents } from "../world/socket.ts";
import { realWorld } from "../world/world.ts";
import { fleetFiles } from "./fleet-files.ts";
import { Guard } from "./guard.ts";
import { ownDaemon } from "./own-daemon.ts";
import { ownLists } from "./own-lists.ts";
import { startStandby } from "./standby.ts";
import { StatusFile } from "./status.ts";

const FAILED = 1;
const USAGE = 2;
const DEFAULT_HEARTBEAT_MS = 2_000;
const DEFAULT_LEASE_S = 10;
/** Started on this host by others, over ssh. */
const COMMAND = "src/cli/main.ts";
/** SP2 */
const AGAIN_MS = 10_000;

const program = realProgram();
const outlet = realConsole();
const world = { ...realWorld(), postgres: realPostgres() };
const self = realSelf();
const sockets = realSockets();

function say(words: string): void {
  const line = `${new Date(world.clock.now()).toISOString()} standby ${world.processes.pid}: ${words}\n`;
  // No one reads it any more, and there is nowhere else to report it.
  void outlet.err.write(line).catch(() => undefined);
}

function leave(words: string, code: number): number {
  say(words);
  return code;
}

async function main(): Promise<number> {
  const [home] = program.args;
  if (home === undefined || !home.startsWith("/"))
    return leave("the first argument must be the home, as an absolute path", USAGE);
  const who = identify(world.processes, world.processes.pid);
  if (who === undefined) return leave("cannot find its own process in /proc", FAILED);
  makeDirectories(world.disk, joinPath(home, RUN));
  const lock = takeLock(world, joinPath(home, STANDBY_LOCK), who); // SP1
  if (!lock.ok) return leave(lock.error.message, ANOTHER_RUNS);
  const told = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, told.resolve);
  program.onSignal("SIGHUP", () => undefined); // The terminal that we were started from may close.
  const link = heartbeat(home, who, lock.value);
  const status = new StatusFile(world, home);
  const guard = new Guard({
    world: { ...world, home },
    leaseMs: leaseMs(),
    say,
    changed: (state) => status.set({ guard: state }),
  });
  guard.start(); // SP2
  link.live();
  const stop = keepTrying(home, { status, guard });
  await told.promise;
  guard.close(); // SP4
  stop();
  return 0;
}

function fleetConfig(): Result<Config["fleet"]> {
  const read = (path: string) => readWhole(world.disk, path);
  const loaded = loadConfig({ env: outlet.env, absolute: outlet.absolute, read });
  if (loaded.ok) return ok(loaded.value.config.fleet);
  return refused("config", loaded.error.map(problemText).join(" "), "See `holdfast config check`.");
}

function leaseMs(): number {
  const config = fleetConfig();
  return (config.ok ? config.value.leaseS : DEFAULT_LEASE_S) * 1_000;
}

type Parts = { readonly status: StatusFile; readonly guard: Guard };

/** SP2. Returns how to stop it. */
function keepTrying(home: string, parts: Parts): () => void {
  let stop: () => void = () => undefined;
  let before: string | undefined;
  const attempt = () => void begin(home, parts).then(begun, broken);
  const begun = (made: Result<() => void>) => {
    if (made.ok) {
      stop = made.value;
      return;
    }
    const words = `${made.error.message} ${made.error.hint}`;
    if (words !== before) say(words);
    before = words;
    parts.status.set({ database: words });
    stop = world.clock.after(AGAIN_MS, attempt);
  };
  attempt();
  return () => stop();
}

async function begin(home: string, { status, guard }: Parts): Promise<Result<() => void>> {
  const config = fleetConfig();
  if (!config.ok) return config;
  if (config.value.url === "")
    return refused("fleet-off", "There is no [fleet] url any more.", "Start it again: holdfast up");
  const target = postgresTarget(config.value.url, { disk: world.disk, environment: self.environment() });
  if (!target.ok) return target;
  try {
    const { hostName: machine } = realMachine();
    const hostName = config.value.host || machine;
    const address = config.value.ssh || machine;
    const place = { directory: home, command: self.lasting(COMMAND), ssh: address };
    const page = () => config.value.page || (readTunnelStatus(world.disk, home)?.url ?? "");
    const lists = ownLists({ ...world, sockets }, home);
    const programs = { self, children: realChildren() };
    const files = fleetFiles(world, { config: config.value, home, lists, place, page, say, ...programs });
    if (!files.ok) return files;
    const settings = {
      world,
      home,
      config: config.value,
      hostName,
      address,
      target: target.value,
      start,
      say,
      broken,
      status,
    };
    const daemon = ownDaemon({ ...world, sockets }, home);
    const leave = (isLeaving: boolean) => guard.leave(isLeaving);
    return ok(await startStandby({ ...settings, ...files.value, daemon, leave }));
  } catch (error) {
    if (!isFault(error)) throw error;
    return refused(error.code, `${error.message}.`, error.hint);
  }
}

/** Nothing of ours goes on with what is not understood. */
function broken(error: unknown): void {
  world.clock.soon(() => {
    throw error;
  });
}

function start(directory: string): Promise<Refusal | undefined> {
  return startWatchdog({ ...world, self, console: outlet }, directory);
}

/** Sends heartbeats to the watchdog, and keeps the lock (SP3). */
function heartbeat(home: string, who: ProcessIdentity, lock: Held): HeartbeatLink {
  const connect = (events: ConnectionEvents) => sockets.connect(joinPath(home, WATCHDOG_SOCKET), events);
  const ports = { connect, after: world.clock.after, chance: () => world.random.fraction() };
  const link = new HeartbeatLink(ports, { name: "standby", ...who });
  program.onExit((code) => link.leave(code));
  let held = lock;
  const send = () => {
    link.send();
    held = keepLock(home, who, held);
  };
  startHeartbeat({ send, after: link.after }, Number(outlet.env(HEARTBEAT_VARIABLE)) || DEFAULT_HEARTBEAT_MS);
  return link;
}

/** SP3 */
function keepLock(home: string, who: ProcessIdentity, held: Held): Held {
  try {
    if (world.disk.stat(held.path) !== undefined) return held;
    makeDirectories(world.disk, joinPath(home, RUN));
    const again = takeLock(world, held.path, who);
    return again.ok ? again.value : program.exit(leave(again.error.message, ANOTHER_RUNS));
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`${error.message}. ${error.hint}`);
    return held;
  }
}

async function orFault(work: Promise<number>): Promise<number> {
  try {
    return await work;
  } catch (error) {
    if (!isFault(error)) throw error;
    return leave(`${error.message}. ${error.hint}`, FAILED);
  }
}

// Not awaited: the bundle is not a module.
void outlet.staying(orFault(main())).then((code) => program.exit(code));
