// The checkpoints of runs on disk (UC-4, UC-6): `state/<repo>/sessions/<id>/checkpoint.json`, and older ones in
// `history/`; the items of a long map are beside them (item-pages.ts), shared by all. A run is named by the directory
// of its log, `state/<repo>/sessions/<id>`.
// CS1. A checkpoint is a cached fold at a `seq`. `load` returns the newest valid one: recovery folds the log after it,
//      and `current` does the same for readers beside the daemon. So a damaged file costs only time.
// CS2. Each one that was passed over is reported with its reason: no silent fallback (UC-7).
// CS3. The daemon, `holdfast checkpoints` and the doctor read through it. A file is whole, of other rules (whole, but
//      not used by this version), or bad, with the reason. Only `save` and `delete` write.
// CS4. Of an archived run they are where its directory is (log/session/places.ts); nothing is saved there.

import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { applyWorkflow } from "../core/workflow/apply.ts";
import {
  CHECKPOINT_FACTS,
  type CheckpointReason,
  fromCheckpoint,
  reasonOf,
  toCheckpoint,
  toPagedCheckpoint,
  type WorkflowCheckpoint,
  withItems,
} from "../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../core/workflow/events.ts";
import { type ItemList, PAGE_ITEMS } from "../core/workflow/item-list.ts";
import { type Run, sessionOf } from "../core/workflow/run.ts";
import { filesOfHistory } from "../log/checkpoint/keep.ts";
import type { Generation, Loaded } from "../log/checkpoint/load.ts";
import { type CheckpointProblem, type Expected, type FileReading, readCheckpoint } from "../log/checkpoint/read.ts";
import { CheckpointStore, type Saved, textOf } from "../log/checkpoint/store.ts";
import { DurableDirectories } from "../log/file/durable-directories.ts";
import { removeIfThere } from "../log/file/file.ts";
import { type FoldableLog, foldWhole } from "../log/session/fold-log.ts";
import { sessionPath } from "../log/session/places.ts";
import { type StoredCheckpoint, storedCheckpointOf, workflowEventOf } from "../wire/stored/workflow.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { ITEMS_FILE, ItemPages, type LetGo } from "./item-pages.ts";

/** For those that only read. */
const HISTORY_LIMIT = 20;

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

/** What a fold may begin with. */
export type NewestCheckpoint = {
  /** Undefined if there is none that can be used: the log alone has everything. */
  readonly newest:
    | { readonly saved: WorkflowCheckpoint; readonly run: Run; readonly seq: number; readonly from: string }
    | undefined;
  readonly problems: readonly CheckpointProblem[];
};

