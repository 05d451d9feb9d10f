// A run as an older program left it, whatever the form of its files (wire/old/runs.ts reads them).

import type { Json } from "../../base/json.ts";
import type { MigratedFrom } from "./events.ts";

export type Layout = MigratedFrom["layout"];

/** A step that is recorded as done. */
export type OldStep = {
  /** Its index in the whole file, from 0; -1 if only the command is known. */
  readonly index: number;
  /** null if the record does not have it. */
  readonly id: string | null;
  readonly command: string | null;
  readonly output: string | null;
  readonly variables: Readonly<Record<string, Json>>;
  readonly durationMs: number;
  readonly at: string;
};

export type OldItem = {
  readonly value: Json;
  readonly state: "pending" | "succeeded" | "failed" | "working";
  readonly result: Json;
  readonly message: string | null;
  readonly tries: number;
  readonly at: string;
};

export type OldMap = {
  readonly setupDone: boolean;
  /** Empty if there is no list yet. */
  readonly items: readonly OldItem[];
  readonly reducing: boolean;
};

/** "running": its end is not recorded, so its current step may have been running. */
export type OldStatus = "running" | "failed" | "interrupted" | "cancelled" | "done";

export type OldRun = {
  readonly layout: Layout;
  readonly id: string;
  readonly name: string | null;
  /** The workflow file, if the record names it. */
  readonly path: string | null;
  readonly cwd: string | null;
  readonly status: OldStatus;
  readonly error: string | null;
  readonly retryable: boolean;
  readonly steps: readonly OldStep[];
  /** The current step, and the number of steps, if the record has them. */
  readonly current: number | null;
  readonly total: number | null;
  /** From 1. */
  readonly iteration: number;
  readonly variables: Readonly<Record<string, Json>>;
  readonly map: OldMap | null;
  readonly startedAt: string;
  /** When it was last written: of several records of one run the newest counts. */
  readonly updatedAt: string;
};
