// Recovery of tmux sessions: looked at, re-created if they were lost, and listed in the report.
// R1. tmux is not our program: if it does not answer, the recovery is delayed only briefly. The rest is done in the
//     keeper's rounds, and the report mentions it.
import type { Fate, ReportItem } from "../../core/recovery.ts";
import type { TmuxCare } from "../../core/tmux/tmux.ts";
import type { Clock } from "../../world/clock.ts";
import { within } from "../../world/wait.ts";
import type { Tended, TmuxKeeper } from "./keeper.ts";

/** R1. A few sessions with a few panes take a fraction of a second. */
const PATIENCE_MS = 5_000;

export type TmuxRecovery = { readonly keeper: TmuxKeeper; readonly clock: Clock; cares(): Iterable<TmuxCare> };

export async function reconcileTmux({ keeper, clock, cares }: TmuxRecovery): Promise<ReportItem[]> {
  const open = [...cares()].filter(({ released, state }) => !released && state.kind !== "ended");
  if (open.length === 0) return [];
  const tended: readonly Tended[] = (await within(clock, PATIENCE_MS, keeper.round())) ?? []; // R1
  const now = new Map([...cares()].map((care) => [care.id, care]));
  return open.map((before) => {
    const result = tended.find(({ care }) => care.id === before.id);
    return itemOf(before, now.get(before.id) ?? before, result?.trouble);
  });
}

function itemOf(
  before: TmuxCare,
  { id, name, socket, state, recreated }: TmuxCare,
  trouble: string | undefined,
): ReportItem {
  const item = (fate: Fate, reason: string, next: string): ReportItem => ({
    what: "tmux session",
    id,
    name,
    fate,
    reason,
    next,
  });
  const key = id.slice(0, 8);
  if (state.kind === "uncertain") return item("needs you", state.reason, `holdfast log verify ${id.slice(0, 12)}`);
  if (state.kind === "ended") return item("back as it was", state.reason, `holdfast adopt recreate ${key}`);
  if (state.kind === "lost") {
    const waits = state.wanted
      ? `${state.reason}; ${trouble ?? "it is being made again"}`
      : `${state.reason}; it is made again when you say so`;
    return item("needs you", waits, `holdfast adopt recreate ${key}`);
  }
  const attach = `tmux -S ${socket} attach -t '${state.place.session}'`;
  if (trouble !== undefined) return item("needs you", trouble, attach);
  const again = recreated !== undefined && recreated.at !== before.recreated?.at;
  if (again) return item("restarted", ["made again", ...recreated.notes].join("; "), attach);
  return item("back as it was", `its server is still running (pid ${state.place.server.pid})`, attach);
}
