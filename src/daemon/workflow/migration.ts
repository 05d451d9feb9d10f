// Takes over runs that an older program began (UC-10): by `holdfast migrate`, and automatically those in this home.
// MI1. Only the log decides: a run is migrated when its last part is durable. An interrupted migration starts again,
//      and nothing is taken over twice, because a run's id is derived from its old one.
// MI2. Originals are only read. A run that cannot be taken over is listed with its reason and the next command, and
//      does not affect the others.
// MI3. If something was taken over, a report is written: recovery/migrations/<time>.json.

import { isFault } from "../../base/fault.ts";
import { newId } from "../../base/ids.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Refusal, type Result } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import { isHalf } from "../../core/workflow/decide-migrate.ts";
import { type MigrationPlan, planMigration } from "../../core/workflow/migrate.ts";
import type { OldRun } from "../../core/workflow/migrate-old.ts";
import { progressOf } from "../../core/workflow/progress.ts";
import { type Run, stateOf } from "../../core/workflow/run.ts";
import { MIGRATIONS, STATE } from "../../home/layout.ts";
import { writeSmall } from "../../home/small-file.ts";
import { isArchivedName } from "../../log/session/places.ts";
import type { MigratedRun, MigrateParams, MigrationReport } from "../../wire/rpc/workflow.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";
import { findOldFiles, type OldRecord, readOldFiles } from "./old-files.ts";
import { repoOf } from "./repo.ts";
import type { WorkflowStore } from "./store.ts";
import { workflowOf } from "./workflow-files.ts";

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export type MigrationPorts = {
  readonly rules: EnvironmentRules;
  say(words: string): void;
  onBug(error: unknown): void;
  /** A run that is archived. */
  archived(id: string): Run | undefined;
};

type Facts = Pick<MigratedRun, "layout" | "path" | "old" | "name">;

export class MigrationOfRuns {
  readonly #place: HomeWorld;
  readonly #store: WorkflowStore;
  readonly #ports: MigrationPorts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: HomeWorld, store: WorkflowStore, ports: MigrationPorts) {
    this.#place = place;
    this.#store = store;
    this.#ports = ports;
  }

  /** One at a time; a disk failure is a Fault. */
  migrate(wish: MigrateParams): Promise<MigrationReport> {
    const done = this.#last.then(() => this.#migrate(wish));
    this.#last = done.catch((error: unknown) => error); // The caller gets the error; the next call runs regardless.
    return done;
  }

  /** Takes over what older programs left in this home when it is first used. */
  async firstAccess(env: MigrateParams["env"]): Promise<void> {
    const { say, onBug } = this.#ports;
    try {
      const directory = joinPath(this.#place.home, STATE);
      const { migrated, items } = await this.migrate({
        directory,
        workflows: [],
        env,
        dryRun: false,
      });
      const left = items.filter(({ fate }) => fate === "could not").length;
      if (migrated + left > 0)
        say(`runs of an older program: ${migrated} migrated, ${left} not. See: holdfast migrate`);
    } catch (error) {
      if (isFault(error)) say(`nothing was migrated: ${error.message}. ${error.hint}`);
      else onBug(error);
    }
  }

  async #migrate(wish: MigrateParams): Promise<MigrationReport> {
    const { disk, clock, home } = this.#place;
    const { directory, dryRun } = wish;
    const files = findOldFiles(disk, directory, (name) => isArchivedName(name) || this.#store.states.has(name));
    const { runs, bad } = onlyOf(readOldFiles(disk, files), wish.only);
    const items = bad.map(unreadable);
    for (const [newest, ...others] of runs) {
      if (newest === undefined) continue;
      items.push(await this.#one(newest, wish), ...others.map((record) => knowsLess(record, newest)));
    }
    const at = new Date(clock.now()).toISOString();
    const report = { at, directory, dryRun, migrated: items.filter(({ fate }) => fate === "migrated").length, items };
    const name = `${MIGRATIONS}/${at.replaceAll(/[:.]/g, "-")}.json`;
    if (report.migrated > 0) await writeSmall(disk, home, name, JSON.stringify(report)); // MI3
    return report;
  }

  async #one(record: OldRecord, wish: MigrateParams): Promise<MigratedRun> {
    if (!record.read.ok) return unreadable(record);
    const old = record.read.value;
    const facts = factsOf(record, old);
    const id = idOf(old);
    const known = this.#store.states.get(id) ?? this.#ports.archived(id);
    if (known !== undefined && !isHalf(known)) return before(facts, record, known);
    if (old.status === "done" || old.status === "cancelled")
      return untouched(facts, "over", `it is ${old.status}: there is nothing to go on with`);
    const plan = await this.#plan(record, old, wish);
    if (!plan.ok) return couldNot(facts, plan.error);
    const { notes } = plan.value;
    if (wish.dryRun) return { ...untouched(facts, "would", "it can be migrated"), run: id, notes };
    const taken = await this.#submit(id, plan.value);
    if (!taken.ok) return couldNot(facts, taken.error);
    const now = { run: id, state: stateOf(taken.value), next: `holdfast resume ${id.slice(0, 8)}` };
    return { ...facts, ...now, fate: "migrated", reason: standsAt(taken.value), notes };
  }

  async #plan(record: OldRecord, old: OldRun, { workflows, env }: MigrateParams): Promise<Result<MigrationPlan>> {
    const { disk } = this.#place;
    const file = await workflowOf(disk, old, workflows);
    if (!file.ok) return file;
    const { path, definition, sourceSha256, directory } = file.value;
    const cwd = old.cwd !== null && disk.stat(old.cwd)?.kind === "directory" ? old.cwd : directory;
    return planMigration(old, {
      source: { layout: old.layout, path: record.file.path, id: old.id, sha256: record.sha256 },
      path,
      repo: repoOf(disk, cwd),
      cwd,
      worktree: null,
      environment: keepEnvironment(env, this.#ports.rules).kept,
      definition,
      source_sha256: sourceSha256,
    });
  }

  /** MI1 */
  async #submit(id: string, { created, parts }: MigrationPlan): Promise<Result<Run>> {
    for (const part of parts) {
      const taken = await this.#store.submit({ kind: "migrate", id, created, part });
      if (!taken.ok) return taken;
    }
    const run = this.#store.states.get(id);
    return run === undefined ? { ok: false, error: NOTHING } : ok(run);
  }
}

