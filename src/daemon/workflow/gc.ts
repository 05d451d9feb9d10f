// Which files of workflow runs garbage collection may delete.
// GR1. Only these are named: the tapes of the steps of a run that is over for good, with the records of their holders;
//      its older checkpoints; and sockets of its attempts. Its log and its checkpoint stay until it is removed from the
//      archive (archive-gc.ts). Of a run that a person has removed, the checkpoint and its items go too, if a crash
//      kept them (RC6 of checkpoints.ts).
// GR2. A run is over for good if a person has removed it, or if it is done or cancelled, nothing about it is uncertain,
//      and no item waits in the dead-letter queue. Any other run that is running or waiting, failed or was interrupted
//      can continue and is never touched, whatever its age.
//      Except for one thing: if it repeats its steps, what those of iterations wrote that it has let go of (PS3 of
//      core/workflow/past.ts) counts as that of an ended run.
// GR3. Files are deleted before their directories, and any of them may already be gone: the next round finishes what a
//      crash interrupted.

import { joinPath } from "../../base/path.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../../core/retention.ts";
import { deadLetters } from "../../core/workflow/decide-queue.ts";
import { attemptsOf, type Run, sessionOf } from "../../core/workflow/run.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { isRemovable, recordFiles, tapeFiles } from "../../home/held/left-files.ts";
import { ITEMS_FILE } from "../../home/item-pages.ts";
import { RUN } from "../../home/layout.ts";
import { filesOfHistory } from "../../log/checkpoint/keep.ts";
import { listWithin } from "../../log/file/file.ts";
import type { ArchivedLine } from "../../log/session/archive-index.ts";
import { archivedName, listSessions } from "../../log/session/places.ts";
import { listedIn } from "../../wire/rpc/listed-run.ts";
import type { Disk } from "../../world/disk.ts";
import { idOf } from "../fold.ts";
import { sized, timeOf } from "../gc.ts";
import type { Retention } from "../part.ts";
import { attemptSocket } from "./attempt-files.ts";

const SOCKET = /^w[0-9a-f]{8}-\d+\.sock$/;

/** The runs in memory, and those that are archived. */
export type RunsToCollect = { runs(): Iterable<Run>; archived(): Iterable<ArchivedLine> };

export function workflowGarbage(place: HomeWorld, { runs, archived }: RunsToCollect, rules: Retention): Chosen[] {
  const { disk, clock } = place;
  const [all, lines] = [[...runs()], [...archived()]];
  const limits = { ageMs: daysMs(rules.runDays), bytes: rules.runBytes };
  const over = [...all.filter(isOverForGood).map(endedRun), ...lines.flatMap((line) => endedIn(line) ?? [])];
  const past = all.filter((run) => !isOverForGood(run)).flatMap((run) => pastOutput(place, run));
  const ended = beyond([...outputOf(place, over), ...past], limits, clock.now());
  const taken = new Set(ended.flatMap(({ paths }) => paths));
  const sockets = socketsOfEndedRuns(place, all, lines).map((path) => {
    const thing = sized(disk, "socket of a step that is over", [path]);
    return { ...thing, at: undefined, reason: "nothing listens on it" };
  });
  return [...ended, ...oldHistories(place, taken, rules.histories), ...sockets];
}

/** GR2 */
function isOverForGood(run: Run): boolean {
  if (run.removed) return true;
  if (run.status.kind !== "done" && run.status.kind !== "cancelled") return false;
  return attemptsOf(run).length === 0 && (run.items.failed === 0 || deadLetters(run).length === 0);
}

/** A run that is over for good; `path` is its directory. */
type EndedRun = { readonly path: string; readonly removed: boolean; readonly at: number | undefined };

function endedRun(run: Run): EndedRun {
  return { path: sessionOf(run), removed: run.removed, at: "at" in run.status ? timeOf(run.status.at) : undefined };
}

/** GR2, for a run that is archived. One with failed items may have a dead-letter queue. */
function endedIn({ session, at, row }: ArchivedLine): EndedRun | undefined {
  const state = row === null ? undefined : listedIn(row)?.state;
  if (row !== null && state !== "done" && state !== "cancelled") return undefined;
  return { path: archivedName(session), removed: row === null, at: timeOf(at ?? "") };
}

