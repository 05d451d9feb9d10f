// The checkpoints of runs on disk (UC-4, UC-6): `state/<repo>/sessions/<id>/checkpoint.json`, and older ones in
// `history/`.
// CS1. A checkpoint is a cached fold at a `seq`. `load` gives the newest valid one with the log after it folded in;
//      where none is valid, the log alone has everything. So it is never behind, and a damaged file costs time only.
// CS2. What was passed over, and why, comes along: no silent fallback (UC-7).
// CS3. It is what the daemon, `holdfast checkpoints` and the doctor read. A file is whole, of other rules (whole, and
//      not used by this version), or bad, with the reason. Only `save` and `delete` write.

import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { applyWorkflow } from "../core/workflow/apply.ts";
import {
  CHECKPOINT_FACTS,
  type CheckpointReason,
  fromCheckpoint,
  reasonOf,
  toCheckpoint,
  type WorkflowCheckpoint,
} from "../core/workflow/checkpoint.ts";
import type { Run } from "../core/workflow/run.ts";
import type { Generation, Loaded } from "../log/checkpoint/load.ts";
import { type CheckpointProblem, type FileReading, readCheckpoint } from "../log/checkpoint/read.ts";
import { CheckpointStore, type Saved } from "../log/checkpoint/store.ts";
import { DurableDirectories } from "../log/file/durable-directories.ts";
import type { Entry } from "../log/session/entry.ts";
import { listSessions } from "../log/session/places.ts";
import { workflowCheckpointOf, workflowEventOf } from "../wire/stored/workflow.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";

/** Enough to see how a run came to where it is; each is a whole file. */
const HISTORY_LIMIT = 20;

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };
type Reading = { readonly kind: "entry"; readonly entry: Entry } | { readonly kind: string };
/** The entries of a session after this seq; more may come, and are passed over. */
export type ReadLog = (session: string, after: number) => Iterable<Reading>;

export type LoadedRun = {
  readonly checkpoint: WorkflowCheckpoint;
  /** The file it began with; null where the log alone gave it. */
  readonly from: string | null;
  readonly problems: readonly CheckpointProblem[];
};

export type CheckpointFile = {
  readonly path: string;
  /** Whether it is the present one, and not one of the history. */
  readonly present: boolean;
  readonly bytes: number;
  readonly found: CheckpointFound;
};

export type CheckpointFound =
  | { readonly kind: "whole"; readonly seq: number; readonly time: string; readonly checkpoint: WorkflowCheckpoint }
  | { readonly kind: "other rules"; readonly seq: number; readonly time: string; readonly reason: string }
  | { readonly kind: "bad"; readonly reason: string };

export class CheckpointStorage {
  readonly #place: HomeWorld;
  readonly #read: ReadLog;
  readonly #stores = new Map<string, CheckpointStore>();
  readonly #directories: DurableDirectories;

  constructor(place: HomeWorld, read: ReadLog) {
    this.#place = place;
    this.#directories = new DurableDirectories(place.disk, place.home);
    this.#read = read;
  }

