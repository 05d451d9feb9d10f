// Finds and stops processes that held programs left behind when their holder died (core/orphans.ts decides which).
// OS1. Processes left behind by a terminal that ended in order are not orphans, and are not touched.
// OS2. Claims are read after the process table: a holder claims before it starts its program, so every program in the
//      table has a readable claim by then. A holder whose starter died may claim at any moment.
// OS3. Only terminals have orphans: without any that could have some, the processes of the machine are not even read.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { findOrphans, type HeldTerminal, type Marker, type Orphan, type Orphans } from "../../core/orphans.ts";
import type { ReportItem } from "../../core/recovery.ts";
import { childOf, type Terminal } from "../../core/terminal/terminal.ts";
import { type HomeWorld, readHolder, startedHere, terminalDirectory } from "../../home/held/holder-files.ts";
import { HOME_ID, homeId } from "../../home/held/home-id.ts";
import { STANDBY_LOCK, WATCHDOG_LOCK, WEB_LOCK } from "../../home/layout.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { readJson } from "../../log/file/json-file.ts";
import { identify, type ProcessIdentity, type Signal } from "../../world/process.ts";
import { noteSeen, readSeen } from "./last-alive.ts";

/** The time a shell needs to notify its jobs before it is killed. */
const GRACE_MS = 2000;
const PAUSE_MS = 20;
const MARKER = "HOLDFAST_TERMINAL";

/**
 * `of`: only the leftovers of these; all terminals are still needed, to know which process belongs to which. `spared`:
 * other processes that are known not to be left behind, with all their descendants.
 */
export async function stopOrphans(
  place: HomeWorld,
  terminals: readonly Terminal[],
  { of, spared = [] }: { readonly of?: ReadonlySet<string>; readonly spared?: readonly ProcessIdentity[] } = {},
): Promise<ReportItem[]> {
  const needy = inNeed(terminals);
  if (needy.length === 0) return []; // OS3
  const held = () => {
    const seen = readSeen(place);
    return needy.map(({ id, state }) => {
      const directory = terminalDirectory(place.home, id);
      return { ...heldIn(place, { directory, id, child: childOf(state) }), seenAt: seen.get(id) };
    });
  };
  const { ours, doubtful } = await stopLeft(place, held, { ...(of !== undefined && { of }), spared });
  const nameOf = (id: string) => terminals.find((terminal) => terminal.id === id)?.name ?? id.slice(0, 12);
  return [
    ...ours.map((orphan) => item(orphan, nameOf(orphan.terminal), true)),
    ...doubtful.map((orphan) => item(orphan, nameOf(orphan.terminal), false)),
  ];
}

/** Stops the leftover processes of these, and returns them. */
export async function stopLeft(
  place: HomeWorld,
  held: () => readonly HeldTerminal[],
  { of, spared = [] }: { readonly of?: ReadonlySet<string>; readonly spared?: readonly ProcessIdentity[] } = {},
): Promise<Orphans> {
  const { disk, processes } = place;
  const listed = processes.list();
  const markers = new Map<number, Marker>();
  for (const { pid } of listed) {
    const terminal = processes.variable(pid, MARKER);
    if (terminal !== undefined) markers.set(pid, { terminal, home: processes.variable(pid, HOME_ID) });
  }
  const ours = { bootId: processes.bootId(), home: homeId(disk, place.home) };
  const table = { ...ours, processes: listed, markers, spared: [...sparedOf(place), ...spared] };
  const found = findOrphans(table, held()); // OS2
  const meant = ({ terminal }: Orphan) => of === undefined || of.has(terminal);
  const left = { ours: found.ours.filter(meant), doubtful: found.doubtful.filter(meant) };
  await stop(place, left.ours);
  return left;
}

/** Stops the leftover processes of one program whose holder is gone. */
export async function stopRestOf(
  place: HomeWorld,
  { name, socket }: { readonly name: string; readonly socket: string },
  held: () => readonly HeldTerminal[],
): Promise<void> {
  removeIfThere(place.disk, socket);
  await stopLeft(place, held, { of: new Set([name]) });
}

/** The daemon itself, the watchdog, the web host and the standby program. */
function sparedOf({ disk, processes, home }: HomeWorld): ProcessIdentity[] {
  const pids = [WATCHDOG_LOCK, WEB_LOCK, STANDBY_LOCK].map((path) => readJson(disk, joinPath(home, path))?.["pid"]);
  return [processes.pid, ...pids].flatMap((pid) => (typeof pid === "number" ? (identify(processes, pid) ?? []) : []));
}

/** All that can have orphans. After an orderly end, jobs (`nohup`, a server) stay as their user wanted (OS1). */
function inNeed(terminals: readonly Terminal[]): Terminal[] {
  return terminals.filter(({ state }) => state.kind !== "ended");
}

/** A state with a child has one claim, and every change of the terminal makes a new state: each claim is read once. */
const claims = new WeakMap<Terminal["state"], ProcessIdentity>();

/** Notes which are alive now, for a later recovery; returns those that should run by their log but do not. */
export function seeAll(place: HomeWorld, terminals: Iterable<Terminal>): string[] {
  const running = [...terminals].filter(({ state }) => childOf(state) !== undefined);
  const held = running.map(({ id, state }) => {
    const directory = terminalDirectory(place.home, id);
    const holder = claims.get(state) ?? readHolder({ disk: place.disk, directory });
    if (holder !== undefined) claims.set(state, holder);
    return { id, holder, child: childOf(state) };
  });
  return noteSeen(place, held);
}

type Recorded = { readonly directory: string; readonly id: string; readonly child: ProcessIdentity | undefined };

/** The recorded processes of the program that is held in a directory. */
export function heldIn(place: HomeWorld, { directory, id, child }: Recorded): HeldTerminal {
  const holder = readHolder({ disk: place.disk, directory });
  const bootId = place.processes.bootId();
  const isRecent = holder?.bootId === bootId || child?.bootId === bootId; // Others prove nothing (Z2).
  return { id, holder, child, startedHere: isRecent && startedHere(place, directory), seenAt: undefined };
}

/** Asks them to end, and kills those that have not ended after a while. */
async function stop({ processes, clock }: HomeWorld, orphans: readonly Orphan[]): Promise<void> {
  for (const signal of ["SIGHUP", "SIGTERM"] as const) tell(processes, orphans, signal);
  const deadline = clock.elapsed() + GRACE_MS;
  while (clock.elapsed() < deadline && orphans.some(({ who }) => processes.alive(who))) {
    await new Promise<void>((resolve) => clock.after(PAUSE_MS, resolve));
  }
  tell(processes, orphans, "SIGKILL");
}

/** A process that we may not signal (a command under sudo) does not prevent the others from being stopped. */
function tell(processes: HomeWorld["processes"], orphans: readonly Orphan[], signal: Signal): void {
  for (const { who } of orphans) {
    try {
      processes.kill(who, signal);
    } catch (error) {
      if (!isFault(error, "EPERM")) throw error;
    }
  }
}

function item({ who, terminal, by }: Orphan, name: string, stopped: boolean): ReportItem {
  const found = `process ${who.pid} was left behind by its terminal (found by ${by})`;
  const of = { what: "process", id: terminal, name } as const;
  return stopped
    ? { ...of, fate: "could not", reason: `${found} and was stopped`, next: `holdfast history ${name}` }
    : { ...of, fate: "needs you", reason: `${found}, perhaps: not stopped`, next: `ps -fp ${who.pid}` };
}
