// Chooses one of several checkpoint files, and reports what is wrong with the others (TC-3, TC-8, UC-7).
// G1. The first usable one in the given order wins; each one passed over is reported with its reason: no silent
//     fallback.
// G2. A newer version stops the search: falling back behind it would undo what the newer program did.

import { baseName } from "../../base/path.ts";
import { type Refusal, refused } from "../../base/result.ts";
import type { Disk } from "../../world/disk.ts";
import { type Checkpoint, type CheckpointProblem, type Expected, type FileReading, readCheckpoint } from "./read.ts";

export type Loaded =
  | {
      readonly kind: "loaded";
      readonly checkpoint: Checkpoint;
      readonly from: string;
      readonly problems: CheckpointProblem[];
    }
  | { readonly kind: "none"; readonly problems: CheckpointProblem[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export type Generation =
  | { readonly valid: true; readonly path: string; readonly time: string; readonly seq: number }
  | { readonly valid: false; readonly path: string; readonly reason: string };

export function firstUsable(disk: Disk, paths: readonly string[], expected: Expected): Loaded {
  const problems: CheckpointProblem[] = [];
  for (const path of paths) {
    const reading = readCheckpoint(disk, path, expected);
    if (reading.kind === "usable") return { kind: "loaded", checkpoint: reading.checkpoint, from: path, problems };
    if (reading.kind === "newer")
      return { kind: "refused", refusal: refuseNewer(path, reading.version, expected.version).error }; // G2
    if (reading.kind !== "absent")
      problems.push(reading.problem); // G1
    else if (paths.length > 1)
      problems.push({ path, code: "missing", reason: "it is missing, though older ones are there" });
  }
  return { kind: "none", problems };
}

export function generationOf(path: string, reading: FileReading): Generation {
  if (reading.kind === "usable") return { valid: true, path, time: reading.head.time, seq: reading.head.seq };
  if (reading.kind === "newer") return { valid: false, path, reason: `it has the newer version ${reading.version}` };
  return { valid: false, path, reason: reading.kind === "absent" ? "it is gone" : reading.problem.reason };
}

/** A newer version is neither used nor overwritten. */
export function refuseNewer(
  path: string,
  version: number,
  ours: number,
): { readonly ok: false; readonly error: Refusal } {
  const message = `${baseName(path)} has version ${version}; this program knows versions up to ${ours}`;
  const hint = `Run the newer holdfast that wrote it, or move ${path} away to continue without it. It is not changed.`;
  return refused("NEWER_VERSION", message, hint);
}
