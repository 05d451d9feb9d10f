// Terminals in a recovery, after a crash of the daemon or of the machine.
// K1. Live holders are adopted, recorded exits taken up, what was never claimed is started; what is lost is restored as its policy says.
// K2. Only processes that are ours for certain are stopped as orphans: marked or descended from a recorded child, under no living holder.
// K3. What is left of a lost terminal is stopped before it is started again. A recovery that is broken off here goes on in the next
//     life: what was started is adopted, the rest is looked at afresh.
// K4. What was to be started and never was claimed is started here, and waited for like the others: whoever is told LIVE finds them.

import type { Fate, ReportItem } from "../../core/recovery.ts";
import { effectsOf, type Terminal } from "../../core/terminal/terminal.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import type { Clock } from "../../world/clock.ts";
import type { HowFar } from "../part.ts";
import type { StageWork } from "../recovery-run.ts";
import type { TerminalFound, TerminalHolders } from "./holders.ts";
import type { TerminalStore } from "./store.ts";

/** Holders are asked in parallel; so many at a time. */
const AT_ONCE = 64;
/** Each start is a new process, and there are two cores in many a machine. */
const RESTORED_AT_ONCE = 12;
/** One that has not answered by then is left to the daemon's rounds (N2 of terminal/holders.ts). */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 20;

export type WorkPorts = {
  readonly place: HomeWorld;
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  /** Whether it was set aside when the logs were folded. */
  isAside(id: string): boolean;
  /** Stops what is left of terminals whose holder is gone; returns one item for each. */
  orphans(terminals: readonly Terminal[]): Promise<readonly ReportItem[]>;
  /** Called once before the first terminal is restored. */
  prepare(): Promise<void>;
  restore(terminal: Terminal, reason: string): Promise<ReportItem>;
  /** What became of a restoration that an earlier life began and did not report; undefined if it was reported. */
  untold(terminal: Terminal): ReportItem | undefined;
  /** Of one that was found lost by an earlier life, whose report may never have been written (Y3 of recovery-run.ts). */
  waiting(terminal: Terminal): ReportItem;
  /** How many of the terminals that should run are back. */
  progressed(progress: HowFar): void;
};

export function terminalStages(ports: WorkPorts): Pick<StageWork, "RESTORING" | "RECONCILING"> {
  return {
    RESTORING: (progress) => restore(ports, progress),
    RECONCILING: (progress) => reconcile(ports, progress),
  };
}

/** To be started again, or where nothing was lost because no holder had claimed it yet, for the first time. */
type Lost = { readonly terminal: Terminal; readonly reason: string };
const NEVER_STARTED = "never started";

async function restore(ports: WorkPorts, progress: () => void): Promise<ReportItem[]> {
  const open = [...ports.store.terminals.values()].filter((terminal) =>
    isOpen(terminal, ports.place.processes.bootId()),
  );
  const items: ReportItem[] = [...ports.store.terminals.values()].flatMap((one) =>
    isWaiting(one) && !ports.isAside(one.id) ? ports.waiting(one) : [],
  );
  const { length: waiting } = items;
  const lost: Lost[] = [];
  for (let at = 0; at < open.length; at += AT_ONCE) {
    const looked = await Promise.all(open.slice(at, at + AT_ONCE).map((terminal) => lookAt(terminal, ports)));
    for (const one of looked) "fate" in one ? items.push(one) : lost.push(one);
    ports.progressed({ done: items.length - waiting, total: open.length });
    progress();
  }
  if (lost.length === 0) return items;
  const { store, orphans } = ports;
  items.push(...(await orphans([...store.terminals.values()].filter((one) => !ports.isAside(one.id))))); // K3
  await ports.prepare();
  const step = (done: number) => {
    progress();
    ports.progressed({ done: open.length - lost.length + done, total: open.length });
  };
  return [...items, ...(await restoreAll(ports, lost, step))];
}

async function restoreAll(ports: WorkPorts, lost: readonly Lost[], step: (done: number) => void) {
  const items: ReportItem[] = [];
  const rest = lost.values();
  const work = async () => {
    for (const { terminal, reason } of rest) {
      items.push(await (reason === NEVER_STARTED ? begin(ports, terminal) : ports.restore(terminal, reason)));
      step(items.length);
    }
  };
  await Promise.all(Array.from({ length: RESTORED_AT_ONCE }, work));
  return items;
}

/** K4 */
async function begin({ holders, store, untold }: WorkPorts, terminal: Terminal): Promise<ReportItem> {
  const { id } = terminal;
  holders.perform({ kind: "start", id });
  await holders.settled(id);
  return untold(store.terminals.get(id) ?? terminal) ?? itemOf(terminal, { kind: "unstarted" });
}

