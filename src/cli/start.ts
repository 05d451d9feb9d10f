// Starts Holdfast on a home: what the operator wants is made durable, then the watchdog is started, which does the rest.
// A1. `up` is durable before anything is started: who is killed right after it is healed.
// A2. A watchdog is started only where none lives; a second one would leave at once, but one that is leaving must be replaced.
// A3. Nothing of the terminal we were called from goes on into Holdfast: not its marker, which would make everything its orphan.
// A4. Paths in the environment are made absolute: Holdfast stands in its home, wherever the command was typed.
// A5. Where a service keeps this home, the service manager is asked to start it; only where that one does not answer do we.
// A6. Settings go by the environment, never by the words: those any user of the machine can read, and a watched program's variables
//     may be secrets.

import { joinPath } from "../base/path.ts";
import type { Refusal } from "../base/result.ts";
import type { RecoveryStage } from "../core/recovery.ts";
import { logPath, turnOver } from "../home/run-log.ts";
import { isHeld, runningOn } from "../home/running.ts";
import { readServiceMark } from "../home/service-mark.ts";
import { wantedPath, writeWanted } from "../home/wanted.ts";
import { makeDirectories } from "../log/file/file.ts";
import { readJson } from "../log/file/json-file.ts";
import { configRefusal } from "../wire/files/config.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { SETTINGS_VARIABLE, WATCHDOG_LOCK } from "../wire/heartbeat.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import { realChildren } from "../world/real/children.ts";
import { readConfig } from "./configuration.ts";
import type { DaemonCommandWorld } from "./daemon-command-world.ts";
import { lastLogLine } from "./log-file.ts";
import { say } from "./print.ts";
import { withoutOurs } from "./terminal/environment.ts";

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
    return startWatchdog(this.#world, this.#home);
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

/** Starts a watchdog where none lives (A2). Returns what is wrong with the configuration, where something is. */
export async function startWatchdog(world: DaemonCommandWorld, home: string): Promise<Refusal | undefined> {
  const { disk, self } = world;
  const config = readConfig(world);
  if (!config.ok) return configRefusal(config.error);
  for (const parent of makeDirectories(disk, joinPath(home, "run"))) await disk.syncDirectory(parent);
  if (readJson(disk, wantedPath(home))?.["wanted"] !== "up") await writeWanted(disk, home, "up"); // A1
  if (isHeld(world, joinPath(home, WATCHDOG_LOCK))) return undefined; // A2
  if (await startService(world, home)) return undefined; // A5
  turnOver(disk, home);
  const settings = JSON.stringify(settingsOf(world, config.value.config));
  const env = { ...environmentOf(world, home, config.value.path), [SETTINGS_VARIABLE]: settings }; // A6
  realChildren().detached({ argv: self.command("src/watchdog/main.ts", home), cwd: home, env }, logPath(home));
  return undefined;
}

/** A3, A4 */
function environmentOf({ self, console }: DaemonCommandWorld, home: string, config: string | undefined) {
  const env = withoutOurs(self.environment());
  return {
    ...env,
    ...(env["HOLDFAST_HOME"] !== undefined && { HOLDFAST_HOME: home }),
    ...(env["HOLDFAST_CONFIG"] && config !== undefined && { HOLDFAST_CONFIG: console.absolute(config) }),
  };
}

/** Whether a service manager starts it (A5). */
async function startService(world: DaemonCommandWorld, home: string): Promise<boolean> {
  if (readServiceMark(world.disk, home) === undefined) return false;
  const { askService } = await import("./service/ask.ts"); // Most homes have none.
  return askService(world, "start");
}

/** Where the operator wants it up and nobody is there, every command starts it; a home where nobody ever said so is left alone. */
export async function ensureStarted(world: DaemonCommandWorld, home: string): Promise<void> {
  if (readJson(world.disk, wantedPath(home))?.["wanted"] !== "up") return;
  const trouble = await startWatchdog(world, home);
  if (trouble !== undefined) await say(world.console, `${trouble.message}\n  → ${trouble.hint}`);
}

/** What the watchdog is told, in its own words (watchdog/settings.ts). */
export function settingsOf({ disk, self }: DaemonCommandWorld, { daemon, crashLoop, web, watch }: Config) {
  const page = self.command("src/web/main.ts").at(-1) ?? "";
  const programs = Object.entries(watch).map(([name, { command, cwd, env, heartbeatMs }]) => {
    return [name, { argv: command, cwd, env, ...(heartbeatMs > 0 && { heartbeatMs }) }];
  });
  return {
    heartbeatMs: daemon.heartbeatMs,
    killAfterMs: daemon.unresponsiveKillS * 1000,
    crashes: crashLoop.crashes,
    windowMs: crashLoop.windowS * 1000,
    programs: Object.fromEntries(programs),
    ...((!web.enabled || disk.stat(page) === undefined) && { web: false }),
  };
}
