// Kills processes, and measures how long it takes until they are back.
// K1. Time to live is measured from the SIGKILL until the status of another daemon says LIVE.
// K2. A daemon heals a watchdog and a watchdog a daemon, without help. Only if both are gone does the next command
//     start them: here that is us.

import { startWatchdog } from "../home/start-watchdog.ts";
import type { StatusResult } from "../wire/rpc/rpc.ts";
import type { ProcessIdentity } from "../world/process.ts";
import { StatusEye } from "./ask.ts";
import type { Findings } from "./findings.ts";
import { until } from "./going.ts";
import { type Site, whoRuns } from "./site.ts";

export type Target = "daemon" | "watchdog" | "both" | "web" | "holder" | "agent" | "agent holder";

export type Kill = {
  readonly what: Target;
  readonly pids: readonly number[];
  /** Since the start of the drill. */
  readonly atMs: number;
  /** The daemon was not yet live again after the previous kill. */
  readonly recovering: boolean;
  /**
   * Until a new one was there; for the daemon: live (K1). Undefined if it was killed again before, or was not waited
   * for.
   */
  backMs: number | undefined;
};

export function isOfDaemon(what: Target): boolean {
  return what === "daemon" || what === "both";
}

/** The daemon restarts an agent's process after a pause; the results are checked at the end. */
export function isOfAgent(what: Target): what is "agent" | "agent holder" {
  return what === "agent" || what === "agent holder";
}

/** Ten times what it may take on a busy machine. */
const BACK_MS = 15_000;
/** K2: a watchdog has its lock within this time. */
const BETWEEN_STARTS_MS = 1_000;

export class Kills {
  readonly all: Kill[] = [];
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #began: number;
  #started = Number.NEGATIVE_INFINITY;
  #helps = true;
  #live = false;

  constructor(site: Site, findings: Findings) {
    this.#site = site;
    this.#findings = findings;
    this.#began = site.world.clock.elapsed();
  }

  get elapsedMs(): number {
    return this.#site.world.clock.elapsed() - this.#began;
  }

  /** Returns undefined if none of them existed. */
  kill(what: Target, targets: readonly ProcessIdentity[]): Kill | undefined {
    const { processes } = this.#site.world;
    const atMs = this.elapsedMs;
    const recovering = !this.#live;
    const hit = targets.filter((who) => processes.kill(who, "SIGKILL"));
    if (hit.length === 0) return undefined;
    this.#started = Number.NEGATIVE_INFINITY; // What we started has come up, or was just killed.
    const kill: Kill = { what, pids: hit.map(({ pid }) => pid), atMs, recovering, backMs: undefined };
    this.all.push(kill);
    if (isOfDaemon(what)) this.#live = false;
    return kill;
  }

  /** Waits until a new one is there and records how long that took; reports a violation if it does not come back. */
  async back(kill: Kill): Promise<boolean> {
    const found = await (isOfDaemon(kill.what)
      ? this.live(kill.pids)
      : until(this.#site.world.clock, BACK_MS, () => this.#replaced(kill)));
    if (found === undefined) this.#findings.violate(`${kill.what} ${kill.pids.join(" and ")} did not come back`);
    else kill.backMs = this.elapsedMs - kill.atMs;
    return found !== undefined;
  }

  async #replaced({ what, pids }: Kill): Promise<true | undefined> {
    if (what === "holder" || isOfAgent(what)) return true;
    await this.#helpIfNobody();
    const now = what === "web" ? whoRuns(this.#site).web : whoRuns(this.#site).watchdog;
    return now !== undefined && !pids.includes(now.pid) ? true : undefined;
  }

  /** The status of a live daemon that is not one of these. */
  async live(others: readonly number[] = [], mostMs = BACK_MS): Promise<StatusResult | undefined> {
    const eye = new StatusEye(this.#site);
    const look = async (): Promise<StatusResult | undefined> => {
      const status = await eye.look();
      if (status === undefined) await this.#helpIfNobody();
      return status?.recovery.stage === "LIVE" && !others.includes(status.daemon.pid) ? status : undefined;
    };
    const found = await until(this.#site.world.clock, mostMs, look);
    eye.close();
    this.#live = found !== undefined;
    return found;
  }

  /** Waits until another daemon has the lock: it has started to recover. */
  appeared(others: readonly number[]): Promise<ProcessIdentity | undefined> {
    return until(this.#site.world.clock, BACK_MS, async () => {
      await this.#helpIfNobody();
      const { daemon } = whoRuns(this.#site);
      return daemon === undefined || others.includes(daemon.pid) ? undefined : daemon;
    });
  }

  /** From now on nothing is started any more. */
  helpNoMore(): void {
    this.#helps = false;
  }

  /** K2 */
  async #helpIfNobody(): Promise<void> {
    if (!this.#helps) return;
    const { world, home } = this.#site;
    const { watchdog, daemon } = whoRuns(this.#site);
    const soon = world.clock.elapsed() - this.#started < BETWEEN_STARTS_MS;
    if (watchdog !== undefined || daemon !== undefined || soon) return;
    this.#started = world.clock.elapsed();
    const trouble = await startWatchdog(world, home);
    if (trouble !== undefined) this.#findings.violate(`cannot be started: ${trouble.message}`);
  }
}