/** One entry for each run. */
function outputOf({ disk, home }: HomeWorld, over: readonly EndedRun[]): Thing[] {
  return over.flatMap(({ path, removed, at }) => {
    const directory = joinPath(home, path);
    const [present, history] = [joinPath(directory, "checkpoint.json"), joinPath(directory, "history")];
    const items = joinPath(directory, ITEMS_FILE);
    const paths = [
      ...filesOfHistory(disk, history),
      ...(disk.stat(history) === undefined ? [] : [history]),
      ...(removed ? [present, items].filter((one) => disk.stat(one) !== undefined) : []),
      ...attemptFiles(disk, joinPath(directory, "attempts")),
    ];
    if (!paths.some((one) => isRemovable(disk, one))) return [];
    return [{ ...sized(disk, "what steps of an ended run wrote", paths), at }];
  });
}

/** One entry for each attempt of a run that goes on, if its iteration is long over. */
function pastOutput({ disk, home }: HomeWorld, run: Run): Thing[] {
  const attempts = joinPath(home, `${sessionOf(run)}/attempts`);
  if (run.past.attempts === 0) return [];
  const past = numbersIn(disk, attempts).filter((number) => Number(number) <= run.past.attempts);
  return past.flatMap((number) => {
    const paths = filesOf(disk, joinPath(attempts, number));
    if (!paths.some((one) => isRemovable(disk, one))) return [];
    const at = disk.stat(joinPath(attempts, number))?.modifiedMs;
    return [{ ...sized(disk, "what a step of an earlier iteration wrote", paths), at }];
  });
}

/** GR3 */
function attemptFiles(disk: Disk, attempts: string): string[] {
  const found = numbersIn(disk, attempts).flatMap((number) => filesOf(disk, joinPath(attempts, number)));
  return disk.stat(attempts) === undefined ? [] : [...found, attempts];
}

function numbersIn(disk: Disk, attempts: string): string[] {
  return listWithin(disk, attempts).filter((name) => /^\d+$/.test(name));
}

/** Those of one attempt. */
function filesOf(disk: Disk, directory: string): string[] {
  return [...tapeFiles(disk, directory), ...recordFiles(disk, directory), directory];
}

/** The checkpoints of each run beyond the number that is kept; those deleted with their run are not named twice. */
function oldHistories({ disk, home }: HomeWorld, taken: ReadonlySet<string>, kept: number): Chosen[] {
  const sessions = listSessions(disk, home).filter((session) => session.startsWith("state/"));
  return sessions.flatMap((session) => {
    const newestFirst = filesOfHistory(disk, joinPath(home, `${session}/history`));
    const rest = newestFirst.filter((path) => !taken.has(path)).slice(kept);
    return rest.map((path) => {
      const thing = sized(disk, "history of a checkpoint", [path]);
      return { ...thing, at: undefined, reason: `more than ${kept} of them` };
    });
  });
}

/** Two ids could share a socket by chance: a socket that is still in use is never named. */
function socketsOfEndedRuns({ disk, home }: HomeWorld, all: readonly Run[], archived: readonly ArchivedLine[]) {
  const open = new Set(all.filter((run) => !isOverForGood(run)).map(({ id }) => prefixOf(home, id)));
  const ids = [...all.filter(isOverForGood).map(({ id }) => id), ...archived.map(({ session }) => idOf(session))];
  const over = new Set(ids.map((id) => prefixOf(home, id)));
  return disk
    .list(joinPath(home, RUN))
    .filter((name) => SOCKET.test(name))
    .map((name) => joinPath(home, `${RUN}/${name}`))
    .filter(
      (path) => over.has(path.slice(0, path.lastIndexOf("-"))) && !open.has(path.slice(0, path.lastIndexOf("-"))),
    );
}

function prefixOf(home: string, run: string): string {
  const socket = attemptSocket(home, `${run}.0`);
  return socket.slice(0, socket.lastIndexOf("-"));
}
