// Recovery of terminals after a crash of the daemon or of the machine.
// K1. Live holders are adopted, recorded exits are applied, and terminals that were never claimed are started; lost
//     terminals are restored as their policy requires.
// K2. Only processes that are certainly ours are stopped as orphans: marked, or descended from a recorded child, and
//     not under a living holder.
// K3. The leftover processes of a lost terminal are stopped before it is restarted. An interrupted recovery continues
//     in the next daemon: what was started is adopted, and the rest is examined again.
// K4. Terminals that were due to start but never claimed are started and awaited here too: a client that sees LIVE
//     finds them running.

import { someAtOnce } from "../../base/all-of.ts";
import type { Fate, ReportItem } from "../../core/recovery.ts";
import { unsetNotes } from "../../core/terminal/restore.ts";
import { effectsOf, type Terminal } from "../../core/terminal/terminal.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import type { Clock } from "../../world/clock.ts";
import type { HowFar, PartBorder } from "../part.ts";
import type { StageWork } from "../recovery-run.ts";
import type { TerminalFound, TerminalHolders } from "./holders.ts";
import type { TerminalStore } from "./store.ts";

/** How many holders are queried in parallel. */
const AT_ONCE = 64;
/** Each start is a new process, and many machines have only two cores. */
const RESTORED_AT_ONCE = 12;
/** A holder that has not answered by then is left to the daemon's rounds (N2 of terminal/holders.ts). */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 20;

