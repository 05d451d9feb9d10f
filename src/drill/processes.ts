// Every process of a drill: Holdfast's own, the holders, and the programs of terminals, agents and workflow steps.
// P1. Found by what cannot get lost: the drill's variable, the marker of a terminal, the claim of a holder.
// P2. A holder without a claim counts as ours: it starts a program as soon as it has one.

import { joinPath } from "../base/path.ts";
import { type HeldDirectory, readHolder, terminalFiles } from "../home/held/holder-files.ts";
import { AGENTS, STATE, TERMINALS } from "../home/layout.ts";
import { SPARE } from "../wire/holder/orders.ts";
import { identify, type ProcessIdentity } from "../world/process.ts";
import { DRILL_VARIABLE, type Site, whoRuns } from "./site.ts";

const MARKER = "HOLDFAST_TERMINAL";

/** `terminal`: the owner of the program; for a step the attempt, for an agent its process. */
export type DrillProcess = { readonly who: ProcessIdentity } & (
  | { readonly kind: "program"; readonly terminal: string }
  | { readonly kind: "holder"; readonly terminal: string }
  | { readonly kind: "ours" }
);

export function processesOf(site: Site): DrillProcess[] {
  const { processes } = site.world;
  const terminals = placesOf(site);
  const holders = holdersOf(site, terminals);
  return processes.list().flatMap(({ pid }): DrillProcess[] => {
    if (pid === processes.pid) return [];
    const terminal = holders.get(pid) ?? processes.variable(pid, MARKER);
    const ours = processes.variable(pid, DRILL_VARIABLE) === site.home;
    const who = identify(processes, pid);
    if (who === undefined) return [];
    if (terminal !== undefined && terminals.has(terminal)) {
      return [{ who, kind: holders.has(pid) ? "holder" : "program", terminal }];
    }
    return ours ? [{ who, kind: "ours" }] : []; // P2
  });
}

/** The directories of the holders of terminals, agents and workflow attempts. */
function placesOf({ world, home }: Site): ReadonlyMap<string, HeldDirectory> {
  const { disk } = world;
  const below = (directory: string) => disk.list(directory).map((name) => joinPath(directory, name));
  const places = new Map<string, HeldDirectory>();
  for (const id of disk.list(joinPath(home, TERMINALS))) places.set(id, terminalFiles(disk, home, id));
  const sessions = below(joinPath(home, STATE)).flatMap((repo) => below(joinPath(repo, "sessions")));
  for (const directory of sessions.flatMap((session) => below(joinPath(session, "attempts")))) {
    const [run, , number] = directory.split("/").slice(-3);
    places.set(`${run}.${number}`, { disk, directory });
  }
  for (const directory of below(joinPath(home, AGENTS)).flatMap((agent) => below(joinPath(agent, "processes")))) {
    const [agent, , generation] = directory.split("/").slice(-3);
    places.set(`${agent}.${generation}`, { disk, directory });
  }
  return places;
}

/** The living holders, by pid. */
function holdersOf({ world }: Site, places: ReadonlyMap<string, HeldDirectory>): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [id, place] of places) {
    const holder = readHolder(place);
    if (holder !== undefined && world.processes.alive(holder)) found.set(holder.pid, id);
  }
  return found;
}

/** Programs whose holder is gone. */
export function orphansAmong(found: readonly DrillProcess[]): ProcessIdentity[] {
  const held = new Set(found.flatMap((one) => (one.kind === "holder" ? one.terminal : [])));
  return found.flatMap((one) => (one.kind === "program" && !held.has(one.terminal) ? one.who : []));
}

/**
 * Processes of Holdfast that hold no lock: a second daemon, a watchdog or a holder that should have ended. Not the
 * spare holder of the present daemon (daemon/held/spare-holder.ts), which ends with it.
 */
export function straysAmong(site: Site, found: readonly DrillProcess[]): ProcessIdentity[] {
  const { processes } = site.world;
  const runs = whoRuns(site);
  const owners = Object.values(runs).map((who) => who?.pid);
  const isSpare = (pid: number) =>
    processes.variable(pid, SPARE) !== undefined && processes.kin(pid)?.ppid === (runs.daemon?.pid ?? 0);
  return found.flatMap(({ kind, who }) =>
    kind === "ours" && !owners.includes(who.pid) && !isSpare(who.pid) ? who : [],
  );
}

/** For processes that should be gone; pid and start time prove that it is the one we looked at. */
export function killAll(site: Site): void {
  for (const { who } of processesOf(site)) site.world.processes.kill(who, "SIGKILL");
}
