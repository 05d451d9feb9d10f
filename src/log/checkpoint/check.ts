// Checks whether a checkpoint file of any kind is whole: for people who inspect it, not for programs that use it.
import { isFault } from "../../base/fault.ts";
import type { Disk } from "../../world/disk.ts";
import { readWhole } from "../file/file.ts";
import { readEnvelope } from "./envelope.ts";

export type CheckpointFile =
  | { readonly kind: "absent" }
  | { readonly kind: "whole"; readonly time: string }
  | { readonly kind: "bad"; readonly reason: string };

/** Accepts every version: whether a program can use it does not matter here. */
const ANY_VERSION = Number.MAX_SAFE_INTEGER;
const KIND = /^\{"kind":"([a-z0-9.-]{1,64})"/;
const KIND_BYTES = 128;

export function checkCheckpoint(disk: Disk, path: string): CheckpointFile {
  try {
    const bytes = readWhole(disk, path);
    if (bytes === undefined) return { kind: "absent" };
    const kind = KIND.exec(new TextDecoder().decode(bytes.subarray(0, KIND_BYTES)))?.[1] ?? "";
    const reading = readEnvelope(bytes, { kind, version: ANY_VERSION, fold: 0 });
    if (reading.kind === "whole") return { kind: "whole", time: reading.head.time };
    return { kind: "bad", reason: reading.kind === "bad" ? reading.reason : "its form is not known" };
  } catch (error) {
    if (isFault(error)) return { kind: "bad", reason: error.message };
    throw error;
  }
}
