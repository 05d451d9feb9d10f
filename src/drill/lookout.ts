// Checks all the time that there is one daemon and one watchdog, never two.
// L1. Every process that was ever named by a lock is remembered; two of them alive at once are two owners of one lock.
import type { ProcessIdentity } from "../world/process.ts";
import type { Findings } from "./findings.ts";
import type { Going } from "./going.ts";
import { type Running, type Site, whoRuns } from "./site.ts";

const LOOK_EVERY_MS = 20;

export class Lookout {
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #seen = { watchdog: new Map<string, ProcessIdentity>(), daemon: new Map<string, ProcessIdentity>() };

  constructor(site: Site, findings: Findings) {
    this.#site = site;
    this.#findings = findings;
  }

  keepLooking(going: Going): Promise<void> {
    return going.repeat(
      () => this.look(),
      () => LOOK_EVERY_MS,
    );
  }

  look(): Running {
    const running = whoRuns(this.#site);
    for (const name of ["watchdog", "daemon"] as const) this.#note(name, running[name]);
    return running;
  }

  #note(name: "watchdog" | "daemon", who: ProcessIdentity | undefined): void {
    const seen = this.#seen[name];
    if (who !== undefined) seen.set(`${who.pid} ${who.startTime}`, who);
    for (const [key, other] of seen) if (!this.#site.world.processes.alive(other)) seen.delete(key);
    if (seen.size < 2) return; // L1
    this.#findings.violate(`two ${name}s at once: ${[...seen.values()].map(({ pid }) => pid).join(" and ")}`);
  }
}
