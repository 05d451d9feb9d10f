// Starts Holdfast on a home for a command that needs it, and shows the progress.
// A5. If a service is installed for this home, the service manager is asked to start it; we start it only if that
//     fails.
// A6. A watchdog that has started no daemon for some seconds, and does not reply, is hung: it is replaced.
import type { Refusal } from "../base/result.ts";
import type { RecoveryStage } from "../core/recovery.ts";
import { endHungWatchdog } from "../home/hung-watchdog.ts";
import { logPath } from "../home/run-log.ts";
import { runningOn } from "../home/running.ts";
import { readServiceMark } from "../home/service-mark.ts";
import { startWatchdog } from "../home/start-watchdog.ts";
import { wantedOn } from "../home/wanted.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import type { DaemonCommandWorld } from "./daemon-command-world.ts";
import { lastLogLine } from "./log-file.ts";
import { say } from "./print.ts";

/** A watchdog has its lock within this time; only then is another start tried. */
const BETWEEN_STARTS_MS = 1_000;
/** Together with the attempts before and after, a running daemon has then been silent for ten seconds: it hangs. */
const HANGS_MS = 6_000;
/** A watchdog starts a daemon within a second, and again after a crash. */
const IDLE_MS = 3_000;
/** Shorter waits are not announced. */
const SILENT_MS = 300;

/** Overwrites the last line: 250 terminals would be as many messages. */
const LINE_BEFORE = "\u001b[A\r\u001b[K";

/** E3 of client.ts */
export function hangs(pid: number): Refusal {
  return {
    code: "daemon.silent",
    message: `The daemon (process ${pid}) is running, but does not answer.`,
    hint: [
      "The watchdog restarts it if it stays silent: try again in half a minute.",
      `Or at once: kill -9 ${pid}; the programs in terminals keep running.`,
    ].join(" "),
  };
}

export class Starter {
  readonly #world: DaemonCommandWorld;
  readonly #home: string;
  readonly #began: number;
  #started = Number.NEGATIVE_INFINITY;
  #silent: { readonly pid: number; readonly since: number } | undefined;
  #told = "";

  constructor(world: DaemonCommandWorld, home: string) {
    this.#world = world;
    this.#home = home;
    this.#began = world.clock.elapsed();
  }

  /**
   * There was no reply, or it is not live yet: starts Holdfast if necessary. Returns what prevents the start, if
   * anything.
   */
  async see(stage: RecoveryStage | undefined, progress: Progress): Promise<Refusal | undefined> {
    const words = progressText(progress);
    const back = words === undefined ? "" : `, ${words}`;
    const starts = stage === undefined || stage === "CRASHED"; // Every recovery starts here, also the first one.
    await this.#tell(`${starts ? "starting the daemon" : `recovering: ${stage}`}${back} …`);
    const hung = this.#hung(stage);
    if (stage !== undefined || hung !== undefined) return hung;
    const { clock } = this.#world;
    if (clock.elapsed() - this.#started < BETWEEN_STARTS_MS) return undefined;
    if (clock.elapsed() - this.#began >= IDLE_MS) await this.#replaceHung();
    this.#started = clock.elapsed();
    return startHere(this.#world, this.#home);
  }

  /** A6 */
  async #replaceHung(): Promise<void> {
    if (runningOn(this.#world, this.#home).daemon !== undefined) return;
    const pid = await endHungWatchdog(this.#world, this.#home);
    if (pid !== undefined)
      await say(this.#world.console, `the watchdog (process ${pid}) did not reply: it is replaced`);
  }

  /** E3 of client.ts. A daemon that waits for the disk does not hang: it continues when the disk does. */
  #hung(stage: RecoveryStage | undefined): Refusal | undefined {
    const { clock, processes } = this.#world;
    const pid = stage === undefined ? runningOn(this.#world, this.#home).daemon?.pid : undefined;
    if (pid === undefined || processes.waitsForDisk(pid)) this.#silent = undefined;
    else if (this.#silent?.pid !== pid) this.#silent = { pid, since: clock.elapsed() };
    const { since = clock.elapsed() } = this.#silent ?? {};
    return pid !== undefined && clock.elapsed() - since >= HANGS_MS ? hangs(pid) : undefined;
  }

  tooLate(): Refusal {
    const last = lastLogLine(this.#world.disk, this.#home);
    const message = `The daemon is not live after ${Math.round((this.#world.clock.elapsed() - this.#began) / 1000)} s.`;
    const why = last === undefined ? "" : ` Its last message: ${last}`;
    return {
      code: "not-live",
      message: `${message}${why}`,
      hint: `Read ${logPath(this.#home)}, or run: holdfast logs`,
    };
  }

  async #tell(words: string): Promise<void> {
    const { console, clock } = this.#world;
    if (!console.err.tty || words === this.#told || clock.elapsed() - this.#began < SILENT_MS) return;
    const over = this.#told === "" ? "" : LINE_BEFORE;
    this.#told = words;
    await console.err.write(over);
    await say(console, words);
  }
}

export type Progress = Pick<StatusResult["recovery"], "progress" | "reading">;

/** How far a recovery is; undefined if nothing is counted. */
export function progressText({ progress, reading }: Progress): string | undefined {
  if (reading) return `reading ${reading.what} ${reading.done} of ${reading.total}`;
  return progress ? `${progress.done} of ${progress.total} terminals recovered` : undefined;
}

/** A5: if a service is installed for this home, the service manager is asked first. */
export function startHere(world: DaemonCommandWorld, home: string): Promise<Refusal | undefined> {
  return startWatchdog(world, home, async () => {
    if (readServiceMark(world.disk, home) === undefined) return false;
    const { askService } = await import("./service/ask.ts"); // Most homes have no service.
    return askService(world, "start");
  });
}

/** Starts Holdfast if the operator wants it up and it is not running; a home that was never started is left alone. */
export async function ensureStarted(world: DaemonCommandWorld, home: string): Promise<void> {
  if (wantedOn(world.disk, home) !== "up") return;
  const trouble = await startHere(world, home);
  if (trouble !== undefined) await say(world.console, `${trouble.message}\n  → ${trouble.hint}`);
}