  /** `seq` is that of the last event folded into the run. */
  save(run: Run, reason: CheckpointReason, seq: number): Promise<Result<Saved>> {
    const at = new Date(this.#place.clock.now()).toISOString();
    return this.#store(`state/${run.repo}/sessions/${run.id}`).save(toCheckpoint(run, reason, at), seq);
  }

  /** CS1 */
  load(id: string): Result<LoadedRun> {
    const session = this.#sessionOf(id);
    return session === undefined ? unknown(id) : this.loadSession(session);
  }

  /** The same by the directory of its log. */
  loadSession(session: string): Result<LoadedRun> {
    const loaded = this.#store(session).load();
    return loaded.kind === "refused" ? { ok: false, error: loaded.refusal } : this.#withTail(session, loaded);
  }

  /** The newest valid one as it is on disk, without the log: what a fold may begin with (CS1, CS2). */
  base(session: string): { readonly base: Base | undefined; readonly problems: readonly string[] } {
    const loaded = this.#store(session).load();
    if (loaded.kind === "refused") return { base: undefined, problems: [loaded.refusal.message] };
    const problems = loaded.problems.map(({ path, reason }) => `${path}: ${reason}`);
    return { base: loaded.kind === "loaded" ? baseOf(loaded) : undefined, problems };
  }

  /** The `index`th of `listHistory`, 0 being the newest; as it was then. */
  loadFromHistory(id: string, index: number): Result<WorkflowCheckpoint> {
    const session = this.#sessionOf(id);
    const loaded = session === undefined ? undefined : this.#store(session).loadFromHistory(index);
    if (loaded?.kind === "refused") return { ok: false, error: loaded.refusal };
    const found = loaded?.kind === "loaded" ? bodyOf(loaded) : undefined;
    return found === undefined
      ? refused("unknown", `Run ${id} has no such checkpoint.`, "See its history/.")
      : ok(found);
  }

  /** Every file of a run, newest first (CS3). One that should be there and is not counts as bad. */
  files(session: string): CheckpointFile[] {
    const { disk, home } = this.#place;
    const present = joinPath(joinPath(home, session), "checkpoint.json");
    const older = this.#store(session).listHistory();
    const paths =
      disk.stat(present) === undefined && older.length === 0 ? [] : [present, ...older.map(({ path }) => path)];
    return paths.map((path) => ({
      path,
      present: path === present,
      bytes: disk.stat(path)?.size ?? 0,
      found: foundIn(readCheckpoint(disk, path, CHECKPOINT_FACTS)),
    }));
  }

  /** The one that was saved at this `seq`, the present one or an older one; as it was then. */
  loadAt(id: string, seq: number): Result<WorkflowCheckpoint> {
    const older = this.listHistory(id).findIndex((one) => one.valid && one.seq === seq);
    if (older >= 0) return this.loadFromHistory(id, older);
    const session = this.#sessionOf(id);
    if (session === undefined) return unknown(id);
    const loaded = this.#store(session).load();
    const found = loaded.kind === "loaded" && loaded.checkpoint.seq === seq ? bodyOf(loaded) : undefined;
    if (found !== undefined) return ok(found);
    const hint =
      "holdfast checkpoints ls shows those there are; holdfast checkpoints verify says what is wrong with one.";
    return refused("unknown", `There is no checkpoint ${seq} that could be used.`, hint);
  }

  /** The older ones, newest first. */
  listHistory(id: string): Generation[] {
    const session = this.#sessionOf(id);
    return session === undefined ? [] : this.#store(session).listHistory();
  }

  /** Removes the files; the log stays, and has everything. */
  async delete(id: string): Promise<boolean> {
    const session = this.#sessionOf(id);
    return session !== undefined && this.#store(session).delete();
  }

  /** Every run that can go on; with `path`, only those of this workflow file (UC-7). */
  findResumable(path?: string): WorkflowCheckpoint[] {
    const sessions = listSessions(this.#place.disk, this.#place.home).filter((one) => one.startsWith("state/"));
    const loaded = sessions.map((session) => this.loadSession(session));
    const checkpoints = loaded.flatMap((one) => (one.ok ? one.value.checkpoint : []));
    return checkpoints.filter((one) => isResumable(one) && (path === undefined || one.workflow_path === path));
  }

  #withTail(session: string, loaded: Exclude<Loaded, { kind: "refused" }>): Result<LoadedRun> {
    const base = loaded.kind === "loaded" ? baseOf(loaded) : undefined;
    const { run, reason } = this.#foldTail(session, base);
    if (run === undefined) return unknown(session.slice(session.lastIndexOf("/") + 1));
    const at = new Date(this.#place.clock.now()).toISOString();
    // CS2
    return ok({ checkpoint: toCheckpoint(run, reason, at), from: base?.from ?? null, problems: loaded.problems });
  }

  #foldTail(session: string, base: Base | undefined): { run: Run | undefined; reason: CheckpointReason } {
    let run = base && fromCheckpoint(base.saved);
    let reason: CheckpointReason = base?.saved.reason ?? "BeforeStep";
    const after = base?.seq ?? 0;
    for (const reading of this.#read(session, after)) {
      const event = "entry" in reading && reading.entry.seq > after ? workflowEventOf(reading.entry) : undefined;
      if (event === undefined) continue;
      run = applyWorkflow(run, event);
      reason = reasonOf(event) ?? reason;
    }
    return { run, reason };
  }

  #sessionOf(id: string): string | undefined {
    const { disk, home } = this.#place;
    return listSessions(disk, home).find((session) => session.startsWith("state/") && session.endsWith(`/${id}`));
  }

  #store(session: string): CheckpointStore {
    const { disk, clock, home } = this.#place;
    const known = this.#stores.get(session);
    if (known !== undefined) return known;
    const directory = joinPath(home, session);
    const store = new CheckpointStore(disk, clock, {
      home,
      directories: this.#directories,
      path: joinPath(directory, "checkpoint.json"),
      keep: { history: joinPath(directory, "history"), limit: HISTORY_LIMIT },
      ...CHECKPOINT_FACTS,
    });
    this.#stores.set(session, store);
    return store;
  }
}

/** CS3 */
function foundIn(reading: FileReading): CheckpointFound {
  if (reading.kind === "absent") return { kind: "bad", reason: "it is missing, though older ones are there" };
  if (reading.kind === "newer") return { kind: "bad", reason: `it has the newer version ${reading.version}` };
  if (reading.kind === "bad") return { kind: "bad", reason: reading.problem.reason };
  const { seq, time } = reading.head;
  if (reading.kind === "foreign") return { kind: "other rules", seq, time, reason: reading.problem.reason };
  const checkpoint = workflowCheckpointOf(reading.checkpoint.body, reading.checkpoint.sha256);
  if (checkpoint === undefined) return { kind: "bad", reason: "its content has an unknown shape" };
  return { kind: "whole", seq, time, checkpoint };
}

/** What the fold begins with. */
export type Base = { readonly saved: WorkflowCheckpoint; readonly seq: number; readonly from: string };

function baseOf(loaded: Loaded & { kind: "loaded" }): Base | undefined {
  const saved = bodyOf(loaded);
  return saved && { saved, seq: loaded.checkpoint.seq, from: loaded.from };
}

function bodyOf(loaded: Loaded & { kind: "loaded" }): WorkflowCheckpoint | undefined {
  return workflowCheckpointOf(loaded.checkpoint.body, loaded.checkpoint.sha256);
}

/** Whether its run can go on. */
export function isResumable({ run: { removed, status } }: WorkflowCheckpoint): boolean {
  return !removed && status.kind !== "done" && status.kind !== "cancelled";
}

function unknown(id: string): Result<never> {
  return refused("unknown", `There is no run ${id}.`, "holdfast workflows shows all.");
}