/** A run with everything that its log says. */
export type CurrentRun = {
  readonly session: string;
  readonly checkpoint: WorkflowCheckpoint;
  /** The file that the fold began with; null if the log alone gave it. */
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
  readonly #histories: number;
  readonly #letGo: LetGo;
  readonly #stores = new Map<string, CheckpointStore>();
  readonly #pages = new Map<string, ItemPages>();
  readonly #directories: DurableDirectories;

  /** `histories`: how many older ones of a run are kept when it is saved. */
  constructor(place: HomeWorld, histories: number = HISTORY_LIMIT, letGo: LetGo = () => undefined) {
    this.#place = place;
    this.#letGo = letGo;
    this.#histories = histories;
    this.#directories = new DurableDirectories(place.disk, place.home);
  }

  /** `seq` is that of the last event folded into the run. */
  async save(run: Run, reason: CheckpointReason, seq: number): Promise<Result<Saved>> {
    const session = sessionOf(run);
    const checkpoint = toCheckpoint(run, reason, this.#now());
    if (run.items.all.length < PAGE_ITEMS) return this.#store(session).save(contentOf(checkpoint), seq);
    let beside = 0;
    const saved = await this.#store(session).saveMade(async () => {
      const { pages, bytes } = await this.#pagesOf(session).store(run.items);
      beside = bytes;
      return textOf(contentOf(toPagedCheckpoint(run, checkpoint, pages)));
    }, seq);
    return saved.ok ? ok({ ...saved.value, bytes: saved.value.bytes + beside }) : saved;
  }

  /** The newest valid one as it is on disk, without the log (CS1). Refused if a newer version wrote it. */
  load(session: string): Result<NewestCheckpoint> {
    const loaded = this.#store(session).load();
    if (loaded.kind === "refused") return { ok: false, error: loaded.refusal };
    const { problems } = loaded; // CS2
    const found = loaded.kind === "loaded" ? this.#bodyOf(session, loaded) : undefined;
    if (loaded.kind === "none" || found === undefined || !session.endsWith(`/${found.saved.session_id}`))
      return ok({ newest: undefined, problems });
    const { saved, list } = found;
    const { checkpoint, from } = loaded;
    return ok({ newest: { saved, run: fromCheckpoint(saved, list), seq: checkpoint.seq, from }, problems });
  }

  /** CS1 */
  current(log: FoldableLog, session: string): Result<CurrentRun> {
    const loaded = this.load(session);
    if (!loaded.ok) return loaded;
    const { newest, problems } = loaded.value;
    const saved = newest && { state: { run: newest.run, reason: newest.saved.reason }, seq: newest.seq };
    const folded = foldWhole(log, session, { saved, eventOf: workflowEventOf, apply: foldEvent });
    if (folded.trouble !== undefined) return damaged(session, folded.trouble);
    if (folded.state === undefined) return unknown(session);
    const checkpoint = toCheckpoint(folded.state.run, folded.state.reason, this.#now());
    const from = folded.start === undefined ? null : (newest?.from ?? null);
    return ok({ session, checkpoint, from, problems });
  }

  /** The `index`th of `listHistory`, 0 being the newest; as it was then. */
  loadFromHistory(session: string, index: number): Result<WorkflowCheckpoint> {
    const loaded = this.#store(session).loadFromHistory(index);
    if (loaded.kind === "refused") return { ok: false, error: loaded.refusal };
    const found = loaded.kind === "loaded" ? this.#bodyOf(session, loaded) : undefined;
    return found === undefined
      ? refused("unknown", `Run ${idOf(session)} has no such checkpoint.`, "See its history/.")
      : ok(found.saved);
  }

  /** Every file of a run, newest first (CS3). One that should be there and is not counts as bad. */
  files(session: string): CheckpointFile[] {
    return [...this.eachFile(session)];
  }

  /** The same one by one, for those that do other things in between. */
  *eachFile(session: string): Generator<CheckpointFile> {
    const { disk, home } = this.#place;
    const present = joinPath(sessionPath(disk, home, session), "checkpoint.json");
    const older = filesOfHistory(disk, joinPath(sessionPath(disk, home, session), "history"));
    for (const path of disk.stat(present) === undefined && older.length === 0 ? [] : [present, ...older])
      yield {
        path,
        present: path === present,
        bytes: disk.stat(path)?.size ?? 0,
        found: this.#foundIn(session, readCheckpoint(disk, path, this.#expected(session))),
      };
  }

  /** The one that was saved at this `seq`, the present one or an older one; as it was then. */
  loadAt(session: string, seq: number): Result<WorkflowCheckpoint> {
    const older = this.listHistory(session).findIndex((one) => one.valid && one.seq === seq);
    if (older >= 0) return this.loadFromHistory(session, older);
    const loaded = this.load(session);
    const newest = loaded.ok ? loaded.value.newest : undefined;
    if (newest?.seq === seq) return ok(newest.saved);
    const hint =
      "holdfast checkpoints ls shows those there are; holdfast checkpoints verify says what is wrong with one.";
    return refused("unknown", `There is no checkpoint ${seq} that could be used.`, hint);
  }

  /** The seq up to which the log of a run is not needed by its two newest checkpoints; 0 if they are not good. */
  covers(session: string): number {
    return this.#store(session).covers();
  }

  /** The older ones, newest first. */
  listHistory(session: string): Generation[] {
    return this.#store(session).listHistory();
  }

  /** Of a run that is forgotten: its log alone says so from then on. Older ones first, so that none looks newest. */
  delete(session: string): void {
    const { disk, home } = this.#place;
    const directory = joinPath(home, session);
    for (const path of filesOfHistory(disk, joinPath(directory, "history")).reverse()) removeIfThere(disk, path);
    removeIfThere(disk, joinPath(directory, "checkpoint.json"));
    removeIfThere(disk, joinPath(directory, ITEMS_FILE));
    this.forget(session);
  }

  /** Its directory has another name now, or it is not needed for a while. */
  forget(session: string): void {
    this.#stores.delete(session);
    this.#pages.delete(session);
  }

  #now(): string {
    return new Date(this.#place.clock.now()).toISOString();
  }

  #store(session: string): CheckpointStore {
    const { disk, clock, home } = this.#place;
    const known = this.#stores.get(session);
    if (known !== undefined) return known;
    const directory = sessionPath(disk, home, session); // CS4
    const store = new CheckpointStore(disk, clock, {
      home,
      directories: this.#directories,
      path: joinPath(directory, "checkpoint.json"),
      keep: { history: joinPath(directory, "history"), limit: this.#histories },
      ...this.#expected(session),
    });
    this.#stores.set(session, store);
    return store;
  }

  #expected(session: string): Expected {
    return { ...CHECKPOINT_FACTS, pages: (body) => this.#pagesOf(session).trouble(body) };
  }

  #pagesOf(session: string): ItemPages {
    const { disk, home } = this.#place;
    const pages = this.#pages.get(session) ?? new ItemPages(disk, sessionPath(disk, home, session), this.#letGo);
    this.#pages.set(session, pages);
    return pages;
  }

  #bodyOf(session: string, { checkpoint }: Loaded & { kind: "loaded" }): FoundBody | undefined {
    const stored = storedCheckpointOf(checkpoint.body, checkpoint);
    return stored && this.#withItems(session, stored);
  }

  #withItems(session: string, { mapreduce_state: map, ...stored }: StoredCheckpoint): FoundBody {
    if (map === null || !("pages" in map)) return { saved: { ...stored, mapreduce_state: map }, list: undefined };
    const { pages, ...state } = map;
    const list = this.#pagesOf(session).listIn(pages);
    return { saved: { ...stored, mapreduce_state: withItems(state, list) }, list };
  }

  /** CS3 */
  #foundIn(session: string, reading: FileReading): CheckpointFound {
    if (reading.kind === "absent") return { kind: "bad", reason: "it is missing, though older ones are there" };
    if (reading.kind === "newer") return { kind: "bad", reason: `it has the newer version ${reading.version}` };
    if (reading.kind === "bad") return { kind: "bad", reason: reading.problem.reason };
    const { seq, time } = reading.head;
    if (reading.kind === "foreign") return { kind: "other rules", seq, time, reason: reading.problem.reason };
    const stored = storedCheckpointOf(reading.checkpoint.body, reading.head);
    if (stored === undefined) return { kind: "bad", reason: "its content has an unknown shape" };
    return { kind: "whole", seq, time, checkpoint: this.#withItems(session, stored).saved };
  }
}

