// Workflow events and checkpoints that are read back from disk, given their types again (stored/terminal.ts says why).
import { CHECKPOINT_VERSION, type WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import type { WorkflowEvent } from "../../core/workflow/events.ts";
import { isObject } from "../lines.ts";

type StoredEntry = { readonly session_id: string; readonly event: string; readonly data: unknown };
type Fields<E> = E extends { readonly data: infer D } ? readonly (keyof D & string)[] : never;

/** What each event must have; more may be there. */
const EVENTS: { readonly [E in WorkflowEvent as E["event"]]: Fields<E> } = {
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

/** The event in an entry; undefined where its name is not one of ours. Throws where a field is missing: that session is set aside. */
export function workflowEventOf({ session_id, event, data }: StoredEntry): WorkflowEvent | undefined {
  if (!Object.hasOwn(EVENTS, event)) return undefined;
  const fields: readonly string[] = EVENTS[event as WorkflowEvent["event"]];
  const missing = fields.find((field) => !isObject(data) || !(field in data));
  if (missing !== undefined) throw new Error(`${event} of ${session_id} has no ${missing}`);
  return { event, id: session_id, data } as WorkflowEvent;
}

const CHECKPOINT: readonly (keyof WorkflowCheckpoint)[] = [
  ...(["version", "session_id", "workflow_path", "worktree_path", "state", "completed_steps", "variables"] as const),
  ...(["workflow_type", "mapreduce_state", "created_at", "reason", "run"] as const),
];

/** The checkpoint in the body of an envelope whose hash was right; undefined where it is of another shape. */
export function workflowCheckpointOf(body: unknown, integrity_hash: string): WorkflowCheckpoint | undefined {
  if (!isObject(body) || body["version"] !== CHECKPOINT_VERSION) return undefined;
  if (CHECKPOINT.some((field) => !(field in body))) return undefined;
  return { ...(body as unknown as WorkflowCheckpoint), integrity_hash };
}
