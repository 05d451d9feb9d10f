// Stops Holdfast in its drill; its terminals keep running, or are ended first.
// E1. `down` is durable before any process is asked to stop, and no process of Holdfast is running when it is done.
// E2. At the very end no process of the drill is left: not a holder, not a program, not one of ours.
import { writeWanted } from "../home/wanted.ts";
import { endAgents } from "./agents.ts";
import { ask } from "./ask.ts";
import type { Findings } from "./findings.ts";
import { cancelRuns } from "./flows.ts";
import { until } from "./going.ts";
import { killAll, processesOf } from "./processes.ts";
import { type Site, whoRuns } from "./site.ts";

/** A clean end finishes what was started; the watchdog uses force after ten seconds. */
const DOWN_MS = 15_000;
const END_MS = 15_000;

/** Returns whether it is down. The programs keep running. */
export async function goDown(site: Site, findings: Findings): Promise<boolean> {
  const { disk, clock, processes } = site.world;
  await writeWanted(disk, site.home, "down"); // E1
  const before = whoRuns(site);
  for (const who of [before.watchdog ?? before.daemon]) if (who !== undefined) processes.kill(who, "SIGTERM");
  const down = await until(clock, DOWN_MS, () => (Object.values(whoRuns(site)).some(isThere) ? undefined : true));
  if (down === undefined) findings.violate(`it is not down after ${DOWN_MS / 1000} s`);
  return down === true;
}

function isThere(who: unknown): boolean {
  return who !== undefined;
}

/** Ends every terminal through the daemon, then Holdfast itself (E2). */
export async function endEverything(site: Site, findings: Findings): Promise<void> {
  const { clock } = site.world;
  await cancelRuns(site);
  await endAgents(site);
  const ended = await until(clock, END_MS, async () => ((await endTerminals(site)) === 0 ? true : undefined));
  if (ended === undefined) findings.violate(`ended terminals are still running after ${END_MS / 1000} s`);
  await goDown(site, findings);
  const gone = await until(clock, END_MS, () => (processesOf(site).length === 0 ? true : undefined));
  if (gone === true) return;
  const left = processesOf(site);
  findings.orphan(
    left.length,
    `still there at the end: ${left.map(({ kind, who }) => `${kind} ${who.pid}`).join(", ")}`,
  );
  killAll(site);
}

/** Asks the running ones to end; returns how many there are. */
async function endTerminals(site: Site): Promise<number> {
  const listed = await ask(site, "terminal.list", {});
  if (listed.kind !== "done") return Number.POSITIVE_INFINITY;
  const running = listed.value.filter(({ state }) => state.kind === "running" || state.kind === "starting");
  for (const { id, signal, restored } of running) {
    // A terminal that lost its holder came back as a shell, and a shell that waits for a person ignores SIGTERM.
    const polite = restored === undefined ? "SIGTERM" : "SIGHUP";
    if (signal === undefined) await ask(site, "terminal.signal", { id, signal: polite });
  }
  return running.length;
}