/** `list`: the items of a map, if they are in pages. */
type FoundBody = { readonly saved: WorkflowCheckpoint; readonly list: ItemList | undefined };

/** Without the fields that the envelope writes. */
function contentOf<C extends Sealed>({ version: _, created_at: _time, integrity_hash: _hash, ...content }: C) {
  return content;
}

type Sealed = Pick<WorkflowCheckpoint, "version" | "created_at" | "integrity_hash">;

type Folded = { readonly run: Run; readonly reason: CheckpointReason };

function foldEvent(before: Folded | undefined, event: WorkflowEvent): Folded {
  return { run: applyWorkflow(before?.run, event), reason: reasonOf(event) ?? before?.reason ?? "BeforeStep" };
}

/** Those of these runs that can go on. */
export function findResumable<R extends Pick<CurrentRun, "checkpoint">>(runs: readonly R[]): R[] {
  return runs.filter(({ checkpoint: { run } }) => !run.removed && !ENDED.includes(run.status.kind));
}

const ENDED: readonly Run["status"]["kind"][] = ["done", "cancelled"];

/** The last word of its path. */
function idOf(session: string): string {
  return session.slice(session.lastIndexOf("/") + 1);
}

function damaged(session: string, trouble: string): Result<never> {
  const id = idOf(session);
  return refused("damaged", `Run ${id} cannot be read: ${trouble}.`, `holdfast log verify ${id.slice(0, 12)}`);
}

function unknown(session: string): Result<never> {
  return refused("unknown", `There is no run ${idOf(session)}.`, "holdfast workflows shows all.");
}
