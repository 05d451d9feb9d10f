// Writes the checkpoint of all terminals: `recovery/checkpoint.json`; the previous one is kept as
// `recovery/checkpoint.backup.json`.
// W1. The store (log/checkpoint/store.ts) does the writing: serialized, hashed, under a temporary name, synced, read
//     back, renamed, the directory synced; stale temporary files are removed; a file of a newer version is refused, not
//     overwritten (TC-2, TC-4).
// W2. A large checkpoint is still written; the warning is repeated only when the size has doubled, so that it is not
//     ignored (TC-5).

import { joinPath } from "../../base/path.ts";
import { ok, type Result } from "../../base/result.ts";
import {
  CHECKPOINT_BACKUP,
  CHECKPOINT_FACTS,
  CHECKPOINT_FILE,
  type CheckpointSession,
  estimateSize,
  LARGE_CHECKPOINT_BYTES,
} from "../../core/terminal/checkpoint.ts";
import { type CheckpointOptions, CheckpointStore, type Saved } from "../../log/checkpoint/store.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";

export type CheckpointPlace = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

/** The records are observations and not folded from events, so they have no `seq`. */
const NO_SEQ = 0;

export function checkpointOptions(home: string): CheckpointOptions {
  const keep = { backup: joinPath(home, CHECKPOINT_BACKUP) };
  return { ...CHECKPOINT_FACTS, home, path: joinPath(home, CHECKPOINT_FILE), keep };
}

export class CheckpointWriter {
  readonly #home: string;
  readonly #store: CheckpointStore;
  readonly #say: (words: string) => void;
  #largeFrom = LARGE_CHECKPOINT_BYTES;

  constructor({ disk, clock, home }: CheckpointPlace, say: (words: string) => void) {
    this.#home = home;
    this.#store = new CheckpointStore(disk, clock, checkpointOptions(home));
    this.#say = say;
  }

  getCheckpointPath(): string {
    return joinPath(this.#home, CHECKPOINT_FILE);
  }

  /**
   * Durable once it resolves with `ok`; refused if a file of a newer version exists (W1). A disk failure is a Fault.
   */
  async write(sessions: readonly CheckpointSession[]): Promise<Result<Saved>> {
    this.#warn(estimateSize(sessions.length, sessions), "will have about");
    const saved = await this.#store.save({ sessions }, NO_SEQ);
    if (!saved.ok) return saved;
    this.#warn(saved.value.bytes, "has");
    return ok(saved.value);
  }

  /** W2 */
  #warn(bytes: number, verb: string): void {
    if (bytes <= this.#largeFrom) return;
    this.#largeFrom = 2 * bytes;
    const limit = Math.round(LARGE_CHECKPOINT_BYTES / 1_048_576);
    const size = `${Math.round(bytes / 1_048_576)} MB, more than ${limit}`;
    const next = "lower scrollback_bytes in [checkpoint], or remove terminals (holdfast rm)";
    this.#say(`the checkpoint of the terminals ${verb} ${size}. Next: ${next}`);
  }
}
