// The drill itself: opens terminals, lets the actors work while the killer kills, then the crash loop, then the
// verdict.
// D1. However it continues or is aborted, it ends everything it started.
// D2. Every actor has its own dice, all from one seed.
import { readSafeMode } from "../home/safe-mode.ts";
import { pause } from "../world/wait.ts";
import { Agents } from "./agents.ts";
import { crashLoop } from "./crash-loop.ts";
import { Dice } from "./dice.ts";
import { endEverything } from "./ending.ts";
import { Findings } from "./findings.ts";
import { Going } from "./going.ts";
import { Killer } from "./killer.ts";
import { type Kill, Kills } from "./kills.ts";
import { Ledger } from "./ledger.ts";
import { Lookout } from "./lookout.ts";
import { Operator } from "./operator.ts";
import { configure, type Site } from "./site.ts";
import { typeAtRandom } from "./typist.ts";
import { Verifier } from "./verify.ts";
import { Workflows } from "./workflows.ts";

/** The random kills must not count as a crash loop; that has its own phase. */
const NO_CRASH_LOOP = { crashes: 1_000_000, windowS: 60 };

/** In all terminals together: each pause is a process, and the programs' load disturbs the measurements. */
const TICKS_A_SECOND = 60;

/** With these the killer can start: their holders may be killed. */
const VISITORS = 3;

export type DrillPlan = { readonly terminals: number; readonly seconds: number; readonly seed: number };

export type Progress = {
  phase(words: string): Promise<void>;
  kill(kill: Kill): Promise<void>;
};

export class Drill {
  readonly findings = new Findings();
  readonly ledger = new Ledger();
  readonly kills: Kills;
  readonly workflows: Workflows;
  readonly agents: Agents;
  /** How long after the third crash safe mode was on. */
  safeModeMs: number | undefined;
  readonly #site: Site;
  readonly #plan: DrillPlan;
  readonly #progress: Progress;
  readonly #going: Going;
  readonly #operator: Operator;
  readonly #dice: Dice;

  constructor(site: Site, plan: DrillPlan, progress: Progress) {
    this.#site = site;
    this.#plan = plan;
    this.#progress = progress;
    this.#going = new Going(site.world.clock);
    this.#dice = new Dice(plan.seed);
    this.kills = new Kills(site, this.findings);
    this.workflows = new Workflows(site, this.findings);
    this.agents = new Agents(site, this.findings, this.#dice.another());
    const habits = { dice: this.#dice.another(), tickS: Math.max(0.4, plan.terminals / TICKS_A_SECOND) }; // D2
    this.#operator = new Operator(site, this.ledger, this.findings, habits);
  }

  async run(): Promise<void> {
    await configure(this.#site, NO_CRASH_LOOP);
    if ((await this.kills.live()) === undefined) return this.findings.violate("Holdfast did not start");
    await this.#open();
    const lookout = new Lookout(this.#site, this.findings).keepLooking(this.#going);
    const runs = this.workflows.work(this.#going);
    const agents = this.agents.work(this.#going);
    const others = Promise.all([lookout, runs, agents, typeAtRandom(this.ledger, this.#dice.another(), this.#going)]);
    others.catch(() => undefined); // The error is reported where it is awaited.
    await this.#killAtRandom();
    await this.#crashLoop();
    this.#going.stop();
    await others;
    await this.#progress.phase("comparing the state with what was acknowledged");
    await this.workflows.verify();
    await this.agents.verify();
    await new Verifier(this.#site, this.ledger, this.findings).verify();
  }

  /** Nothing is killed yet: each terminal must open. */
  async #open(): Promise<void> {
    const { terminals } = this.#plan;
    await this.#progress.phase(`opening ${terminals} terminals`);
    for (let opened = 0; opened < terminals + VISITORS; opened += 1) {
      const entry = await this.#operator.open(opened < terminals);
      if (entry === undefined) this.findings.violate("a terminal was not opened, although the daemon was live");
    }
  }

  async #killAtRandom(): Promise<void> {
    const { clock, disk } = this.#site.world;
    await this.#progress.phase(`killing at random for ${this.#plan.seconds} s`);
    const going = new Going(clock);
    const operator = this.#operator.work(going);
    const killer = new Killer(this.#site, this.ledger, this.kills, this.#dice.another());
    const killing = killer.work(going, this.#progress.kill);
    // Neither ends before it is asked to: if one does before the time is over, something went wrong.
    await Promise.race([pause(clock, this.#plan.seconds * 1000), Promise.all([operator, killing])]);
    going.stop();
    await killing;
    if ((await this.kills.live()) === undefined) this.findings.violate("no daemon is live after the kills");
    await operator; // It may be waiting for a daemon.
    if (readSafeMode(disk, this.#site.home).active)
      this.findings.violate("safe mode, although the threshold was raised");
  }

  async #crashLoop(): Promise<void> {
    await this.#progress.phase("down, up again, and three crashes in a row");
    const { findings, ledger, kills } = this;
    const told = this.#progress.kill;
    this.safeModeMs = await crashLoop({ site: this.#site, ledger, findings, kills, dice: this.#dice.another(), told });
  }

  /** D1 */
  async end(): Promise<void> {
    this.#going.stop();
    await this.#progress.phase("ending everything");
    await endEverything(this.#site, this.findings);
    this.#leaveAll();
  }

  /** D1: aborts it. No actor does anything any more; the caller ends what is still running. */
  breakOff(): void {
    this.#site.stopClock();
    this.#going.stop();
    this.kills.helpNoMore();
    this.#leaveAll();
  }

  #leaveAll(): void {
    for (const { attached } of this.ledger.entries) attached.leave();
  }
}
