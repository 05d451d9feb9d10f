// Has the installed version run on a home, and decides whether it stays: the second half of an upgrade. It can begin
// anew at any point, in any version (UP3 of home/upgrade.ts).
// SE1. Every program of the home that is not of the installed version is ended in the order watchdog, daemon, page; the
//      next one is of the installed version. Holders and their programs are not touched.
// SE2. The new version stays if its daemon is live in time, without safe mode, and its page is there if there was one.
//      If not, the version before gets its name back, and runs again.
// SE3. On a home that is down nothing is started. Its next start decides.
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { retriedStage } from "../../core/recovery.ts";
import { dial, HELLO_MS } from "../../home/dial.ts";
import { STANDBY_LOCK } from "../../home/layout.ts";
import { holderOf, runningOn } from "../../home/running.ts";
import { readSafeMode, SafeMode } from "../../home/safe-mode.ts";
import {
  endUpgrade,
  fileAt,
  keepPrevious,
  reinstate,
  removeLeftOvers,
  type UpgradeRecord,
} from "../../home/upgrade.ts";
import { wantedOn } from "../../home/wanted.ts";
import type { ProcessIdentity } from "../../world/process.ts";
import { pause, within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { startHere } from "../start.ts";

const LOOK_MS = 50;
const BETWEEN_STARTS_MS = 1_000;
/** Others start a watchdog within a second or two. */
const HELPED_MS = 3_000;
/** SE1. The daemon ends within milliseconds; whatever happens to it, nothing is lost. */
const KILL_AFTER_MS = 10_000;
/** The version before has run here: if it does not now, the upgrade is not the reason. */
const BACK_MS = 60_000;

export async function settle(world: DaemonCommandWorld, home: string, record: UpgradeRecord): Promise<Result<void>> {
  const { disk } = world;
  const isInstalled = fileAt(disk, record.path) === record.to.file;
  if (wantedOn(disk, home) !== "up") return isInstalled ? ok(undefined) : dropped(world, home, record); // SE3
  if (!isInstalled) return returned(world, home, record);
  const trouble = await new Trial(world, home, record).run(record.limitMs, !record.safeMode);
  if (trouble === undefined) {
    await keepPrevious(disk, record.path);
    await endUpgrade(disk, home);
    return ok(undefined);
  }
  await reinstate(disk, record);
  const back = await returned(world, home, record);
  const message = `Version ${record.to.version} was installed and taken back: ${trouble}`;
  const hint = `Version ${record.from.version} runs again; nothing is lost. \`holdfast logs\` has what happened.`;
  return back.ok ? refused("upgrade-failed", message, hint) : back;
}

/** The version before has its name: it runs again, and no file is left over. */
async function returned(world: DaemonCommandWorld, home: string, record: UpgradeRecord): Promise<Result<void>> {
  const { disk, clock } = world;
  const trouble = await new Trial(world, home, record).run(BACK_MS, false);
  if (!record.safeMode) await new SafeMode({ disk, clock, home }, () => undefined).exit(); // The other one's doing.
  await dropped(world, home, record);
  if (trouble === undefined) return ok(undefined);
  const message = `Version ${record.from.version} is installed again, but does not run: ${trouble}`;
  return refused("upgrade-failed", message, "See: holdfast logs; holdfast doctor");
}

async function dropped({ disk }: DaemonCommandWorld, home: string, { path }: UpgradeRecord): Promise<Result<void>> {
  await removeLeftOvers(disk, path);
  await endUpgrade(disk, home);
  return ok(undefined);
}

class Trial {
  readonly #world: DaemonCommandWorld;
  readonly #home: string;
  readonly #record: UpgradeRecord;
  readonly #file: string | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #missedAt: number | undefined;
  #ending: { readonly pid: number; readonly since: number } | undefined;

  constructor(world: DaemonCommandWorld, home: string, record: UpgradeRecord) {
    this.#world = world;
    this.#home = home;
    this.#record = record;
    this.#file = fileAt(world.disk, record.path);
  }

  /** Returns what is wrong; undefined once the installed version runs (SE2). `mindsSafeMode`: it was not on before. */
  async run(limitMs: number, mindsSafeMode: boolean): Promise<string | undefined> {
    const { clock, disk } = this.#world;
    const until = clock.elapsed() + limitMs;
    for (;;) {
      const mode = readSafeMode(disk, this.#home);
      if (mode.active && mindsSafeMode) return `safe mode, because ${mode.reason}.`;
      const trouble = await this.#step();
      if (trouble !== "not yet") return trouble === "done" ? undefined : trouble;
      if (clock.elapsed() >= until) return `it was not live after ${Math.round(limitMs / 1000)} s.`;
      await pause(clock, LOOK_MS);
    }
  }

  async #step(): Promise<string> {
    const { watchdog, daemon, web } = runningOn(this.#world, this.#home);
    if (watchdog === undefined) return this.#start(daemon === undefined);
    this.#missedAt = undefined;
    const standby = holderOf(this.#world, joinPath(this.#home, STANDBY_LOCK));
    const other = [watchdog, daemon, web, standby].find((who) => who !== undefined && !this.#isInstalled(who));
    if (other !== undefined) return this.#end(other);
    return daemon === undefined || (this.#record.page && web === undefined) ? "not yet" : this.#isLive();
  }

  #isInstalled({ pid }: ProcessIdentity): boolean {
    return fileAt(this.#world.disk, `/proc/${pid}/exe`) === this.#file;
  }

  /** A daemon starts its next watchdog, and so does a service manager: with the environment that they have. */
  async #start(isAlone: boolean): Promise<string> {
    const { clock } = this.#world;
    const now = clock.elapsed();
    this.#missedAt ??= now;
    const isHelped = !isAlone && now - this.#missedAt < HELPED_MS;
    if (isHelped || now - this.#startedAt < BETWEEN_STARTS_MS) return "not yet";
    this.#startedAt = now;
    const trouble = await startHere(this.#world, this.#home);
    return trouble === undefined ? "not yet" : trouble.message;
  }

  /** SE1 */
  #end(who: ProcessIdentity): string {
    const { clock, processes } = this.#world;
    if (this.#ending?.pid !== who.pid) {
      this.#ending = { pid: who.pid, since: clock.elapsed() };
      processes.kill(who, "SIGTERM");
    } else if (clock.elapsed() - this.#ending.since > KILL_AFTER_MS && !processes.waitsForDisk(who.pid)) {
      processes.kill(who, "SIGKILL");
    }
    return "not yet";
  }

  async #isLive(): Promise<string> {
    const line = await dial(this.#world, this.#home);
    if (!line.ok) return line.error.message;
    const status = line.value && (await within(this.#world.clock, HELLO_MS, line.value.call("status", {})));
    line.value?.close();
    if (status?.ok !== true) return "not yet";
    const { stage } = status.value.recovery;
    if (stage !== "CRASHED" && retriedStage(stage) !== undefined) return `its recovery stopped (${stage}).`;
    return stage === "LIVE" ? "done" : "not yet";
  }
}
