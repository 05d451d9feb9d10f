// What each stage of a recovery does after a crash of the daemon (and, as far as terminals can be, of the machine).
// K1. Live holders are adopted, recorded exits taken up, what was never claimed is started; what is uncertain is told, never started again.
// K2. Only processes that are ours for certain are stopped as orphans: marked or descended from a recorded child, under no living holder.
import type { Fate, ReportItem } from "../core/recovery.ts";
import { effectsOf, type Terminal } from "../core/terminal.ts";
import { joinPath, readWhole, removeIfThere } from "../log/file.ts";
import { readJson } from "../log/json-file.ts";
import type { Report } from "../wire/rpc.ts";
import type { Clock } from "../world/clock.ts";
import type { Found, Hands } from "./hands.ts";
import type { HolderPlace } from "./holder-files.ts";
import type { StageWork } from "./recovery-run.ts";
import type { Turn } from "./turn.ts";

export type Cause = Report["cause"];

export const CLEAN_MARKER = "recovery/clean-shutdown.json";
export const LAST_BOOT = "recovery/last-boot.json";

/** Holders are asked in parallel; so many at a time. */
const AT_ONCE = 64;
/** One that has not answered by then is left to the daemon's rounds (N3 of hands.ts). */
const PATIENCE_MS = 1_000;
const PAUSE_MS = 20;

export type WorkPorts = {
  readonly place: HolderPlace;
  readonly turn: Turn;
  readonly hands: Hands;
  /** What was set aside while the logs were folded. */
  readonly setAside: readonly ReportItem[];
  /** Stops what is left of terminals whose holder is gone; returns one item for each. */
  orphans(terminals: readonly Terminal[]): Promise<readonly ReportItem[]>;
  detected(cause: Cause): void;
};

export function recoveryWork(ports: WorkPorts): StageWork {
  return {
    DETECTING: async () => {
      ports.detected(await detectCause(ports.place));
      return [];
    },
    INVENTORYING: async () => ports.setAside,
    RESTORING: (progress) => restore(ports, progress),
    RECONCILING: (progress) => reconcile(ports, progress),
  };
}

/**
 * A marker of a clean end is good for one start, and only where it ended the last boot that recovered. After a reboot it stays, so that
 * a start that is killed and tried again says the same.
 */
export async function detectCause({ disk, processes, home }: HolderPlace): Promise<Cause> {
  const boot = new TextDecoder().decode(readWhole(disk, joinPath(home, LAST_BOOT)) ?? new Uint8Array(0)).trim();
  const clean = boot === "" || readJson(disk, joinPath(home, CLEAN_MARKER))?.["bootId"] === boot;
  if (boot !== "" && boot !== processes.bootId()) return clean ? "machine restart" : "machine crash";
  // Synced: a power cut must not bring it back, and make a crash of the machine look like a clean end.
  if (removeIfThere(disk, joinPath(home, CLEAN_MARKER))) await disk.syncDirectory(joinPath(home, "recovery"));
  return clean ? "clean start" : "daemon crash";
}

async function restore(ports: WorkPorts, progress: () => void): Promise<ReportItem[]> {
  const open = [...ports.turn.terminals.values()].filter(isOpen);
  const items: ReportItem[] = [];
  for (let at = 0; at < open.length; at += AT_ONCE) {
    const looked = await Promise.all(open.slice(at, at + AT_ONCE).map((terminal) => lookAt(terminal, ports)));
    items.push(...looked);
    progress();
  }
  return items;
}

function isOpen({ removed, state }: Terminal): boolean {
  return !removed && (state.kind === "running" || state.kind === "starting");
}

async function lookAt(terminal: Terminal, { turn, hands, place }: WorkPorts): Promise<ReportItem> {
  const found = await lookAgain(terminal, hands, place.clock);
  const { id } = terminal;
  if (found.kind === "running") await turn.submit({ kind: "started", id, child: found.child, holder: found.holder });
  if (found.kind === "ended") await turn.submit({ kind: "ended", id, code: found.code, signal: found.signal });
  if (found.kind === "uncertain") await turn.submit({ kind: "lost", id, reason: found.reason });
  return itemOf(terminal, found); // K1
}

/** A holder whose socket was removed binds it again when it is looked for; that takes it a moment. */
async function lookAgain(terminal: Terminal, hands: Hands, clock: Clock): Promise<Found> {
  const begun = clock.elapsed();
  for (;;) {
    const found = await hands.look(terminal);
    if (found.kind !== "unreachable" || clock.elapsed() - begun >= PATIENCE_MS) return found;
    await new Promise<void>((again) => clock.after(PAUSE_MS, again));
  }
}

function itemOf({ id, name, state }: Terminal, found: Found): ReportItem {
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
      ? item("restarted", "it had not been started yet", `holdfast attach ${name}`)
      : item("could not", "its files are gone", `holdfast rm ${name}`);
  }
  return item("needs you", found.reason, `holdfast history ${name}`);
}

/** Orphans first; then everything that has no outcome is done again. */
async function reconcile(ports: WorkPorts, progress: () => void): Promise<readonly ReportItem[]> {
  const { turn, hands, orphans } = ports;
  const aside = new Set(ports.setAside.map(({ id }) => id));
  const items = await orphans([...turn.terminals.values()].filter(({ id }) => !aside.has(id))); // K2
  progress();
  for (const terminal of turn.terminals.values()) for (const effect of effectsOf(terminal)) hands.perform(effect);
  return items;
}