function isWaiting({ removed, state }: Terminal): boolean {
  return !removed && state.kind === "uncertain";
}

/** What should run. What the machine took along when it went down is among it. */
function isOpen({ removed, state }: Terminal, bootId: string): boolean {
  if (removed) return false;
  if (state.kind === "ended") return isTakenAlong(state, bootId);
  return state.kind === "running" || state.kind === "starting";
}

function isTakenAlong({ stoppedIn }: { readonly stoppedIn?: string }, bootId: string): boolean {
  return stoppedIn !== undefined && stoppedIn !== bootId;
}

/** What a machine sends to all on its way down. */
const SWEEP: readonly (string | null)[] = ["SIGHUP", "SIGTERM", "SIGKILL"];

/**
 * A program that was killed in a boot that is over, by nobody's wish that we know of, and whose end no daemon lived to hear of: its
 * holder was swept away a moment later.
 */
function isSwept({ state, signal }: Terminal, found: TerminalFound & { kind: "ended" }, bootId: string): boolean {
  const { bootId: then = bootId } = found;
  return state.kind !== "ended" && signal === undefined && then !== bootId && SWEEP.includes(found.signal);
}

async function lookAt(terminal: Terminal, ports: WorkPorts): Promise<ReportItem | Lost> {
  const { store, holders, place } = ports;
  const found = terminal.state.kind === "ended" ? terminal.state : await lookAgain(terminal, holders, place.clock);
  const { id } = terminal;
  const reason = whyLost(terminal, found, place);
  if (reason !== undefined && !terminal.rollingBack) return { terminal, reason };
  if (found.kind === "unstarted" && terminal.state.kind === "starting") return { terminal, reason: NEVER_STARTED };
  if (found.kind === "running") await store.submit({ kind: "started", id, child: found.child, holder: found.holder });
  if (found.kind === "ended") await store.submit({ ...found, id });
  if (found.kind === "lost") await store.submit({ kind: "lost", id, reason: found.reason });
  return ports.untold(store.terminals.get(id) ?? terminal) ?? itemOf(terminal, found); // K1
}

/** Undefined where it is not. */
function whyLost(terminal: Terminal, found: TerminalFound, { processes }: HomeWorld): string | undefined {
  const { state } = terminal;
  const bootId = processes.bootId();
  if (found.kind === "lost") return found.reason;
  if (found.kind === "ended" && (isTakenAlong(found, bootId) || isSwept(terminal, found, bootId)))
    return "it was stopped when the machine went down";
  // Without its files nobody can tell whether its holder lives; its program can be asked for.
  if (found.kind === "unstarted" && state.kind === "running" && !processes.alive(state)) return "its files are gone";
  return undefined;
}

/** A holder whose socket was removed binds it again when it is looked for; that takes it a moment. */
async function lookAgain(terminal: Terminal, holders: TerminalHolders, clock: Clock): Promise<TerminalFound> {
  const begun = clock.elapsed();
  for (;;) {
    const found = await holders.look(terminal);
    if (found.kind !== "unreachable" || clock.elapsed() - begun >= PATIENCE_MS) return found;
    await new Promise<void>((again) => clock.after(PAUSE_MS, again));
  }
}

function itemOf({ id, name, state, unset }: Terminal, found: TerminalFound): ReportItem {
  const item = (fate: Fate, reason: string, next: string): ReportItem => ({
    what: "terminal",
    id,
    name,
    fate,
    reason,
    next,
  });
  if (found.kind === "running")
    return item("back as it was", `its program runs on as ${found.child.pid}`, `holdfast attach ${name}`);
  if (found.kind === "ended")
    return item("back as it was", "it ended meanwhile; its exit was kept", `holdfast history ${name}`);
  if (found.kind === "unstarted") {
    const late = state.kind === "starting";
    return late
      ? item("restarted", ["it had not been started yet", ...unsetText(unset)].join("; "), `holdfast attach ${name}`)
      : item("could not", "its files are gone", `holdfast rm ${name}`);
  }
  return item("needs you", found.reason, `holdfast history ${name}`);
}

/** Its secrets were with the daemon that died. */
function unsetText(unset: readonly string[]): string[] {
  return unset.length === 0 ? [] : [`not stored, and so unset: ${unset.join(", ")}`];
}

/** Orphans first; then everything that has no outcome is done again. */
async function reconcile(ports: WorkPorts, progress: () => void): Promise<readonly ReportItem[]> {
  const { store, holders, orphans } = ports;
  const items = await orphans([...store.terminals.values()].filter((one) => !ports.isAside(one.id))); // K2
  progress();
  for (const terminal of store.terminals.values()) for (const effect of effectsOf(terminal)) holders.perform(effect);
  return items;
}
