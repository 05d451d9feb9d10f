// What the daemon answers about workflow runs. Fields are added, never changed (params.ts has what each method takes).
import type { Json } from "../../base/json.ts";
import type { StepChange } from "../../core/workflow/decide-versions.ts";
import type { MigratedFrom, StepOutcome } from "../../core/workflow/events.ts";
import type { ItemProgress, Need } from "../../core/workflow/progress.ts";
import type { UndoneStep } from "../../core/workflow/rollback.ts";
import type { ItemState, RunState } from "../../core/workflow/run.ts";
import { isObject } from "../lines.ts";
import type { Params } from "./params.ts";

export type RunParams = Params<"workflow.run">;
export type MigrateParams = Required<Params<"workflow.migrate">>;

export type ListedRun = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cwd: string;
  readonly repo: string;
  /** Its own, where it has one. */
  readonly worktree: { readonly path: string; readonly branch: string } | null;
  readonly state: RunState;
  /** The step it is at, from 1, of so many; a map counts as one. */
  readonly step: number;
  readonly steps: number;
  readonly startedAt: string;
  /** That step's id; null in a map and behind the last one. */
  readonly at: string | null;
  readonly iteration: number;
  readonly items: ItemProgress | null;
  /** Attempts that a person has to decide about, or that wait for one. */
  readonly needs: readonly Need[];
  /** Why it failed. */
  readonly error: { readonly step: string; readonly message: string; readonly exitCode: number | null } | null;
  /** Who last made it go on, and when; null where nobody had to. */
  readonly resumed: { readonly pid: number; readonly user: string; readonly at: string } | null;
  /** How many steps have ended, in all iterations. */
  readonly ended: number;
};

/** A step that ended. */
export type ListedStep = {
  readonly step: string;
  readonly outcome: StepOutcome;
  readonly durationMs: number;
  readonly message: string | null;
};

/** A run, and the steps that ended from number `from` on; as many as fit an answer. */
export type ShownRun = ListedRun & {
  readonly from: number;
  readonly records: readonly ListedStep[];
  /** Those that run now. */
  readonly attempts: readonly ShownAttempt[];
};

export type ShownAttempt = {
  readonly attempt: string;
  readonly step: string;
  readonly item: number | null;
  readonly startedAt: string;
  /** The agent that works on it, and the last line that it said; null where it has a program of its own, which writes to its tape. */
  readonly agent: string | null;
  readonly said: string | null;
};

/** What a rollback undid, or would: `more` steps are not named, where they would not fit an answer. */
export type RolledBackRun = {
  readonly run: ListedRun;
  readonly steps: readonly UndoneStep[];
  readonly more: number;
  readonly items: number;
};

/** An item that failed for good. */
export type DeadLetter = {
  readonly item: number;
  /** As a text, cut where it is long. */
  readonly value: string;
  readonly tries: number;
  readonly step: string;
  readonly message: string;
  readonly at: string;
};

/** One item, whole: also one that is in no queue. */
export type ShownItem = {
  readonly item: number;
  readonly value: Json;
  readonly state: ItemState["kind"];
  readonly tries: number;
  /** What it failed with; null where it did not. */
  readonly error: { readonly step: string; readonly message: string; readonly exitCode: number | null } | null;
  /** Null where it has not ended. */
  readonly at: string | null;
};

/** Those from item number `from` on, as many as fit an answer; `next` is where the rest begins, null where there is none. */
export type DeadLetters = { readonly letters: readonly DeadLetter[]; readonly next: number | null };

/** What was found of one run, and what became of it. */
export type MigratedRun = {
  readonly layout: MigratedFrom["layout"];
  readonly path: string;
  /** What the older program calls it, and its workflow. */
  readonly old: string;
  readonly name: string | null;
  /** `would`: with --dry-run. `before`: it is there since an earlier migration. `older`: another record knows more. `over`: it has ended. */
  readonly fate: "migrated" | "would" | "before" | "older" | "over" | "could not";
  /** The run it is now. */
  readonly run: string | null;
  readonly state: RunState | null;
  readonly reason: string;
  readonly notes: readonly string[];
  readonly next: string | null;
};

export type MigrationReport = {
  readonly at: string;
  readonly directory: string;
  readonly dryRun: boolean;
  readonly migrated: number;
  readonly items: readonly MigratedRun[];
};

export type WorkflowResults = {
  "workflow.run": ListedRun;
  "workflow.list": readonly ListedRun[];
  "workflow.show": ShownRun;
  "workflow.interrupt": ListedRun;
  "workflow.cancel": ListedRun;
  "workflow.resume": ListedRun;
  "workflow.rollback": RolledBackRun;
  "workflow.changes": readonly StepChange[];
  "workflow.change": ListedRun;
  "workflow.migrate": MigrationReport;
  "workflow.resolve": ListedRun;
  "dlq.list": DeadLetters;
  "dlq.show": ShownItem;
  "dlq.retry": ListedRun;
  "dlq.clear": ListedRun;
};

/** What came over the wire is JSON; whether it is a table has to be asked. */
export function isJsonTable(value: unknown): value is Readonly<Record<string, Json>> {
  return isObject(value);
}
