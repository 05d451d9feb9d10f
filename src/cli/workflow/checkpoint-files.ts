// The checkpoint files of a run, read directly from disk, whatever the daemon is doing.
// CF1. A file is whole, made under other rules (whole, but not used by this version), or bad, with the reason.
//      Read-only.

import { joinPath } from "../../base/path.ts";
import { CHECKPOINT_FACTS, type WorkflowCheckpoint } from "../../core/workflow/checkpoint.ts";
import { olderOnes } from "../../log/checkpoint/keep.ts";
import { type FileReading, readCheckpoint } from "../../log/checkpoint/read.ts";
import { workflowCheckpointOf } from "../../wire/stored/workflow.ts";
import type { Disk } from "../../world/disk.ts";

export type CheckpointFile = {
  readonly path: string;
  /** Whether it is the current one, not one of the history. */
  readonly present: boolean;
  readonly bytes: number;
  readonly found: CheckpointFound;
};

export type CheckpointFound =
  | { readonly kind: "whole"; readonly seq: number; readonly time: string; readonly checkpoint: WorkflowCheckpoint }
  | { readonly kind: "other rules"; readonly seq: number; readonly time: string; readonly reason: string }
  | { readonly kind: "bad"; readonly reason: string };

/** Newest first. A missing current checkpoint counts as bad. */
export function checkpointFiles(disk: Disk, home: string, session: string): CheckpointFile[] {
  const directory = joinPath(home, session);
  const present = joinPath(directory, "checkpoint.json");
  const older = olderOnes(disk, { history: joinPath(directory, "history"), limit: 1 });
  const paths = disk.stat(present) === undefined && older.length === 0 ? [] : [present, ...older];
  return paths.map((path) => ({
    path,
    present: path === present,
    bytes: disk.stat(path)?.size ?? 0,
    found: foundIn(readCheckpoint(disk, path, CHECKPOINT_FACTS)),
  }));
}

/** CF1 */
function foundIn(reading: FileReading): CheckpointFound {
  if (reading.kind === "absent") return { kind: "bad", reason: "it is missing, though older ones exist" };
  if (reading.kind === "newer") return { kind: "bad", reason: `it has the newer version ${reading.version}` };
  if (reading.kind === "bad") return { kind: "bad", reason: reading.problem.reason };
  const { seq, time } = reading.head;
  if (reading.kind === "foreign") return { kind: "other rules", seq, time, reason: reading.problem.reason };
  const checkpoint = workflowCheckpointOf(reading.checkpoint.body, reading.checkpoint.sha256);
  if (checkpoint === undefined) return { kind: "bad", reason: "its content has an unknown shape" };
  return { kind: "whole", seq, time, checkpoint };
}
