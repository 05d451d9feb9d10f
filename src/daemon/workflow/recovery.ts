// Recovery of workflows: each attempt that was begun is examined, and the run continues, or reports what it needs.
// V1. `planResume` decides, from the run and the evidence of its attempts: what is running is adopted, what ended is
//     recorded, what was never claimed is run (with the effects of the last stage), and what is lost is uncertain: the
//     step's policy, or a person, decides.
// V2. A holder that does not answer does not delay the recovery: it is examined again in the engine's rounds.
// V3. After the machine went down, a run whose file says `resume: ask` or `never` does not continue: it is interrupted,
//     or cancelled.
// V4. Before anything is examined, files of attempts that went with the machine are made again from the journals.
// V5. In a home that was taken over from another host, a run whose directory is not on this one is interrupted: its
//     files are there, and a person decides.
import { allOf, someAtOnce } from "../../base/all-of.ts";
import { type Fate, leftOn, type ReportItem } from "../../core/recovery.ts";
import { toCheckpoint } from "../../core/workflow/checkpoint.ts";
import { nextOf, progressOf } from "../../core/workflow/progress.ts";
import { planResume } from "../../core/workflow/resume.ts";
import { attemptsOf, type Run } from "../../core/workflow/run.ts";
import type { PartBorder } from "../part.ts";
import type { StageWork } from "../recovery-run.ts";
import { type AttemptFound, evidenceOf } from "./attempts.ts";
import { type Engine, isOpen, lacksText } from "./engine.ts";
import type { WorkflowStore } from "./store.ts";

/** How many runs are examined in parallel. */
const AT_ONCE = 64;

export type WorkflowRecovery = {
  readonly border: Pick<PartBorder, "adopting">;
  readonly store: WorkflowStore;
  readonly engine: Engine;
  /** Whether the machine went down since the last recovery. */
  wasDown(): boolean;
  /** The host that the home was taken over from; undefined if it was not. */
  takenFrom(): string | undefined;
  /** Whether there is a file or a directory. */
  isThere(path: string): boolean;
};

export function workflowStages(recovery: WorkflowRecovery): Pick<StageWork, "RESTORING" | "RECONCILING"> {
  return {
    RESTORING: (progress) => restore(recovery, progress),
    RECONCILING: async () => {
      recovery.engine.goOn();
      return [];
    },
  };
}

async function restore(recovery: WorkflowRecovery, progress: () => void): Promise<ReportItem[]> {
  const { border, store, engine } = recovery;
  await engine.attempts.journals.restore(); // V4
  const adoptOne = (run: Run) => border.adopting(run.id, () => adopt(store, engine, run)); // PB2 of part.ts
  const held = recovery.wasDown() ? await holdBack(recovery) : [];
  const open = [...store.states.values()].filter(isOpen);
  const looked = await someAtOnce(AT_ONCE, open, async (run) => {
    const item = await adoptOne(run);
    progress();
    return item;
  });
  return [...held, ...looked.filter(({ id }) => !held.some((other) => other.id === id))];
}

/** V3, V5. Done before anything is examined, so that no step's policy makes the run continue. */
async function holdBack(recovery: WorkflowRecovery): Promise<ReportItem[]> {
  const { store } = recovery;
  const from = recovery.takenFrom();
  const items: ReportItem[] = [];
  for (const run of [...store.states.values()]) {
    const { id, name, status } = run;
    const held = status.kind === "going" ? (byPolicy(run, from) ?? leftBehind(recovery, run, from)) : undefined;
    if (held === undefined) continue;
    await store.submit({ kind: held.as, id });
    const [fate, flag]: [Fate, string] = held.as === "interrupt" ? ["needs you", ""] : ["could not", " --force"];
    const next = `holdfast resume ${id.slice(0, 8)}${flag}`;
    items.push({ what: "workflow", id, name, fate, reason: held.reason, next });
  }
  return items;
}

type HeldBack = { readonly as: "interrupt" | "cancel"; readonly reason: string };

/** V3 */
function byPolicy({ definition }: Run, from: string | undefined): HeldBack | undefined {
  const policy = definition.resume ?? "auto";
  if (policy === "auto") return undefined;
  const why = from === undefined ? "the machine went down" : leftOn(from);
  return { as: policy === "ask" ? "interrupt" : "cancel", reason: `${why}, and its file says resume: ${policy}` };
}

/** V5. A worktree that has not been made yet needs its repository. */
function leftBehind({ isThere }: WorkflowRecovery, run: Run, from: string | undefined): HeldBack | undefined {
  const { worktree, main, cwd } = run;
  const needed = worktree !== undefined && main.place.phase === "worktree" ? worktree.repository : cwd;
  if (from === undefined || isThere(needed)) return undefined;
  return { as: "interrupt", reason: `${leftOn(from)}; its directory ${needed} is not on this host` };
}

async function adopt(store: WorkflowStore, engine: Engine, before: Run): Promise<ReportItem> {
  const begun = attemptsOf(before);
  const lacks = lacksText(before, engine.secrets.lacking(before));
  if (begun.length === 0) return itemOf(before, [], lacks);
  const looks = begun.map(async ({ id }) => [id, await engine.look(id)] as const);
  const found = new Map(await allOf(looks));
  const plan = planResume(toCheckpoint(before, "Manual", ""), (id) => evidenceOf(found.get(id))); // V1
  const known = new Set(begun.flatMap(({ id, state }) => (state.kind === "uncertain" ? id : [])));
  await allOf(
    plan.attempts.map(async ({ attempt, action }) => {
      const seen = found.get(attempt);
      const isNews = action === "adopt" || action === "take-up" || !known.has(attempt);
      if (seen !== undefined && action !== "run" && isNews) await engine.report(attempt, seen);
    }),
  );
  return itemOf(store.states.get(before.id) ?? before, [...found.values()], lacks);
}

function itemOf(run: Run, found: readonly AttemptFound[], lacks: string | undefined): ReportItem {
  const { id, name } = run;
  const key = id.slice(0, 8);
  const item = (fate: Fate, reason: string, next: string): ReportItem => ({
    what: "workflow",
    id,
    name,
    fate,
    reason,
    next,
  });
  const { state, step, steps, needs } = progressOf(run);
  const [need] = needs;
  const place = `step ${step} of ${steps}`;
  if (need !== undefined && state === "waiting")
    return item("needs you", `${place} (${need.step}) waits for you: ${need.why}`, nextOf(id, need));
  if (need !== undefined && state !== "running")
    return item("needs you", `${place} (${need.step}) is uncertain: ${need.why}`, `holdfast resume ${key}`);
  if (state === "failed") return item("needs you", `it failed at ${place}`, `holdfast resume ${key}`);
  if (found.some(({ kind }) => kind === "unreachable")) return item("needs you", `${place}: ${SILENT}`, WORKFLOWS);
  const refused = found.find((one) => one.kind === "refused");
  if (refused !== undefined)
    return item("back as it was", `${place} cannot be started yet: ${refused.reason}`, WORKFLOWS);
  if (lacks !== undefined) return item("needs you", `${place}: ${lacks}`, `holdfast resume ${key}`);
  const ran = found.some(({ kind }) => kind === "running" || kind === "with-agent");
  return item("back as it was", ran ? `${place} is still running` : `it continues at ${place}`, WORKFLOWS);
}

const SILENT = "its holder lives but does not answer";
const WORKFLOWS = "holdfast workflows";
