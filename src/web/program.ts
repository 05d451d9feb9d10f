// The web host of a home. The watchdog starts and restarts it.
// M1. One for each home: if the lock is taken, it exits with a special code, which is not a crash.
// M2. A wrong configuration does not take the page away: the host uses the defaults, and the daemon reports the
//     problems.
// M3. If all of run/ is removed, its lock and its address are put back; if another host has the lock by then, that one
//     stays.
import { isFault } from "../base/fault.ts";
import { HeartbeatLink, startHeartbeat } from "../home/heartbeat-client.ts";
import { WATCHDOG_SOCKET } from "../home/layout.ts";
import { loadConfig, problemText } from "../wire/files/config.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE } from "../wire/heartbeat.ts";
import { identify, type ProcessIdentity } from "../world/process.ts";
import { realCertificates } from "../world/real/certificates.ts";
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realHttp } from "../world/real/http.ts";
import { realMachine } from "../world/real/machine.ts";
import { pageFiles } from "../world/real/page-files.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realTunnels } from "../world/real/tunnel.ts";
import { realSelf } from "../world/self.ts";
import type { ConnectionEvents } from "../world/socket.ts";
import { realWorld } from "../world/world.ts";
import { exportPage } from "./export.ts";
import { readSmall, takeLock } from "./files.ts";
import { HomeNoise } from "./home-noise.ts";
import { WebTunnel } from "./home-tunnel.ts";
import { startHost, type WebHost } from "./host.ts";

const FAILED = 1;
/** In place of a home: the page is written to files, and nothing is served (export.ts). */
const EXPORT = "export";
const GIVE_UP_MS = 100;
const USAGE = 2;
const DEFAULT_WEB = { enabled: true, port: 0 };
const DEFAULT_HEARTBEAT_MS = 2_000;

const program = realProgram();
const outlet = realConsole();
const doors = {
  sockets: realSockets(),
  http: realHttp(),
  children: realChildren(),
  self: realSelf(),
  machine: realMachine(),
};
const far = { tunnels: realTunnels(), certificates: realCertificates(), noise: new HomeNoise(crypto.subtle) };
const world = { ...realWorld(), ...doors, ...far, fleet };

function say(words: string): void {
  const line = `${new Date(world.clock.now()).toISOString()} web ${world.processes.pid}: ${words}\n`;
  // No one reads it any more, and there is nowhere else to report it.
  void outlet.err.write(line).catch(() => undefined);
}

function leave(words: string, code: number): number {
  say(words);
  return code;
}

function configNow(): ReturnType<typeof loadConfig> {
  const read = (path: string) => readSmall(world.disk, path);
  return loadConfig({ env: outlet.env, absolute: outlet.absolute, read });
}

/** Read again each time: a host that joins or leaves a fleet need not end. */
function fleet(): Config["fleet"] | undefined {
  const loaded = configNow();
  return loaded.ok ? loaded.value.config.fleet : undefined;
}

function webConfig(): { readonly enabled: boolean; readonly port: number } {
  const loaded = configNow();
  if (loaded.ok) return loaded.value.config.web;
  for (const problem of loaded.error) say(problemText(problem));
  return DEFAULT_WEB; // M2
}

/**
 * Sends heartbeats to the watchdog; returns the link, to report when we serve and when we leave. `beaten` is called
 * after each.
 */
function heartbeat(home: string, who: ProcessIdentity, beaten: () => void): HeartbeatLink {
  const connect = (events: ConnectionEvents) => world.sockets.connect(`${home}/${WATCHDOG_SOCKET}`, events);
  const ports = { connect, after: world.clock.after, chance: () => world.random.fraction() };
  const link = new HeartbeatLink(ports, { name: "web", ...who });
  program.onExit((code) => link.leave(code));
  const send = () => {
    link.send();
    beaten();
  };
  const everyMs = Number(outlet.env(HEARTBEAT_VARIABLE)) || DEFAULT_HEARTBEAT_MS;
  startHeartbeat({ send, after: link.after }, everyMs);
  return link;
}

async function main(): Promise<number> {
  const [home, ...more] = program.args;
  if (home === EXPORT) return exported(more);
  if (home === undefined || !home.startsWith("/"))
    return leave("the first argument must be the home, as an absolute path", USAGE);
  const who = identify(world.processes, world.processes.pid);
  if (who === undefined) return leave("cannot find its own process in /proc", FAILED);
  world.disk.makeDirectory(`${home}/run`);
  // M1
  if (takeLock(world.disk, `${home}/run/web.lock`, who) === undefined) return leave("another one runs", ANOTHER_RUNS);
  const { enabled, port } = webConfig();
  if (!enabled) return leave("the page is turned off: [web] enabled = false", 0);
  let host: WebHost | undefined;
  let tunnel: WebTunnel | undefined;
  const link = heartbeat(home, who, () => {
    keepFiles(home, who, host);
    void tunnel?.look();
  });
  const serves = (started: WebHost): void => {
    host = started;
    tunnel = new WebTunnel(world, home, started, say);
    void tunnel.look();
  };
  return serve({ home, port, link, serves });
}

async function exported([directory = "", relay = ""]: readonly string[]): Promise<number> {
  const done = await exportPage(world, await pageFiles(), { directory, relay });
  return done.ok ? 0 : leave(`${done.error.message} ${done.error.hint}`, FAILED);
}

/** M3 */
function keepFiles(home: string, who: ProcessIdentity, host: WebHost | undefined): void {
  try {
    world.disk.makeDirectory(`${home}/run`);
    const path = `${home}/run/web.lock`;
    if (world.disk.stat(path) === undefined && takeLock(world.disk, path, who) === undefined)
      program.exit(leave("another one runs", ANOTHER_RUNS));
    host?.keep();
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`${error.message}. ${error.hint}`);
  }
}

type Serving = {
  readonly home: string;
  readonly port: number;
  readonly link: HeartbeatLink;
  serves(host: WebHost): void;
};

async function serve({ home, port, link, serves }: Serving): Promise<number> {
  const told = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, told.resolve);
  program.onSignal("SIGHUP", () => undefined); // The terminal that we were started from may close.
  // Not at once: the request that met it is answered first.
  const giveUp = (why: string) => void world.clock.after(GIVE_UP_MS, () => program.exit(leave(why, FAILED)));
  const host = await Promise.race([startHost(world, { home, port, say, giveUp }), told.promise]);
  if (host !== undefined) {
    serves(host);
    link.live();
  }
  await told.promise;
  await host?.close();
  return 0;
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
