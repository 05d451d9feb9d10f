// The settings of a log, and their defaults.
import type { SegmentOptions } from "./wal/segments.ts";

export type LogOptions = SegmentOptions & {
  /** How much may wait to become durable before `append` refuses. */
  readonly maxQueuedBytes: number;
  readonly ballastBytes: number;
  /** How long a session's file may become before the next lines begin a new one (SG1 of log-segments.ts). */
  readonly sessionBytes: number;
};

export const DEFAULT_OPTIONS: LogOptions = {
  segmentBytes: 8 << 20,
  pageBytes: 4096,
  frameBytes: 4096,
  maxSegments: 8,
  maxQueuedBytes: 8 << 20,
  ballastBytes: 16 << 20,
  sessionBytes: 4 << 20,
};
