// `holdfast drill`: the proof that people can run before they need it.
// N1. Exit 0 only if nothing was lost, doubled, left behind, or otherwise broken.
// N2. Its home is removed afterwards, unless it should be kept or shows what went wrong.
// N3. Ctrl-C, a closed window and SIGTERM, at any moment and any number of times, end everything and leave nothing.

import { exitCodeOf } from "../base/exit-code.ts";
import { isFault } from "../base/fault.ts";
import { visible, visibleLine } from "../base/visible.ts";
import { readWanted, writeWanted } from "../home/wanted.ts";
import type { DrillFlags } from "../wire/drill.ts";
import type { EndSignal } from "../world/console.ts";
import { Drill, type DrillPlan } from "./drill.ts";
import type { Findings } from "./findings.ts";
import { until } from "./going.ts";
import { type Crash, MachineDrill, type MachinePlan } from "./machine/drill.ts";
import { crashesText, crashText, machineJson, machineText } from "./machine/report.ts";
import { ScreenEye } from "./machine/screen-eye.ts";
import { killAll, processesOf } from "./processes.ts";
import { drillJson, drillText, killsText, killText } from "./report.ts";
import { type DrillWorld, makeSite, removeSite, type Site } from "./site.ts";

/** Two looks at all processes and a tree to remove: milliseconds, but seconds on a busy machine. */
const SWEEP_MS = 60_000;

/** Returns the exit code. */
export async function drill(world: DrillWorld, flags: DrillFlags): Promise<number> {
  const told = world.console.told(); // N3: before anything is started.
  const plan = { terminals: flags.terminals, seconds: flags.seconds, seed: flags.seed ?? seedOf(world) };
  const site = makeSite(world);
  const drill = flags.machine === true ? machineDrill(world, site, plan) : randomDrill(world, site, plan);
  if (world.console.err.tty) await say(world, `drill with seed ${plan.seed} in ${site.home}`);
  const through = runThrough(drill);
  through.catch(() => undefined); // The race reports it; after an abort, errors come from our kills.
  const signal = await Promise.race([through, told]);
  if (signal !== undefined) return brokenOff(world, drill, { site, signal }); // N3
  const kept = flags.keep === true || !drill.findings.none ? site.home : undefined;
  if (kept === undefined) removeSite(site); // N2
  await print(world, drill, { kept, json: flags.json === true });
  return drill.findings.none ? 0 : 1; // N1
}

/** The interface of both kinds of drill. */
type Runnable = {
  readonly findings: Findings;
  run(): Promise<void>;
  end(): Promise<void>;
  breakOff(): void;
  json(home: string | undefined): object;
  /** What happened, one line each; then the totals. */
  kills(): string;
  text(home: string | undefined): string;
};

function randomDrill(world: DrillWorld, site: Site, plan: DrillPlan): Runnable {
  const { phase, tell } = progressOf(world);
  const drill = new Drill(site, plan, { phase, kill: (kill) => tell(killText(kill)) });
  return {
    ...doings(drill),
    json: (home) => drillJson(drill, plan, home),
    kills: () => killsText(drill),
    text: (home) => drillText(drill, plan, home),
  };
}

function machineDrill(world: DrillWorld, site: Site, plan: MachinePlan): Runnable {
  const { phase, tell } = progressOf(world);
  const progress = { phase, crash: (crash: Crash) => tell(crashText(crash)) };
  const drill = new MachineDrill(site, new ScreenEye(world.self), plan, progress);
  return {
    ...doings(drill),
    json: (home) => machineJson(drill, plan, home),
    kills: () => crashesText(drill),
    text: (home) => machineText(drill, plan, home),
  };
}

function doings(drill: Pick<Runnable, "findings" | "run" | "end" | "breakOff">) {
  return {
    findings: drill.findings,
    run: () => drill.run(),
    end: () => drill.end(),
    breakOff: () => drill.breakOff(),
  };
}

async function runThrough(drill: Runnable): Promise<undefined> {
  try {
    await drill.run();
  } catch (error) {
    if (!isFault(error)) throw error;
    drill.findings.violate(`${error.message}. ${error.hint}`); // The earlier findings are still reported.
  } finally {
    await drill.end();
  }
}

async function say({ console }: Pick<DrillWorld, "console">, text: string): Promise<void> {
  await console.err.write(visible(`holdfast: ${text}\n`));
}

function seedOf({ random }: DrillWorld): number {
  return Math.floor(random.fraction() * 2 ** 32);
}

function progressOf({ console, clock }: DrillWorld) {
  const began = clock.elapsed();
  const tell = (text: string) => (console.err.tty ? console.err.write(visible(`${text}\n`)) : Promise.resolve());
  return {
    phase: (words: string) => tell(`[${((clock.elapsed() - began) / 1000).toFixed(1)} s] ${words}`),
    tell,
  };
}

type Broken = { readonly site: Site; readonly signal: EndSignal };

/** N3. The exit code is that of a program ended by this signal. */
async function brokenOff({ console, clock }: DrillWorld, drill: Runnable, { site, signal }: Broken): Promise<number> {
  drill.breakOff();
  const clean = await until(clock, SWEEP_MS, () => swept(site));
  if (clean === undefined) await say({ console }, `not everything could be ended or removed: see ${site.home}`);
  return exitCodeOf({ code: null, signal });
}

/** A process that was just being started may still appear and write, so this is repeated until nothing is found. */
async function swept(site: Site): Promise<true | undefined> {
  try {
    return await sweepOnce(site, { ...site, home: `${site.home}.gone` });
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return undefined;
}

/**
 * A process that is just being executed is not seen. So the home is moved first: a holder without a claim cannot make
 * one.
 */
async function sweepOnce(site: Site, gone: Site): Promise<true | undefined> {
  const { disk } = site.world;
  const there = disk.stat(site.home) !== undefined;
  const moved = disk.stat(gone.home) !== undefined;
  for (const one of [site, gone]) killAll(one);
  if (processesOf(site).length + processesOf(gone).length > 0) {
    const heal = there && readWanted(disk, site.home) !== "down"; // They heal each other.
    if (heal) await writeWanted(disk, site.home, "down");
    return undefined;
  }
  if (there && !moved) disk.rename(site.home, gone.home);
  else if (there) removeSite(site);
  else if (moved) removeSite(gone);
  return there ? undefined : true;
}

type How = { readonly kept: string | undefined; readonly json: boolean };

async function print({ console }: DrillWorld, drill: Runnable, { kept, json }: How): Promise<void> {
  if (json) return console.out.write(visibleLine(JSON.stringify(drill.json(kept))).concat("\n"));
  const kills = console.out.tty && console.err.tty ? "" : drill.kills();
  await console.out.write(visible(kills + drill.text(kept)));
}
