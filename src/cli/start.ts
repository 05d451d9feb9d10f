// Starts Holdfast on a home for a command that needs it, and shows how far it is.
// A5. If a service keeps this home, the service manager is asked to start it; we start it only if that fails.
import type { Refusal } from "../base/result.ts";
import type { RecoveryStage } from "../core/recovery.ts";
import { logPath } from "../home/run-log.ts";
import { runningOn } from "../home/running.ts";
import { readServiceMark } from "../home/service-mark.ts";
import { startWatchdog } from "../home/start-watchdog.ts";
import { wantedPath } from "../home/wanted.ts";
import { readJson } from "../log/file/json-file.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import type { DaemonCommandWorld } from "./daemon-command-world.ts";
import { lastLogLine } from "./log-file.ts";
import { say } from "./print.ts";

/** A watchdog has its lock within this time; only then is another one tried. */
const BETWEEN_STARTS_MS = 1_000;
/** With the tries before and after, a daemon that runs has then been silent for ten seconds: it hangs. */
const HANGS_MS = 6_000;
/** Who waits for less does not need to be told. */
const SILENT_MS = 300;

/** Takes the place of the last line: 250 terminals are as many words. */
const LINE_BEFORE = "\u001b[A\r\u001b[K";

/** E3 of client.ts */
export function hangs(pid: number): Refusal {
  return {
    code: "daemon.silent",
    message: `The daemon (process ${pid}) runs, but does not answer.`,
    hint: `The watchdog ends it if it stays silent, and starts another: try again in half a minute. Or at once: kill -9 ${pid}; the programs in terminals run on.`,
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

  /** Nobody answered, or not live yet: sees to it that somebody works on it. Says what keeps it from starting, where something does. */
  async see(stage: RecoveryStage | undefined, progress: Progress): Promise<Refusal | undefined> {
    const words = progressText(progress);
    const back = words === undefined ? "" : `, ${words}`;
    const starts = stage === undefined || stage === "CRASHED"; // Where every recovery begins, the first one as well.
    await this.#tell(starts ? "starting the daemon …" : `recovering: ${stage}${back} …`);
    const hung = this.#hung(stage);
    if (stage !== undefined || hung !== undefined) return hung;
    const { clock } = this.#world;
    if (clock.elapsed() - this.#started < BETWEEN_STARTS_MS) return undefined;
    this.#started = clock.elapsed();
    return startHere(this.#world, this.#home);
  }

  /** E3 of client.ts. One that waits for the disk does not hang: it goes on when the disk does. */
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
    const why = last === undefined ? "" : ` It said last: ${last}`;
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

/** How far a recovery is; undefined where nothing is counted. */
export function progressText({ progress, reading }: Progress): string | undefined {
  if (reading) return `reading ${reading.what} ${reading.done} of ${reading.total}`;
  return progress ? `${progress.done} of ${progress.total} terminals back` : undefined;
}

/** A5: on a home that a service keeps, the service manager is asked first. */
export function startHere(world: DaemonCommandWorld, home: string): Promise<Refusal | undefined> {
  return startWatchdog(world, home, async () => {
    if (readServiceMark(world.disk, home) === undefined) return false;
    const { askService } = await import("./service/ask.ts"); // Most homes have none.
    return askService(world, "start");
  });
}

/** Where the operator wants it up and nobody is there, every command starts it; a home where nobody ever said so is left alone. */
export async function ensureStarted(world: DaemonCommandWorld, home: string): Promise<void> {
  if (readJson(world.disk, wantedPath(home))?.["wanted"] !== "up") return;
  const trouble = await startHere(world, home);
  if (trouble !== undefined) await say(world.console, `${trouble.message}\n  → ${trouble.hint}`);
}
