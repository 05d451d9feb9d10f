// Workflow events and checkpoints that are read back from disk, given their types again (event.ts has the rules).
import { CHECKPOINT_VERSION, type StoredMapState, type WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { type Item, PAGE_ITEMS } from "../../core/workflow/item-list.ts";
import { isObject } from "../lines.ts";
import { type EventFields, eventOf, missingIn, type StoredEntry } from "./event.ts";

const EVENTS: EventFields<WorkflowEvent> = {
  "workflow.created": [
    ...(["name", "path", "repo", "cwd", "worktree", "environment", "definition"] as const),
    ...(["source_sha256", "parameters", "at"] as const),
  ],
  "workflow.attempt.started": ["attempt", "step", "item", "try", "at"],
  "workflow.attempt.running": ["attempt", "pid", "start_time", "boot_id", "holder", "deadline"],
  "workflow.attempt.handed": ["attempt", "agent", "deadline"],
  "workflow.attempt.waiting": ["attempt", "reason"],
  "workflow.attempt.stop.requested": ["attempt", "reason", "signal", "kill_at"],
  "workflow.attempt.ended": ["attempt", "code", "signal", "error", "output", "output_bytes", "at"],
  "workflow.attempt.uncertain": ["attempt", "reason", "at"],
  "workflow.attempt.resolved": ["attempt", "verdict", "by", "at"],
  "workflow.step.retrying": ["step", "item", "error", "not_before"],
  "workflow.step.handling": ["step", "item", "error", "duration_ms"],
  "workflow.step.ended": ["step", "item", "outcome", "error", "variables", "output", "duration_ms", "at"],
  "workflow.iteration.ended": ["iteration", "again", "at"],
  "workflow.phase.entered": ["phase", "at"],
  "workflow.items.found": ["from", "items", "last", "at"],
  "workflow.item.started": ["item", "at"],
  "workflow.item.ended": ["item", "outcome", "result", "error", "at"],
  "workflow.dlq.retried": ["items", "at"],
  "workflow.dlq.cleared": ["items", "at"],
  "workflow.close.requested": ["as", "at"],
  "workflow.ended": ["state", "error", "at"],
  "workflow.resumed": ["at"],
  "workflow.changed": ["definition", "source_sha256", "kept", "at"],
  "workflow.rolledback": ["records", "items", "phase", "iteration", "index", "at"],
  "workflow.migrated": [
    ...(["source", "part", "parts", "records", "items", "phase", "iteration", "index", "kept"] as const),
    ...(["variables", "complete", "uncertain", "error", "at"] as const),
  ],
  "workflow.removed": [],
};

export function workflowEventOf(entry: StoredEntry): WorkflowEvent | undefined {
  return eventOf<WorkflowEvent>(EVENTS, entry);
}

const CHECKPOINT: readonly (keyof WorkflowCheckpoint)[] = [
  ...(["session_id", "workflow_path", "worktree_path", "state", "completed_steps", "variables"] as const),
  ...(["workflow_type", "mapreduce_state", "reason", "run"] as const),
];

/**
 * The checkpoint in an envelope whose hash was right; undefined if it is of another shape. Version 1 had fields of the
 * envelope in its body as well; those of the envelope count.
 */
export function storedCheckpointOf(
  body: unknown,
  head: { readonly time: string; readonly sha256: string },
): StoredCheckpoint | undefined {
  if (!isObject(body) || missingIn(body, CHECKPOINT) !== undefined) return undefined;
  const seal = { version: CHECKPOINT_VERSION, created_at: head.time, integrity_hash: head.sha256 };
  return { ...(body as unknown as StoredCheckpoint), ...seal };
}

/** The same of one that has all items in place. */
export function workflowCheckpointOf(
  body: unknown,
  head: { readonly time: string; readonly sha256: string },
): WorkflowCheckpoint | undefined {
  const stored = storedCheckpointOf(body, head);
  if (stored === undefined) return undefined;
  const { mapreduce_state: map, ...rest } = stored;
  return map !== null && "pages" in map ? undefined : { ...rest, mapreduce_state: map };
}

/** Before version 3, and of a map without a full page, all items are in place. */
export type StoredCheckpoint = Omit<WorkflowCheckpoint, "mapreduce_state"> & {
  readonly mapreduce_state: WorkflowCheckpoint["mapreduce_state"] | StoredMapState;
};

/** The pages of items in a checkpoint's body; undefined if it has all items in place, or none. */
export function itemPagesIn(body: unknown): StoredMapState["pages"] | undefined {
  const map = isObject(body) ? body["mapreduce_state"] : undefined;
  return isObject(map) && Array.isArray(map["pages"]) ? (map["pages"] as StoredMapState["pages"]) : undefined;
}

/** A page of items, as it was written; undefined if it is of another shape. */
export function itemPageOf(text: string): readonly Item[] | undefined {
  const found: unknown = JSON.parse(text); // Its hash was right: it is JSON.
  if (!Array.isArray(found) || found.length !== PAGE_ITEMS) return undefined;
  return found.every((item) => missingIn(item, ITEM) === undefined) ? (found as readonly Item[]) : undefined;
}

const ITEM: readonly (keyof Item)[] = ["value", "state", "tries"];
