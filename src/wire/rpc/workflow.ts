// What the daemon answers about workflow runs. Fields are added, never changed (params.ts has what each method takes).

import type { Json } from "../../base/json.ts";
import type { CheckpointReason } from "../../core/workflow/checkpoint.ts";
import type { StepChange } from "../../core/workflow/decide-versions.ts";
import type { Phase } from "../../core/workflow/definition.ts";
import type { MigratedFrom, StepOutcome } from "../../core/workflow/events.ts";
import type { ItemState } from "../../core/workflow/item-list.ts";
import type { ItemProgress, Need } from "../../core/workflow/progress.ts";
import type { UndoneStep } from "../../core/workflow/rollback.ts";
import type { RunState } from "../../core/workflow/run.ts";
import { isObject } from "../lines.ts";
import type { Params } from "./params.ts";

export type RunParams = Params<"workflow.run">;
export type MigrateParams = Params<"workflow.migrate"> & { readonly dryRun: boolean };

export type ListedRun = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cwd: string;
  readonly repo: string;
  /** Its own, if it has one. */
  readonly worktree: { readonly path: string; readonly branch: string } | null;
  readonly state: RunState;
  /** The current step, from 1, and how many there are; a map counts as one. */
  readonly step: number;
  readonly steps: number;
  readonly startedAt: string;
  /** That step's id; null in a map and after the last one. */
  readonly at: string | null;
  readonly iteration: number;
  readonly items: ItemProgress | null;
  /** Attempts that wait for a person's decision. */
  readonly needs: readonly Need[];
  /** Why a step is not started yet, although it was tried; it is tried again. */
  readonly trouble?: string;
  /** Secret parameters that are not known any more, and are asked for when it is resumed. */
  readonly lacks?: readonly string[];
  /** How many of its steps wait for a free slot (`[workflows] slots`). */
  readonly waitsForSlot?: number;
  /** Why it failed. */
  readonly error: ListedError | null;
  /** Who resumed it last, and when; null if nobody did. */
  readonly resumed: { readonly pid: number; readonly user: string; readonly at: string } | null;
  /** How many steps have ended, in all iterations. */
  readonly ended: number;
  /** When it ended or stopped; absent while it goes on. */
  readonly endedAt?: string;
};

/** `attempt`: the one that failed, if it is known. */
export type ListedError = {
  readonly step: string;
  readonly message: string;
  readonly exitCode: number | null;
  readonly attempt?: string;
};

/** A step that ended. */
export type ListedStep = {
  readonly step: string;
  readonly outcome: StepOutcome;
  readonly durationMs: number;
  readonly message: string | null;
  /** From 1; absent unless the workflow repeats its steps. */
  readonly iteration?: number;
  /** How often it was tried; absent if once. */
  readonly tries?: number;
  /** When it ended. */
  readonly at?: string;
  /** The last attempt of it, if it is known. */
  readonly attempt?: string;
  /** Where it is in the file; absent unless the workflow has a map. */
  readonly phase?: Phase;
};

/**
 * A run, and the steps that ended from number `from` on; as many as fit into an answer. `from` is not the one that was
 * asked for if that step is not kept any more.
 */
export type ShownRun = ListedRun & {
  readonly from: number;
  readonly records: readonly ListedStep[];
  /** The running ones. */
  readonly attempts: readonly ShownAttempt[];
  /** Steps that failed and wait to be tried again. */
  readonly retries?: readonly ShownRetry[];
};

export type ShownRetry = {
  readonly step: string;
  readonly item: number | null;
  /** How often it was tried. */
  readonly tries: number;
  readonly at: string;
};

export type ShownAttempt = {
  readonly attempt: string;
  readonly step: string;
  readonly item: number | null;
  readonly startedAt: string;
  readonly try?: number;
  /** The agent that works on it, and the last line of its text; null if a program runs it, which writes to its tape. */
  readonly agent: string | null;
  readonly said: string | null;
};

/** What a rollback undid, or would undo. `more` is the number of steps that did not fit, or are not kept any more. */
export type RolledBackRun = {
  readonly run: ListedRun;
  readonly steps: readonly UndoneStep[];
  readonly more: number;
  readonly items: number;
};

/** An item that failed for good. */
export type DeadLetter = {
  readonly item: number;
  /** As a text, cut if it is long. */
  readonly value: string;
  readonly tries: number;
  readonly step: string;
  readonly message: string;
  readonly at: string;
  /** The attempt that failed, if it is known. */
  readonly attempt?: string;
};

/** A letter for each state of an item, so that a map of many is a short answer. */
export const ITEM_LETTERS = {
  pending: "p",
  active: "a",
  succeeded: "s",
  failed: "f",
  cleared: "c",
} as const satisfies Readonly<Record<ItemState["kind"], string>>;

/** The states of the items from number `from` on, a letter each; `next` is where the rest begins, or null. */
export type ItemStates = { readonly from: number; readonly states: string; readonly next: number | null };

/** One item with all its fields, even if it is in no queue. */
export type ShownItem = {
  readonly item: number;
  readonly value: Json;
  readonly state: ItemState["kind"];
  readonly tries: number;
  /** What it failed with; null if it did not. */
  readonly error: ListedError | null;
  /** Null if it has not ended. */
  readonly at: string | null;
};

/** The items from number `from` on, as many as fit into an answer; `next` is where the rest begins, or null. */
export type DeadLetters = { readonly letters: readonly DeadLetter[]; readonly next: number | null };

/** One run that was found, and what was done with it. */
export type MigratedRun = {
  readonly layout: MigratedFrom["layout"];
  readonly path: string;
  /** Its id in the older program, and the name of its workflow. */
  readonly old: string;
  readonly name: string | null;
  /** `would`: with --dry-run. `before`: an earlier migration took it over. `older`: another record is newer. `over`:
   *  it has ended. */
  readonly fate: "migrated" | "would" | "before" | "older" | "over" | "could not";
  /** The run that it has become. */
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
  /** How many more there are (PG4 of page.ts); those that could not be migrated come first then. */
  readonly more?: number;
};

export type SavedCheckpoint = {
  /** The run. */
  readonly id: string;
  readonly path: string;
  readonly seq: number;
  readonly reason: CheckpointReason;
};

export type WorkflowResults = {
  "workflow.run": ListedRun;
  "workflow.list": readonly ListedRun[];
  "workflow.find": ListedRun;
  "workflow.show": ShownRun;
  "workflow.items": ItemStates;
  "workflow.interrupt": ListedRun;
  "workflow.cancel": ListedRun;
  "workflow.remove": ListedRun;
  "workflow.resume": ListedRun;
  "workflow.checkpoint": SavedCheckpoint;
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

/** For a value that is known to be JSON. */
export function isJsonTable(value: unknown): value is Readonly<Record<string, Json>> {
  return isObject(value);
}
