// The faults planned for a disk: armed by the fuzzer, carried out call by call.
import type { SimDisk } from "../disk.ts";
import type { Call, FaultChoice, Operation } from "../faults.ts";
import { SMALL } from "../log/life.ts";
import type { Death, Step } from "./steps.ts";

const SYNCS = new Set<Operation>(["datasyncBlocking", "startSync", "datasync", "sync", "syncDirectory"]);

export const KILL: Death = { how: "kill", seed: 0, again: { calls: 0, how: "kill" } };
export const POWER_CUT: Death = { ...KILL, how: "power cut" };

type FailSync = Step & { kind: "fail sync" };

export class Trouble {
  /** How the process ends when the crash counter runs out, or after a sync that failed. */
  death: Death = KILL;
  /** A sync has failed: the log, the tape or the checkpoints may have stopped. */
  syncFailed = false;
  /**
   * A directory could not be synced: its file system is not to be trusted until the power was cut (see
   * faults-sync.test.ts).
   */
  namesLost = false;
  private sync: { plan: FailSync; left: number } | undefined;
  private short = { bytes: 0, calls: 0 };
  private interruptions = 0;
  private justInterrupted = false;
  /** Bytes that the next batch may still write. */
  private segment: { left: number } | undefined;

  planFor(disk: SimDisk): void {
    disk.fault = (call) => this.choose(call);
  }

  failSync(plan: FailSync): void {
    this.sync = { plan, left: plan.after };
    this.death = plan.death;
  }

  shortCalls(bytes: number, calls: number): void {
    this.short = { bytes, calls };
  }

  interrupt(calls: number): void {
    this.interruptions = calls;
  }

  fillSegment(bytes: number): void {
    this.segment = { left: bytes };
  }

  private choose(call: Call): FaultChoice | undefined {
    if (SYNCS.has(call.operation)) return this.chooseForSync(call.operation);
    if (call.operation !== "read" && call.operation !== "write" && call.operation !== "open") return undefined;
    if (call.operation === "write" && this.segment !== undefined && isBatch(call))
      return this.chooseForBatch(call.length);
    if (this.interruptions > 0 && !this.justInterrupted) {
      this.interruptions -= 1;
      this.justInterrupted = true;
      return { kind: "fail", code: "EINTR" };
    }
    this.justInterrupted = false;
    if (this.short.calls === 0 || call.length <= this.short.bytes) return undefined;
    this.short.calls -= 1;
    return { kind: "short", bytes: this.short.bytes };
  }

  private chooseForBatch(length: number): FaultChoice | undefined {
    const bytes = Math.min(this.segment?.left ?? 0, length);
    if (bytes === length) return undefined;
    this.segment = bytes === 0 ? undefined : { left: 0 };
    return bytes === 0 ? { kind: "fail", code: "ENOSPC" } : { kind: "short", bytes };
  }

  private chooseForSync(operation: Operation): FaultChoice | undefined {
    if (this.sync === undefined) return undefined;
    const { plan, left } = this.sync;
    this.sync.left -= 1;
    if (left > 0) return undefined;
    this.sync = undefined;
    this.syncFailed = true;
    this.namesLost ||= operation === "syncDirectory" && !plan.reached;
    return { kind: "fail", code: plan.code, reached: plan.reached };
  }
}

/** Entries for certain: the zeros of a new segment are more, and a mark, for which room is kept, is less. */
function isBatch({ path, length }: Call): boolean {
  return path.endsWith(".wal") && length < SMALL.segmentBytes && length >= 2 * SMALL.pageBytes;
}
