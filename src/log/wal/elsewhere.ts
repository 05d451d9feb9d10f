// A second place for the write-ahead log besides the disk: what is acknowledged is durable in both (docs/FLEET.md).
// EW1. `commit` resolves only when the batch is durable there, directly behind the one before. It copies the bytes
//      before it returns.
// EW2. If it fails, nothing may be acknowledged any more: the log stops for good (W3 of wal.ts).
// EW3. While `away`, new work is refused with this reason, and what was given before waits.
import type { Refusal } from "../../base/result.ts";

export interface Elsewhere {
  commit(last: number, frames: Uint8Array): Promise<void>;
  readonly away: Refusal | undefined;
}
