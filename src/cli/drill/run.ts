// `holdfast drill`: the proof that people can run before they need it.
// N1. Exit 0 only where nothing was lost, doubled, left behind, or otherwise broken.
// N2. Its home is removed afterwards, unless it is wanted or says something about what went wrong. Ctrl-C ends it all, and leaves nothing.
import { isFault } from "../../base/fault.ts";
import { ok } from "../../base/result.ts";
import { writeWanted } from "../../log/wanted.ts";
import { EXIT, type Exit, type HomeFlag } from "../outside.ts";
import { say, visible, visibleLine } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { Drill, type DrillPlan, type Progress } from "./drill.ts";
import { until } from "./going.ts";
import { killAll, processesOf } from "./processes.ts";
import { drillJson, drillText, killsText, killText } from "./report.ts";
import type { DrillFlags } from "./routes.ts";
import { makeSite, removeSite, type Site } from "./site.ts";

/** What a shell says of a program that Ctrl-C has ended. */
const INTERRUPTED = 130;
const GONE_MS = 5_000;

async function drill(reach: Reach, flags: DrillFlags): Promise<Exit> {
  const plan = { terminals: flags.terminals, seconds: flags.seconds, seed: flags.seed ?? seedOf(reach) };
  const site = makeSite(reach);
  const drill = new Drill(site, plan, progressOf(reach));
  if (reach.console.err.tty) await say(reach.console, `drill with seed ${plan.seed} in ${site.home}`);
  const interrupted = reach.console.interrupted().then(() => true);
  const through = runThrough(drill);
  through.catch(() => undefined); // The race tells; once it is broken off, what fails is what we killed.
  if (await Promise.race([through, interrupted])) return brokenOff(drill, site); // N2
  const kept = flags.keep === true || !drill.findings.none ? site.home : undefined;
  if (kept === undefined) removeSite(site); // N2
  await print(reach, drill, plan, { kept, json: flags.json === true });
  return ok(drill.findings.none ? EXIT.ok : EXIT.failed); // N1
}

/** False: nobody broke it off. */
async function runThrough(drill: Drill): Promise<boolean> {
  try {
    await drill.run();
  } catch (error) {
    if (!isFault(error)) throw error;
    drill.findings.violate(`${error.message}. ${error.hint}`); // What was found so far is told all the same.
  } finally {
    await drill.end();
  }
  return false;
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

/** What was just being started may still appear: it is looked for until nobody is there. */
async function brokenOff(drill: Drill, site: Site): Promise<Exit> {
  await writeWanted(site.reach.disk, site.home, "down");
  drill.breakOff();
  await until(site.reach.clock, GONE_MS, () => {
    killAll(site);
    return processesOf(site).length === 0 ? true : undefined;
  });
  removeSite(site);
  return ok(INTERRUPTED);
}

type How = { readonly kept: string | undefined; readonly json: boolean };

async function print({ console }: Reach, drill: Drill, plan: DrillPlan, { kept, json }: How): Promise<void> {
  if (json) return console.out.write(visibleLine(JSON.stringify(drillJson(drill, plan, kept))).concat("\n"));
  const kills = console.out.tty && console.err.tty ? "" : killsText(drill);
  await console.out.write(visible(kills + drillText(drill, plan, kept)));
}

/** Commands may name a home; this one has its own. */
export const drillCommand = reaching<DrillFlags & HomeFlag, []>(drill);
