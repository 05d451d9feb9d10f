// Where the exercise keeps its things below the directory it is given, and how large each may grow: the same for `run`
// and `verify`.

import { joinPath } from "../../src/base/path.ts";
import { CheckpointStore } from "../../src/log/checkpoint/store.ts";
import type { LogOptions } from "../../src/log/log-options.ts";
import type { TapeLimits } from "../../src/log/tape/tape.ts";
import type { Clock } from "../../src/world/clock.ts";
import type { Disk } from "../../src/world/disk.ts";
import { MAX_TAPE_BYTES } from "./content.ts";

/** Small, so that some hundred events fill every segment, wait for room, and use segments again. */
export const LOG: Partial<LogOptions> = {
  segmentBytes: 32 << 10,
  pageBytes: 4096,
  maxSegments: 3,
  maxQueuedBytes: 12 << 10,
  ballastBytes: 64 << 10,
};

export const WRITERS = 8;

export const TAPE: TapeLimits = { segmentBytes: 4 << 10, maxBytes: 64 << 10 };

/**
 * At least this much of the tape is always kept: whole segments are dropped, and a cut may undo their cause but not
 * restore them.
 */
export const TAPE_KEPT = TAPE.maxBytes - TAPE.segmentBytes - (WRITERS + 1) * MAX_TAPE_BYTES;

export const HISTORY_LIMIT = 3;

export const STORES = ["backup", "history"] as const;
export type StoreName = (typeof STORES)[number];

export function lockPath(home: string): string {
  return joinPath(home, "run/exercise.lock");
}

export function tapePath(home: string): string {
  return joinPath(home, "terminals/recorded/tape");
}

export function storeOf(name: StoreName, place: { disk: Disk; clock: Clock; home: string }): CheckpointStore {
  const { disk, clock, home } = place;
  const facts = { home, kind: `exercise.${name}`, version: 1, fold: 1 };
  const directory = joinPath(home, name === "backup" ? "recovery" : "state/rock/sessions/checkpointed");
  const keep =
    name === "backup"
      ? { backup: `${directory}/checkpoint.backup.json` }
      : { history: `${directory}/history`, limit: HISTORY_LIMIT };
  return new CheckpointStore(disk, clock, { ...facts, path: `${directory}/checkpoint.json`, keep });
}
