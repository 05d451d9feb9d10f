// Reads one checkpoint file: its bytes become a usable checkpoint, or a reason why not.
// R1. Bad content is a problem with a reason, never an exception; the file is not changed.
// R2. Old versions are migrated step by step, in memory: reading does not change the original (UC-10).
// R3. A checkpoint made by other rules is whole, but not used: the caller folds the log again.
import { isFault } from "../../base/fault.ts";
import type { Disk } from "../../world/disk.ts";
import { readWhole } from "../file/file.ts";
import { type EnvelopeFacts, type EnvelopeHead, type ProblemCode, readEnvelope } from "./envelope.ts";

/** Migrates a body from one version to the next. */
export type Migration = (body: unknown) => unknown;

export type Expected = EnvelopeFacts & {
  readonly migrations?: Readonly<Record<number, Migration>>;
  /** What is wrong with the pages that a body names (page-file.ts); undefined if nothing is. */
  pages?(body: unknown): string | undefined;
};

/** A fold at `seq`, in the current format; `writtenAs` is the version of the file. */
export type Checkpoint = {
  readonly seq: number;
  readonly time: string;
  readonly fold: number;
  readonly writtenAs: number;
  readonly sha256: string;
  readonly body: unknown;
};

export type CheckpointProblem = { readonly path: string; readonly code: ProblemCode; readonly reason: string };

/** `foreign` is whole but not for us (R3); `bad` cannot be used by any program. */
export type FileReading =
  | { readonly kind: "absent" }
  | { readonly kind: "usable"; readonly head: EnvelopeHead; readonly checkpoint: Checkpoint }
  | { readonly kind: "foreign"; readonly head: EnvelopeHead; readonly problem: CheckpointProblem }
  | { readonly kind: "bad"; readonly problem: CheckpointProblem; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "newer"; readonly version: number };

export function readCheckpoint(disk: Disk, path: string, expected: Expected): FileReading {
  const bytes = readIfReadable(disk, path);
  if (bytes === undefined) return { kind: "absent" };
  if (bytes === "unreadable") return bad(path, "unreadable", "the disk cannot read it", undefined);
  const reading = readEnvelope(bytes, expected);
  if (reading.kind === "newer") return reading;
  if (reading.kind === "bad") return bad(path, reading.code, reading.reason, bytes);
  const { head } = reading;
  if (head.fold !== expected.fold)
    return { kind: "foreign", head, problem: otherRules(path, head.fold, expected.fold) }; // R3
  const body = migrate(reading.body, head.version, expected);
  if (body.kind === "bad") return bad(path, body.code, body.reason, bytes);
  const lost = expected.pages?.(body.body);
  if (lost !== undefined) return bad(path, "bad-pages", lost, bytes);
  const { seq, time, fold, version, sha256 } = head;
  return { kind: "usable", head, checkpoint: { seq, time, fold, writtenAs: version, sha256, body: body.body } };
}

/**
 * A bad sector, or a directory in its place, is damage; a lack of
 * descriptors or permissions is not, and must not look like it.
 */
function readIfReadable(disk: Disk, path: string): Uint8Array | "unreadable" | undefined {
  try {
    return readWhole(disk, path);
  } catch (error) {
    if (isFault(error, "EIO", "EISDIR")) return "unreadable"; // R1
    throw error;
  }
}

type Migrated =
  | { readonly kind: "migrated"; readonly body: unknown }
  | { readonly kind: "bad"; readonly code: ProblemCode; readonly reason: string };

function migrate(original: unknown, from: number, expected: Expected): Migrated {
  let body = original;
  for (let version = from; version < expected.version; version += 1) {
    const step = expected.migrations?.[version];
    const steps = `from version ${version} to ${version + 1}`;
    if (step === undefined) return { kind: "bad", code: "no-migration", reason: `nothing brings it ${steps}` };
    try {
      body = step(body); // R2
    } catch (error) {
      return { kind: "bad", code: "migration-failed", reason: `bringing it ${steps} failed: ${error}` };
    }
  }
  return { kind: "migrated", body };
}

function otherRules(path: string, found: number, ours: number): CheckpointProblem {
  return { path, code: "other-rules", reason: `it was made under other rules (fold ${found}, ours is ${ours})` };
}

function bad(path: string, code: ProblemCode, reason: string, bytes: Uint8Array | undefined): FileReading {
  return { kind: "bad", problem: { path, code, reason }, bytes };
}

export function headOf(reading: FileReading): EnvelopeHead | undefined {
  return reading.kind === "usable" || reading.kind === "foreign" ? reading.head : undefined;
}
