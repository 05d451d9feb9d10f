// `holdfast drill`: the proof that people can run before they need it.
// N1. Exit 0 only where nothing was lost, doubled, left behind, or otherwise broken.
// N2. Its home is removed afterwards, unless it is wanted or says something about what went wrong.
// N3. Ctrl-C, a closed window and a request to end, at whatever moment and however often, end it all and leave nothing.
import { isFault } from "../../base/fault.ts";
import { ok } from "../../base/result.ts";
import { readWanted, writeWanted } from "../../log/wanted.ts";
import type { EndSignal } from "../../world/console.ts";
import { exitCodeOf } from "../ending.ts";
import { EXIT, type Exit, type HomeFlag } from "../outside.ts";
import { say, visible, visibleLine } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { Drill, type DrillPlan, type Progress } from "./drill.ts";
import { until } from "./going.ts";
import { killAll, processesOf } from "./processes.ts";
import { drillJson, drillText, killsText, killText } from "./report.ts";
import type { DrillFlags } from "./routes.ts";
import { makeSite, removeSite, type Site } from "./site.ts";

/** Two looks at all processes and a tree to remove: milliseconds, but seconds on a machine that is busy with something else. */
const SWEEP_MS = 60_000;

async function drill(reach: Reach, flags: DrillFlags): Promise<Exit> {
  const told = reach.console.told(); // N3: before there is anything to leave behind.
  const plan = { terminals: flags.terminals, seconds: flags.seconds, seed: flags.seed ?? seedOf(reach) };
  const site = makeSite(reach);
  const drill = new Drill(site, plan, progressOf(reach));
  if (reach.console.err.tty) await say(reach.console, `drill with seed ${plan.seed} in ${site.home}`);
  const through = runThrough(drill);
  through.catch(() => undefined); // The race tells; once it is broken off, what fails is what we killed.
  const signal = await Promise.race([through, told]);
  if (signal !== undefined) return brokenOff(reach, drill, { site, signal }); // N3
  const kept = flags.keep === true || !drill.findings.none ? site.home : undefined;
  if (kept === undefined) removeSite(site); // N2
  await print(reach, drill, plan, { kept, json: flags.json === true });
  return ok(drill.findings.none ? EXIT.ok : EXIT.failed); // N1
}

async function runThrough(drill: Drill): Promise<undefined> {
  try {
    await drill.run();
  } catch (error) {
    if (!isFault(error)) throw error;
    drill.findings.violate(`${error.message}. ${error.hint}`); // What was found so far is told all the same.
  } finally {
    await drill.end();
  }
}

function seedOf({ random }: Reach): number {
  return Math.floor(random.fraction() * 2 ** 32);
}

function progressOf({ console, clock }: Reach): Progress {
  const began = clock.elapsed();
  const tell = (text: string) => (console.err.tty ? console.err.write(visible(`${text}\n`)) : Promise.resolve());
  return {
    phase: (words) => tell(`[${((clock.elapsed() - began) / 1000).toFixed(1)} s] ${words}`),
    kill: (kill) => tell(killText(kill)),
  };
}

type Broken = { readonly site: Site; readonly signal: EndSignal };

/** N3. The exit code is what a shell says of a program that this signal has ended. */
async function brokenOff({ console, clock }: Reach, drill: Drill, { site, signal }: Broken): Promise<Exit> {
  drill.breakOff();
  const clean = await until(clock, SWEEP_MS, () => swept(site));
  if (clean === undefined) await say(console, `not everything could be ended or removed: see ${site.home}`);
  return ok(exitCodeOf({ code: null, signal }));
}

/** What was just being started may still appear, and write: so it is done again until it finds nothing. */
async function swept(site: Site): Promise<true | undefined> {
  try {
    return await sweepOnce(site, { ...site, home: `${site.home}.gone` });
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return undefined;
}

/** A holder is only seen once it has its claim. So the home is moved away first: whoever has none then can never make one. */
async function sweepOnce(site: Site, gone: Site): Promise<true | undefined> {
  const { disk } = site.reach;
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

async function print({ console }: Reach, drill: Drill, plan: DrillPlan, { kept, json }: How): Promise<void> {
  if (json) return console.out.write(visibleLine(JSON.stringify(drillJson(drill, plan, kept))).concat("\n"));
  const kills = console.out.tty && console.err.tty ? "" : killsText(drill);
  await console.out.write(visible(kills + drillText(drill, plan, kept)));
}

/** Commands may name a home; this one has its own. */
export const drillCommand = reaching<DrillFlags & HomeFlag, []>(drill);