/** The records of one run, by its id in the older program; all of them without one. */
function onlyOf(found: ReturnType<typeof readOldFiles>, only: string | undefined): ReturnType<typeof readOldFiles> {
  if (only === undefined) return found;
  const isMeant = ({ file, read }: OldRecord) => file.id === only || (read.ok && read.value.id === only);
  return { runs: found.runs.filter((same) => same.some(isMeant)), bad: found.bad.filter(isMeant) };
}

const NOTHING: Refusal = { code: "nothing", message: "There is nothing in it.", hint: "This is a mistake of ours." };

/** MI1: the same run has the same id, however often and from whatever place it is migrated. */
function idOf({ id }: OldRun): string {
  return newId(Uint8Array.fromHex(sha256(`holdfast migrate\n${id}`).slice(0, 32)));
}

function standsAt(run: Run): string {
  const { step, steps, items, needs } = progressOf(run);
  const counted = items === undefined ? "" : `, ${items.succeeded + items.failed} of ${items.total} items ended`;
  const asks = needs.length === 0 ? "" : "; it asks first whether that has happened";
  return `it continues at step ${step} of ${steps}${counted}${asks}`;
}

function factsOf({ file }: OldRecord, { layout, id, name }: OldRun): Facts {
  return { layout, path: file.path, old: id, name };
}

function untouched(facts: Facts, fate: MigratedRun["fate"], reason: string): MigratedRun {
  return { ...facts, fate, run: null, state: null, reason, notes: [], next: null };
}

function couldNot(facts: Facts, { message, hint }: Refusal): MigratedRun {
  return { ...untouched(facts, "could not", message), next: hint };
}

/** MI2 */
function unreadable({ file, read }: OldRecord): MigratedRun {
  const facts = { layout: file.layout, path: file.path, old: file.id, name: null };
  return couldNot(facts, read.ok ? NOTHING : read.error);
}

function before(facts: Facts, { sha256: sum }: OldRecord, run: Run): MigratedRun {
  const { source } = run.migrated ?? {};
  const same = source?.sha256 === sum ? "" : `; that was ${source?.path}, or it has changed since: it was left alone`;
  return { ...untouched(facts, "before", `it was migrated before${same}`), run: run.id, state: stateOf(run) };
}

function knowsLess(record: OldRecord, newest: OldRecord): MigratedRun {
  if (!record.read.ok) return unreadable(record);
  return untouched(factsOf(record, record.read.value), "older", `${newest.file.path} knows more of the same run`);
}
