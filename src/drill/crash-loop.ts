// The crash loop, a separate phase: three crashes within a minute lead to safe mode, which leaves everything running
// alone
// and ends when the operator says so (SM-1 … SM-5).
// Z1. Before it Holdfast is stopped and started again: programs keep running, and the earlier random kills do not
//     count.
// Z2. In safe mode running terminals can be attached to and typed into.
import { readSafeMode } from "../home/safe-mode.ts";
import { ask } from "./ask.ts";
import type { Dice } from "./dice.ts";
import { goDown } from "./ending.ts";
import type { Findings } from "./findings.ts";
import { until } from "./going.ts";
import type { Kill, Kills } from "./kills.ts";
import type { Ledger } from "./ledger.ts";
import { configure, forgetCrashes, type Site, whoRuns } from "./site.ts";

const CRASH_LOOP = { crashes: 3, windowS: 60 };
/** SM-5. */
const SAFE_MODE_MS = 5_000;
const TRIED_TERMINALS = 3;
const ANSWER_MS = 5_000;

export type CrashLoopPorts = {
  readonly site: Site;
  readonly ledger: Ledger;
  readonly findings: Findings;
  readonly kills: Kills;
  readonly dice: Dice;
  told(kill: Kill): Promise<void>;
};

/** How long after the last kill safe mode was on; undefined if it never was. */
export async function crashLoop(ports: CrashLoopPorts): Promise<number | undefined> {
  const { site, findings, kills } = ports;
  if (!(await goDown(site, findings))) return undefined;
  forgetCrashes(site); // Z1
  await configure(site, CRASH_LOOP);
  if ((await kills.live()) === undefined) findings.violate("it did not start again after it had been stopped");
  for (let crash = 1; crash < CRASH_LOOP.crashes; crash += 1) await killDaemon(ports, true);
  if (readSafeMode(site.world.disk, site.home).active) findings.violate("safe mode before the third crash");
  const enteredMs = await enter(ports);
  if (enteredMs !== undefined) await tryTerminals(ports); // Z2
  if (enteredMs !== undefined) await leave(ports);
  return enteredMs;
}

async function killDaemon({ site, findings, kills, told }: CrashLoopPorts, wait: boolean): Promise<Kill | undefined> {
  const { daemon } = whoRuns(site);
  const kill = daemon === undefined ? undefined : kills.kill("daemon", [daemon]);
  if (kill === undefined) findings.violate("there was no daemon to kill");
  if (kill === undefined || !wait) return kill;
  await kills.back(kill);
  await told(kill);
  return kill;
}

/** The third kill: the file says so within five seconds, and so does the next daemon. */
async function enter(ports: CrashLoopPorts): Promise<number | undefined> {
  const { site, findings, kills, told } = ports;
  const kill = await killDaemon(ports, false);
  if (kill === undefined) return undefined;
  const entered = await until(site.world.clock, SAFE_MODE_MS, () => {
    return readSafeMode(site.world.disk, site.home).active ? kills.elapsedMs - kill.atMs : undefined;
  });
  if (entered === undefined) findings.violate(`no safe mode ${SAFE_MODE_MS / 1000} s after the third crash`);
  const status = await kills.live(kill.pids);
  if (status !== undefined) kill.backMs = kills.elapsedMs - kill.atMs;
  await told(kill);
  const says = status?.safeMode.active === true && status.safeMode.reason !== null;
  if (entered !== undefined && !says) findings.violate("the status does not say that safe mode is on, and why");
  return entered;
}

async function tryTerminals({ site, ledger, findings, dice }: CrashLoopPorts): Promise<void> {
  for (let tried = 1; tried <= TRIED_TERMINALS; tried += 1) {
    const entry = dice.pick(ledger.running);
    if (entry === undefined) continue;
    const words = `safe-${tried}`;
    entry.attached.attachAnew();
    entry.attached.type(words);
    const echoed = await until(site.world.clock, ANSWER_MS, () => entry.attached.copy.echoes.get(words));
    if (echoed === undefined) findings.violate(`${entry.name} does not answer in safe mode`);
  }
}

async function leave({ site, findings }: CrashLoopPorts): Promise<void> {
  const left = await ask(site, "safe-mode.exit", {});
  if (left.kind !== "done" || left.value.active) findings.violate("safe mode was not left at the operator's request");
  const status = await ask(site, "status", {});
  const over = status.kind === "done" && !status.value.safeMode.active;
  if (!over || readSafeMode(site.world.disk, site.home).active) findings.violate("safe mode is on after it was left");
}