export type WorkPorts = {
  readonly place: HomeWorld;
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  readonly border: Pick<PartBorder, "adopting" | "guard">;
  /** This boot. In a home that was taken over, it has no name: what was stopped went with the other host. */
  boot(): string;
  /** Whether it was set aside. */
  isAside(id: string): boolean;
  /** Stops the leftover processes of terminals whose holder is gone; returns one item for each. */
  orphans(terminals: readonly Terminal[]): Promise<readonly ReportItem[]>;
  /** Called once before the first terminal is restored. */
  prepare(): Promise<void>;
  restore(terminal: Terminal, reason: string): Promise<ReportItem>;
  /** The outcome of a restoration that an earlier daemon began but did not report; undefined if it was reported. */
  untold(terminal: Terminal): ReportItem | undefined;
  /**
   * For a terminal that an earlier daemon found lost, whose report may never have been written (Y3 of recovery-run.ts).
   */
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

/** To be restarted, or started for the first time if no holder had claimed it yet. */
type Lost = { readonly terminal: Terminal; readonly reason: string };
const NEVER_STARTED = "never started";

async function restore(ports: WorkPorts, progress: () => void): Promise<ReportItem[]> {
  const boot = ports.boot();
  const open = [...ports.store.terminals.values()].filter((terminal) => isOpen(terminal, boot));
  const items: ReportItem[] = [...ports.store.terminals.values()].flatMap((one) =>
    isWaiting(one) && !ports.isAside(one.id) ? ports.waiting(one) : [],
  );
  const lost: Lost[] = [];
  let back = 0;
  const looked = await someAtOnce(AT_ONCE, open, async (terminal) => {
    const one = await lookAtOne(terminal, ports, boot);
    if ("fate" in one) back += 1;
    ports.progressed({ done: back, total: open.length });
    progress();
    return one;
  });
  for (const one of looked) "fate" in one ? items.push(one) : lost.push(one);
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
  let done = 0;
  return someAtOnce(RESTORED_AT_ONCE, lost, async ({ terminal, reason }) => {
    const restored = () => (reason === NEVER_STARTED ? begin(ports, terminal) : ports.restore(terminal, reason));
    const item = await ports.border.adopting(terminal.id, restored); // PB2 of part.ts
    done += 1;
    step(done);
    return item;
  });
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

/** Whether it should be running. This includes terminals that were stopped when the machine went down. */
function isOpen({ removed, state }: Terminal, bootId: string): boolean {
  if (removed) return false;
  if (state.kind === "ended") return isTakenAlong(state, bootId);
  return state.kind === "running" || state.kind === "starting";
}

function isTakenAlong({ stoppedIn }: { readonly stoppedIn?: string }, bootId: string): boolean {
  return stoppedIn !== undefined && stoppedIn !== bootId;
}

/** The signals that a machine sends to all processes when it goes down. */
const SWEEP: readonly (string | null)[] = ["SIGHUP", "SIGTERM", "SIGKILL"];

/**
 * A program that was killed in an earlier boot, not by any request known to us, and whose end no daemon recorded: its
 * holder was killed a moment later.
 */
function isSwept({ state, signal }: Terminal, found: TerminalFound & { kind: "ended" }, bootId: string): boolean {
  const { bootId: then = bootId } = found;
  return state.kind !== "ended" && signal === undefined && then !== bootId && SWEEP.includes(found.signal);
}

function lookAtOne(terminal: Terminal, ports: WorkPorts, boot: string): Promise<ReportItem | Lost> {
  return ports.border.adopting(terminal.id, () => lookAt(terminal, ports, boot)); // PB2 of part.ts
}

async function lookAt(terminal: Terminal, ports: WorkPorts, boot: string): Promise<ReportItem | Lost> {
  const { store, holders, place } = ports;
  const known = terminal.state.kind === "ended" ? terminal.state : holders.livesOn(terminal);
  const found = known ?? (await lookAgain(terminal, holders, place.clock));
  const { id } = terminal;
  const reason = whyLost(terminal, found, { processes: place.processes, boot });
  if (reason !== undefined && !terminal.rollingBack) return { terminal, reason };
  if (found.kind === "unstarted" && terminal.state.kind === "starting") return { terminal, reason: NEVER_STARTED };
  if (found.kind === "running") await store.submit({ kind: "started", id, child: found.child, holder: found.holder });
  if (found.kind === "ended") await store.submit({ ...found, id });
  if (found.kind === "lost") await store.submit({ kind: "lost", id, reason: found.reason });
  return ports.untold(store.terminals.get(id) ?? terminal) ?? itemOf(terminal, found); // K1
}

/** Returns undefined if it is not lost. */
function whyLost(terminal: Terminal, found: TerminalFound, now: Pick<HomeWorld, "processes"> & { boot: string }) {
  const { state } = terminal;
  const { processes, boot } = now;
  if (found.kind === "lost") return found.reason;
  if (found.kind === "ended" && (isTakenAlong(found, boot) || isSwept(terminal, found, boot)))
    return "it was stopped when the machine went down";
  // Without its files we cannot tell whether its holder is alive; its program can be looked up.
  if (found.kind === "unstarted" && state.kind === "running" && !processes.alive(state)) return "its files are gone";
  return undefined;
}

/** A holder whose socket was removed binds it again when a connection is attempted, which takes a moment. */
async function lookAgain(terminal: Terminal, holders: TerminalHolders, clock: Clock): Promise<TerminalFound> {
  const begun = clock.elapsed();
  for (;;) {
    const found = await holders.look(terminal);
    if (found.kind !== "unreachable" || clock.elapsed() - begun >= PATIENCE_MS) return found;
    await new Promise<void>((again) => clock.after(PAUSE_MS, again));
  }
}

function itemOf({ id, name, state, unset, recipe }: Terminal, found: TerminalFound): ReportItem {
  const item = (fate: Fate, reason: string, next: string): ReportItem => ({
    what: "terminal",
    id,
    name,
    fate,
    reason,
    next,
  });
  if (found.kind === "running")
    return item("back as it was", `its program is still running (pid ${found.child.pid})`, `holdfast attach ${name}`);
  if (found.kind === "ended")
    return item("back as it was", "it ended meanwhile; its exit was kept", `holdfast history ${name}`);
  if (found.kind === "unstarted") {
    const late = state.kind === "starting";
    return late
      ? item(
          "restarted",
          ["it had not been started yet", ...unsetNotes(unset, recipe.argv)].join("; "),
          `holdfast attach ${name}`,
        )
      : item("could not", "its files are gone", `holdfast rm ${name}`);
  }
  return item("needs you", found.reason, `holdfast history ${name}`);
}

/** Stops orphans first; then performs again every effect that has no outcome yet. */
async function reconcile(ports: WorkPorts, progress: () => void): Promise<readonly ReportItem[]> {
  const { store, holders, orphans } = ports;
  const items = await orphans([...store.terminals.values()].filter((one) => !ports.isAside(one.id))); // K2
  progress();
  for (const terminal of [...store.terminals.values()])
    ports.border.guard(terminal.id, () => {
      for (const effect of effectsOf(terminal)) holders.perform(effect);
    });
  return items;
}
