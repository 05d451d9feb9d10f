// Workflow files: checkpoints of unfinished runs, the holders of their steps, and directories that no log knows.
// DW1. Small logs are always folded; large ones only with --deep, and the result says so.
// DW2. A damaged checkpoint costs only time, because the log has everything: it is reported, and the next one replaces
//      it. Nothing is repaired here; run/ is checked by sockets.ts, permissions by rights.ts.
// DW3. Whatever started a moment ago, or since the files were listed, may have been recorded after we read the log: it
//      is not judged yet.

import { joinPath } from "../../base/path.ts";
import { fromCheckpoint, type WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import { nextOf, progressOf } from "../../core/workflow/progress.ts";
import { type Attempt, attemptsOf, type Run } from "../../core/workflow/run.ts";
import { CheckpointStorage, findResumable } from "../../home/checkpoint-storage.ts";
import { readHeld } from "../../home/held/held-state.ts";
import { ONLY_GENERATION } from "../../home/held/holder-files.ts";
import { checkCheckpoint } from "../../log/checkpoint/check.ts";
import type { LogView } from "../../log/inspect.ts";
import { isLogFile, logBytes } from "../../log/session/log-segments.ts";
import { sessionPath } from "../../log/session/places.ts";
import { steadyView } from "../log/view.ts";
import { count } from "../print.ts";
import { type Finding, fine, type Site, some, warning } from "./check.ts";

/** DW1: folded in some tens of milliseconds. */
const SMALL_BYTES = 2 << 20;
/** DW3 */
const FRESH_MS = 5_000;

type RunsFound = { readonly session: string; readonly checkpoint: WorkflowCheckpoint; readonly run: Run };

export async function checkWorkflows(site: Site): Promise<Finding[]> {
  const { world, home } = site;
  const view = await steadyView(world, home);
  const sessions = view.sessions.filter((session) => session.startsWith("state/"));
  const bytes = sessions.reduce(
    (sum, session) => sum + logBytes(world.disk, sessionPath(world.disk, home, session)),
    0,
  );
  if (bytes > SMALL_BYTES && !site.deep)
    return [fine("workflows", `${count(sessions.length, "run")}; --deep looks at them`)]; // DW1
  const place = { disk: world.disk, clock: world.clock, home };
  const storage = new CheckpointStorage(place);
  const runs = sessions.flatMap((session) => folded(storage, view, session));
  const open = findResumable(runs);
  const known = new Set(runs.map(({ session }) => session));
  const found = [...badCheckpoints(site, open), ...lostSteps(site, open), ...waiting(open)];
  const strange = [...withoutLog(site, sessions, known), ...unknownAttempts(site, runs)];
  if (found.length + strange.length > 0) return [...found, ...strange];
  return [fine("workflows", `${count(runs.length, "run")}, ${open.length} of them unfinished`)];
}

/** One that does not fold is named by `holdfast log verify`, and set aside by the daemon. */
function folded(storage: CheckpointStorage, view: LogView, session: string): RunsFound[] {
  try {
    const current = storage.current(view, session);
    if (!current.ok || current.value.checkpoint.run.removed) return [];
    const { checkpoint } = current.value;
    return [{ session, checkpoint, run: fromCheckpoint(checkpoint) }];
  } catch (error) {
    if (error instanceof Error) return [];
    throw error;
  }
}

/** DW2 */
function badCheckpoints({ world, home }: Site, open: readonly RunsFound[]): Finding[] {
  const bad = open.flatMap(({ session, run }) => {
    const file = checkCheckpoint(world.disk, joinPath(joinPath(home, session), "checkpoint.json"));
    return file.kind === "bad" ? [{ run, reason: file.reason }] : [];
  });
  if (bad.length === 0) return [];
  const named = some(bad.map(({ run }) => nameOf(run)));
  const what = `the checkpoint of ${count(bad.length, "run")} cannot be used: ${named}`;
  const next = "Nothing: the log has everything, and the next checkpoint replaces this one";
  return [warning("workflows", { what, why: bad[0]?.reason ?? "", next })];
}

/** Steps that should be running, but whose holder is gone without an exit. */
function lostSteps(site: Site, open: readonly RunsFound[]): Finding[] {
  const before = new Date(site.world.clock.now() - FRESH_MS).toISOString();
  const lost = open.flatMap(({ session, run }) =>
    attemptsOf(run)
      .filter((attempt) => attempt.startedAt < before && isLost(site, session, attempt)) // DW3
      .map(({ step }) => `${step} of ${nameOf(run)}`),
  );
  if (lost.length === 0) return [];
  const what = `${count(lost.length, "step")} lost: ${some(lost)}`;
  const why = "its holder was killed, or the machine went down: how it ended is unknown";
  return [warning("workflows", { what, why, next: "holdfast up; then `holdfast workflows` shows what it needs" })];
}

function isLost({ world, home }: Site, session: string, { id, state }: Attempt): boolean {
  if (state.kind === "uncertain") return false;
  const directory = joinPath(joinPath(home, session), `attempts/${id.slice(id.lastIndexOf(".") + 1)}`);
  return readHeld({ ...world, directory }, ONLY_GENERATION).kind === "lost";
}

function waiting(open: readonly RunsFound[]): Finding[] {
  const needing = open.filter(({ run }) => progressOf(run).needs.length > 0).map(({ run }) => run);
  const [first] = needing;
  if (first === undefined) return [];
  const what = `${count(needing.length, "run waits", "runs wait")} for you: ${some(needing.map(nameOf))}`;
  const [need] = progressOf(first).needs;
  const next = need === undefined ? "holdfast workflows" : nextOf(first.id, need);
  return [warning("workflows", { what, why: need?.why ?? "", next })];
}

/** A checkpoint or attempts without a log: from an older program, or the log was removed. */
function withoutLog({ world, home }: Site, sessions: readonly string[], known: ReadonlySet<string>): Finding[] {
  const strays = sessions.filter((session) => {
    if (known.has(session)) return false;
    const names = world.disk.list(joinPath(home, session));
    return !names.some(isLogFile) && names.some((name) => name === "checkpoint.json" || name === "attempts");
  });
  if (strays.length === 0) return [];
  const what = `${count(strays.length, "run")} without a log: ${some(strays)}`;
  const why = "an older program started it, or its log was removed";
  return [warning("workflows", { what, why, next: "holdfast migrate --dry-run" })];
}

function unknownAttempts({ world, home, files }: Site, runs: readonly RunsFound[]): Finding[] {
  const before = world.clock.now() - FRESH_MS;
  const made = new Map(files.map(({ path, changedAt }) => [path, changedAt]));
  const unknown = runs.flatMap(({ session, run }) => {
    const attempts = joinPath(joinPath(home, session), "attempts");
    const beyond = world.disk.list(attempts).filter((name) => /^\d+$/.test(name) && Number(name) > run.attempts);
    return beyond.map((name) => joinPath(attempts, name)).filter((path) => (made.get(path) ?? before) < before); // DW3
  });
  if (unknown.length === 0) return [];
  const what = `${count(unknown.length, "attempt")} that no log knows: ${some(unknown)}`;
  const why = "the log lost its end, or they were put there by hand; they are never used";
  return [warning("workflows", { what, why, next: "holdfast log verify; inspect them before you remove them" })];
}

function nameOf({ name, id }: Run): string {
  return `${name} (${id.slice(0, 8)})`;
}
