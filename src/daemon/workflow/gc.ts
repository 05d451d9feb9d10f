// Which files of workflow runs garbage collection may delete.
// GR1. Only these are named: the output of the steps of a run that is over for good, with the records of their holders;
//      its older checkpoints; and sockets of its attempts. Its log and its checkpoint stay, because recovery reads
//      them. Of a run that a person has removed, the checkpoint goes too, if a crash kept it (RC6 of checkpoints.ts).
// GR2. A run is over for good if a person has removed it, or if it is done or cancelled, nothing about it is uncertain,
//      and no item waits in the dead-letter queue. Any other run that is running or waiting, failed or was interrupted
//      can continue and is never touched, whatever its age.
// GR3. Files are deleted before their directories, and any of them may already be gone: the next round finishes what a
//      crash interrupted.

import { joinPath } from "../../base/path.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../../core/retention.ts";
import { deadLetters } from "../../core/workflow/decide-queue.ts";
import { attemptsOf, type Run, sessionOf } from "../../core/workflow/run.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { RUN } from "../../home/layout.ts";
import { filesOfHistory } from "../../log/checkpoint/keep.ts";
import { listWithin } from "../../log/file/file.ts";
import { listSessions } from "../../log/session/places.ts";
import type { Disk } from "../../world/disk.ts";
import { sized } from "../gc.ts";
import type { Retention } from "../part.ts";
import { attemptSocket } from "./attempt-files.ts";

/** What a holder, its daemon and a step's values leave in the directory of an attempt. */
const RECORD = /^(?:holder|claim|exit)(?:-\d+)?\.json$|^sizes\.jsonl$|^file-\d+$/;
const SEGMENT = /^\d{16}\.seg$/;
const SOCKET = /^w[0-9a-f]{8}-\d+\.sock$/;

export function workflowGarbage(place: HomeWorld, runs: Iterable<Run>, rules: Retention): Chosen[] {
  const { disk, clock } = place;
  const all = [...runs];
  const limits = { ageMs: daysMs(rules.runDays), bytes: rules.runBytes };
  const ended = beyond(endedRuns(place, all), limits, clock.now());
  const taken = new Set(ended.flatMap(({ paths }) => paths));
  const sockets = socketsOfEndedRuns(place, all).map((path) => {
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

/** One entry for each run. */
function endedRuns({ disk, home }: HomeWorld, runs: readonly Run[]): Thing[] {
  return runs.filter(isOverForGood).flatMap((run) => {
    const directory = joinPath(home, sessionOf(run));
    const present = joinPath(directory, "checkpoint.json");
    const paths = [
      ...filesOfHistory(disk, joinPath(directory, "history")),
      ...(run.removed && disk.stat(present) !== undefined ? [present] : []),
      ...attemptFiles(disk, joinPath(directory, "attempts")),
    ];
    if (!paths.some((path) => isRemovable(disk, path))) return [];
    const at = "at" in run.status ? Date.parse(run.status.at) : Number.NaN;
    return [{ ...sized(disk, "what steps of an ended run wrote", paths), at: Number.isNaN(at) ? undefined : at }];
  });
}

/** A directory that holds files of other programs stays, and is not worth a mention. */
function isRemovable(disk: Disk, path: string): boolean {
  return disk.lstat(path)?.kind !== "directory" || disk.list(path).length === 0;
}

/** GR3 */
function attemptFiles(disk: Disk, attempts: string): string[] {
  const numbers = listWithin(disk, attempts).filter((name) => /^\d+$/.test(name));
  const found = numbers.flatMap((number) => {
    const directory = joinPath(attempts, number);
    const tape = joinPath(directory, "tape");
    const segments = listWithin(disk, tape).filter((name) => SEGMENT.test(name));
    const names = listWithin(disk, directory);
    const records = names.filter((name) => RECORD.test(name)).map((name) => joinPath(directory, name));
    const tapes = names.includes("tape") ? [...segments.map((name) => joinPath(tape, name)), tape] : [];
    return [...tapes, ...records, directory];
  });
  return disk.stat(attempts) === undefined ? [] : [...found, attempts];
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
function socketsOfEndedRuns({ disk, home }: HomeWorld, all: readonly Run[]): string[] {
  const open = new Set(all.filter((run) => !isOverForGood(run)).map(({ id }) => prefixOf(home, id)));
  const over = new Set(all.filter(isOverForGood).map(({ id }) => prefixOf(home, id)));
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
