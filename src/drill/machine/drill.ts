// The machine drill: terminals with real programs and three machine crashes: at rest and in the middle of a checkpoint,
// in
// random order, and in the middle of the restoration that follows. After each, the state is compared with the one
// before.
// MD1. However it continues or is aborted, it ends everything it started (like the other drill: D1).
// MD2. A crash hits everything at once: watchdog, daemon, screen program, web host, holders and programs.
// MD3. Three crashes: a terminal that is lost a fourth time within a minute is left to a person
//      (core/terminal/restore.ts).

import { joinPath } from "../../base/path.ts";
import { readClaim, terminalFiles } from "../../home/held/holder-files.ts";
import { RECOVERY } from "../../home/layout.ts";
import { removeTree } from "../../log/file/file.ts";
import { pause } from "../../world/wait.ts";
import { ask } from "../ask.ts";
import { Dice } from "../dice.ts";
import { endEverything } from "../ending.ts";
import { Findings } from "../findings.ts";
import { until } from "../going.ts";
import { Kills } from "../kills.ts";
import { configure, type Site } from "../site.ts";
import { MachineAgents } from "./agents.ts";
import { type Killed, Machine } from "./boots.ts";
import { check, runsOf, type Scene } from "./checks.ts";
import { listAll, type Opened, openAll } from "./opened.ts";
import { goesOn, MACHINE_CONFIG, planTerminals } from "./programs.ts";
import { MachineRuns } from "./runs.ts";
import type { ScreenEye } from "./screen-eye.ts";
import { type Shot, savedScreens, shoot } from "./screens.ts";

const NO_CRASH_LOOP = { crashes: 1_000_000, windowS: 60 };
/** A checkpoint is made a second after a change; drawing many screens for the first time takes another. */
const CHECKPOINT_MS = 15_000;
/** For the moment when some terminals are restored and others are not: enough for all of them on a busy machine. */
const RESTORING_MS = 20_000;
/** For hundreds of terminals on a busy machine. */
const BACK_MS = 60_000;
const AFTER_SIGHT_MS = [0, 12] as const;
const AFTER_CLAIM_MS = [0, 60] as const;

export type Moment = "at rest" | "in a checkpoint" | "in a restoration";

export type Crash = {
  readonly moment: Moment;
  readonly atMs: number;
  readonly killed: Killed;
  /** From the first command of the next boot until it is live, with every automatically restored terminal back. */
  backMs: number | undefined;
};

export type MachinePlan = { readonly terminals: number; readonly seed: number };

export type MachineProgress = {
  phase(words: string): Promise<void>;
  crash(crash: Crash): Promise<void>;
};

export class MachineDrill {
  readonly findings = new Findings();
  readonly crashes: Crash[] = [];
  readonly workflows: MachineRuns;
  readonly agents: MachineAgents;
  readonly #machine: Machine;
  readonly #site: Site;
  readonly #plan: MachinePlan;
  readonly #progress: MachineProgress;
  readonly #dice: Dice;
  readonly #eye: ScreenEye;
  readonly #kills: Kills;
  #opened: Opened[] = [];

