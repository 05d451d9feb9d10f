// The stages of a recovery, as a table (RS-1). No path skips a stage; a failed one returns to itself when the operator
// retries.
import { machine } from "../base/machine.ts";

export type RecoveryStage =
  | "CRASHED"
  | "DETECTING"
  | "INVENTORYING"
  | "RESTORING"
  | "RECONCILING"
  | "LIVE"
  | "DETECTION_FAILED"
  | "INVENTORY_FAILED"
  | "RESTORATION_FAILED"
  | "RECONCILIATION_FAILED";

/** The event is the stage wanted next: the caller names where it wants to be. */
export const recoveryMachine = machine<RecoveryStage, RecoveryStage>({
  name: "recovery",
  initial: "CRASHED",
  table: {
    CRASHED: { DETECTING: "DETECTING" },
    DETECTING: { INVENTORYING: "INVENTORYING", DETECTION_FAILED: "DETECTION_FAILED" },
    INVENTORYING: { RESTORING: "RESTORING", INVENTORY_FAILED: "INVENTORY_FAILED" },
    RESTORING: { RECONCILING: "RECONCILING", RESTORATION_FAILED: "RESTORATION_FAILED" },
    RECONCILING: { LIVE: "LIVE", RECONCILIATION_FAILED: "RECONCILIATION_FAILED" },
    LIVE: { CRASHED: "CRASHED" },
    DETECTION_FAILED: { DETECTING: "DETECTING" },
    INVENTORY_FAILED: { INVENTORYING: "INVENTORYING" },
    RESTORATION_FAILED: { RESTORING: "RESTORING" },
    RECONCILIATION_FAILED: { RECONCILING: "RECONCILING" },
  },
});

/** The next stage of each working stage when it fails, and when it is done. */
export const STAGES = {
  DETECTING: { failed: "DETECTION_FAILED", next: "INVENTORYING" },
  INVENTORYING: { failed: "INVENTORY_FAILED", next: "RESTORING" },
  RESTORING: { failed: "RESTORATION_FAILED", next: "RECONCILING" },
  RECONCILING: { failed: "RECONCILIATION_FAILED", next: "LIVE" },
} as const satisfies Readonly<Record<string, { failed: RecoveryStage; next: RecoveryStage }>>;

export type WorkingStage = keyof typeof STAGES;

export function isWorking(stage: RecoveryStage): stage is WorkingStage {
  return stage in STAGES;
}

/** The working stage that a failure state returns to. */
export function retriedStage(stage: RecoveryStage): WorkingStage | undefined {
  if (stage === "DETECTION_FAILED") return "DETECTING";
  if (stage === "INVENTORY_FAILED") return "INVENTORYING";
  if (stage === "RESTORATION_FAILED") return "RESTORING";
  return stage === "RECONCILIATION_FAILED" ? "RECONCILING" : undefined;
}

/** The outcome for one item, for the report. */
export type Fate = "back as it was" | "restarted" | "needs you" | "could not";
export type ReportItem = {
  readonly what: string;
  readonly id: string;
  readonly name: string;
  readonly fate: Fate;
  readonly reason: string;
  /** The next command to type, if any. */
  readonly next: string;
  /** After a takeover: what of it is on the other host only. */
  readonly left?: readonly string[];
};

const TAKEN_OVER = "taken over from ";

/** Why a program is lost that was begun on another host. */
export function leftOn(host: string): string {
  return `${TAKEN_OVER}${host}, where its program may still run`;
}

/** Whether this is the reason of a program that was begun on another host. */
export function isLeftElsewhere(reason: string): boolean {
  return reason.startsWith(TAKEN_OVER);
}

const REASONS: Readonly<Record<string, string>> = {
  SIGNAL: "killed",
  HEARTBEAT_TIMEOUT: "nobody saw how it ended",
  UNRESPONSIVE: "it did not respond",
};

/** How a program ended, as far as the watchdog saw it; undefined if an older one has not recorded it. */
export function howItEnded({ signal, exitCode, reason }: Readonly<Record<string, unknown>>): string | undefined {
  const why = typeof reason === "string" ? (REASONS[reason] ?? reason) : undefined;
  const end = typeof signal === "string" ? signal : typeof exitCode === "number" ? `exit code ${exitCode}` : undefined;
  return end !== undefined && reason === "UNRESPONSIVE" ? `${why}, then ${end}` : (end ?? why);
}
