// A daemon among the other programs of its home: its locks, its heartbeat, the watchdog it keeps, and who else runs.
// PE1. A daemon whose lock was removed takes it again; if another process has taken it in the meantime, the daemon
//      exits.
// PE2. A watchdog that is hung is ended by SIGKILL, since it may be stopped, but not while it waits for the disk. The
//      next one adopts what runs.
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { HeartbeatLink, keepWatchdog, startHeartbeat } from "../home/heartbeat-client.ts";
import { DAEMON_LOCK, WAL_LOCK, WATCHDOG_LOCK, WATCHDOG_SOCKET, WEB_ADDRESS, WEB_LOCK } from "../home/layout.ts";
import { logPath } from "../home/run-log.ts";
import { holderOf } from "../home/running.ts";
import { readServiceMark } from "../home/service-mark.ts";
import { readWanted } from "../home/wanted.ts";
import { livingPid, watchedPrograms } from "../home/watched.ts";
import { makeDirectories } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { type Held, takeLock } from "../log/file/lock.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE, type News } from "../wire/heartbeat.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import { identify } from "../world/process.ts";
import { ENGINE_OPTIONS } from "../world/self.ts";
import type { DaemonProgram } from "./ports.ts";

const DEFAULT_HEARTBEAT_MS = 2_000;
/** The log's own, and the one by which others find us. */
const LOCKS = [WAL_LOCK, DAEMON_LOCK] as const;

export class Presence {
  readonly #program: DaemonProgram;
  readonly #held = new Map<string, Held>();

  constructor(program: DaemonProgram) {
    this.#program = program;
  }

  /** They are held until the process ends. */
  takeLocks(): void {
    for (const name of LOCKS) this.#take(name);
  }

  #take(name: string): void {
    const { world } = this.#program;
    const path = joinPath(world.home, name);
    const owner = identify(world.processes, world.processes.pid);
    makeDirectories(world.disk, parentOf(path));
    const held = owner === undefined ? undefined : takeLock(world, path, owner);
    if (held?.ok !== true) this.#giveWay(held?.error.message ?? "it cannot find itself in /proc");
    this.#held.set(name, held.value);
  }

  #giveWay(words: string): never {
    this.#program.say(words);
    return this.#program.exit(ANOTHER_RUNS);
  }

  /** PE1. Called on every heartbeat. */
  keepLocks(): void {
    for (const name of LOCKS) {
      try {
        this.#keep(name);
      } catch (error) {
        if (!isFault(error)) throw error;
        this.#program.say(`${error.message}. ${error.hint}`);
      }
    }
  }

  /** PE1. A record that cannot be read proves nothing: a full disk may have kept us from writing ours. */
  #keep(name: string): void {
    const { disk, processes, home } = this.#program.world;
    if (disk.stat(joinPath(home, name)) === undefined) this.#take(name);
    const pid = this.#living(name);
    if (pid !== null && pid !== processes.pid) this.#giveWay(`process ${pid} has taken this home over`);
    this.#held.get(name)?.record();
  }

  /**
   * `beaten` is called after every beat: one timer for both, so that the process wakes up once. If fewer beats are
   * asked for, more are sent, so that our files are checked no less often.
   */
  heartbeat({ beaten, news }: { beaten(): void; news(news: News): void }): HeartbeatLink {
    const { sockets, clock, random, processes, self, home } = this.#program.world;
    const who = identify(processes, processes.pid) ?? { pid: 0, startTime: 0, bootId: "" };
    const ports = {
      connect: (events: Parameters<typeof sockets.connect>[1]) =>
        sockets.connect(joinPath(home, WATCHDOG_SOCKET), events),
      after: clock.after,
      chance: () => random.fraction(),
    };
    const link = new HeartbeatLink(ports, { name: "daemon", ...who }, { ...this.#watchdogKeeper(), news });
    this.#program.onExit((code) => link.leave(code));
    const beat = () => {
      link.send();
      beaten();
    };
    const everyMs = Number(self.environment()[HEARTBEAT_VARIABLE]) || DEFAULT_HEARTBEAT_MS;
    startHeartbeat({ send: beat, after: link.after }, Math.min(everyMs, DEFAULT_HEARTBEAT_MS));
    return link;
  }

  #watchdogKeeper() {
    const { disk, clock, children, self, home } = this.#program.world;
    return keepWatchdog({
      wanted: () => readWanted(disk, home),
      managed: () => readServiceMark(disk, home) !== undefined,
      start: () =>
        children.detached(
          {
            argv: self.lasting("src/watchdog/main.ts", home),
            cwd: home,
            env: { ...self.environment(), ...ENGINE_OPTIONS },
          },
          logPath(home),
        ),
      end: () => this.#endWatchdog(),
      elapsed: () => clock.elapsed(),
    });
  }

  /** PE2 */
  #endWatchdog(): void {
    const { world, say } = this.#program;
    const who = holderOf(world, joinPath(world.home, WATCHDOG_LOCK));
    if (who === undefined || world.processes.waitsForDisk(who.pid)) return;
    say(`the watchdog (${who.pid}) does not reply: it is ended, and the next one is started`);
    world.processes.kill(who, "SIGKILL");
  }

  others(): Pick<StatusResult, "watchdog" | "web" | "programs"> {
    const { world } = this.#program;
    const web = this.#living(WEB_LOCK);
    const url = web === null ? undefined : readJson(world.disk, joinPath(world.home, WEB_ADDRESS))?.["url"];
    return {
      watchdog: { pid: this.#living(WATCHDOG_LOCK) },
      web: { pid: web, url: typeof url === "string" ? url : null },
      programs: watchedPrograms(world),
    };
  }

  #living(name: string): number | null {
    const { world } = this.#program;
    return livingPid(world, joinPath(world.home, name));
  }
}