  /** `site` is the drill's; `own` is the eye for processes outside the drill. */
  constructor(site: Site, own: ScreenEye, plan: MachinePlan, progress: MachineProgress) {
    this.#machine = new Machine(site);
    this.#site = this.#machine.site;
    this.#plan = plan;
    this.#progress = progress;
    this.#dice = new Dice(plan.seed);
    this.#eye = own;
    this.#kills = new Kills(this.#site, this.findings);
    this.workflows = new MachineRuns(this.#site, this.findings);
    this.agents = new MachineAgents(this.#site, this.findings);
  }

  get screens(): { readonly equal: number; readonly of: number } {
    return { equal: this.#opened.filter(({ equal }) => equal).length, of: this.#plan.terminals };
  }

  async run(): Promise<void> {
    await configure(this.#site, NO_CRASH_LOOP, MACHINE_CONFIG);
    if ((await this.#kills.live()) === undefined) return this.findings.violate("Holdfast did not start");
    await this.#progress.phase(`opening ${this.#plan.terminals} terminals`);
    const planned = await planTerminals(this.#site, this.#plan.terminals, this.#dice.another());
    this.#opened = await openAll(this.#site, planned, this.findings);
    const first: Moment = this.#dice.chance(0.5) ? "at rest" : "in a checkpoint";
    await this.#round(first);
    await this.#round(first === "at rest" ? "in a checkpoint" : "at rest", "in a restoration");
  }

  /** One crash, or two if the second comes before recovery from the first; then everything is compared. */
  async #round(...moments: readonly Moment[]): Promise<void> {
    await this.workflows.begin();
    await this.agents.begin();
    await this.#savedOnce();
    let shots: ReadonlyMap<string, Shot> = new Map();
    await this.#note();
    for (const moment of moments) shots = (await this.#crash(moment)) ?? shots;
    const began = this.#site.world.clock.elapsed();
    const live = await this.#kills.live([], BACK_MS);
    const crash = this.crashes.at(-1);
    if (live === undefined) return this.findings.violate("Holdfast did not start after the crash");
    if (crash !== undefined) crash.backMs = this.#site.world.clock.elapsed() - began;
    for (const each of this.crashes.slice(-moments.length)) await this.#progress.crash(each);
    await this.#progress.phase("comparing every terminal with what it was");
    const scene: Scene = { site: this.#site, eye: this.#eye, findings: this.findings, opened: this.#opened };
    await check(scene, shots);
    await this.workflows.check(moments.length);
    await this.agents.check();
    await this.#restoreThoseWhoAsk();
  }

  /** Records the current state for the comparison. */
  async #note(): Promise<void> {
    const listed = await listAll(this.#site);
    for (const one of this.#opened) {
      const now = listed.get(one.id);
      one.ran = now?.state.kind === "running";
      one.generation = now?.generation ?? one.generation;
      one.runs = runsOf(this.#site, one);
    }
  }

  /**
   * Waits until every running terminal has its screen in a checkpoint: a crash leaves a snapshot and the tape since.
   */
  async #savedOnce(): Promise<void> {
    await this.#stir();
    const running = [...(await listAll(this.#site)).values()].filter(({ state }) => state.kind === "running");
    const saved = await until(this.#site.world.clock, CHECKPOINT_MS, () => {
      const screens = savedScreens(this.#site);
      return running.every(({ id }) => screens.has(id)) || undefined;
    });
    if (saved === undefined) this.findings.violate("not every screen is in a checkpoint after a quarter of a minute");
  }

  /** Makes a change that leads to a checkpoint. */
  async #stir(): Promise<void> {
    const [one] = this.#opened;
    if (one === undefined) return;
    for (const lane of ["elsewhere", one.plan.lane]) await ask(this.#site, "terminal.move", { id: one.id, lane });
  }

  async #crash(moment: Moment): Promise<ReadonlyMap<string, Shot> | undefined> {
    await this.#progress.phase(`the machine goes down ${moment}`);
    if (moment === "in a checkpoint") await this.#checkpointBegins();
    if (moment === "in a restoration") await this.#restorationBegins();
    const atMs = this.#kills.elapsedMs;
    const killed = await this.#machine.crash(); // MD2
    if (killed === undefined) return void this.findings.violate("processes could not be killed");
    const shots = await shoot(
      this.#site,
      this.#eye,
      this.#opened.map(({ id }) => id),
    );
    this.crashes.push({ moment, atMs, killed, backMs: undefined });
    this.#machine.nextBoot();
    this.#removeDirectories();
    return shots;
  }

  /** A temporary file beside the checkpoint, or the checkpoint itself, is new. */
  async #checkpointBegins(): Promise<void> {
    const { clock, disk } = this.#site.world;
    const directory = joinPath(this.#site.home, RECOVERY);
    const look = () => {
      const names = disk.list(directory).filter((name) => name.startsWith("checkpoint"));
      return names.map((name) => `${name} ${disk.stat(joinPath(directory, name))?.modifiedMs}`).join();
    };
    await this.#stir();
    const before = look();
    const seen = await until(clock, CHECKPOINT_MS, () => look() !== before || undefined);
    if (seen === undefined) this.findings.violate("a change was not saved");
    await pause(clock, this.#dice.between(...AFTER_SIGHT_MS));
  }

  /** Some terminals have been restarted, and the others have not. */
  async #restorationBegins(): Promise<void> {
    const { clock, disk } = this.#site.world;
    const mine = this.#opened.filter(({ plan }) => plan.policy === "auto");
    const few = this.#dice.between(1, Math.max(1, mine.length - 1));
    const claimed = () =>
      mine.filter(
        ({ id, generation }) => (readClaim(terminalFiles(disk, this.#site.home, id))?.generation ?? 0) > generation,
      );
    await this.#kills.appeared([]); // As after the first command of a boot.
    await until(clock, RESTORING_MS, () => claimed().length >= few || undefined);
    await pause(clock, this.#dice.between(...AFTER_CLAIM_MS));
  }

  /** Removes directories while the machine is down. */
  #removeDirectories(): void {
    const { disk } = this.#site.world;
    const gone = this.#opened.filter(({ plan }) => plan.kind === "gone" && disk.stat(plan.cwd) !== undefined);
    for (const { plan } of gone) removeTree(disk, plan.cwd);
  }

  /**
   * Waits until what it starts is running before anything is compared again, including what its shell was given to run.
   */
  async #restoreThoseWhoAsk(): Promise<void> {
    const { clock } = this.#site.world;
    const asking = this.#opened.filter(({ plan }) => plan.policy === "ask");
    const before = new Map(asking.map((one) => [one, runsOf(this.#site, one)]));
    for (const { id, plan } of asking) {
      const done = await ask(this.#site, "terminal.restore", { id, way: "plan" });
      if (done.kind !== "done") this.findings.violate(`${plan.name} was not restored, though it was requested`);
    }
    let missing: readonly Opened[] = asking;
    await until(clock, CHECKPOINT_MS, async () => {
      const listed = await listAll(this.#site);
      const ran = (one: Opened) => runsOf(this.#site, one) >= (before.get(one) ?? 0) + (goesOn(one.plan) ? 1 : 0);
      missing = asking.filter((one) => listed.get(one.id)?.state.kind !== "running" || !ran(one));
      return missing.length === 0 || undefined;
    });
    for (const { plan } of missing) this.findings.violate(`${plan.name} is not running, though it was restored`);
  }

  /** MD1 */
  async end(): Promise<void> {
    await this.#progress.phase("ending everything");
    await endEverything(this.#site, this.findings);
    this.#eye.close();
  }

  /** MD1: aborts it. The caller ends what is still running. */
  breakOff(): void {
    this.#site.stopClock();
    this.#kills.helpNoMore();
    this.#eye.close();
  }
}
