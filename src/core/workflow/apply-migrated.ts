// Folds a part of an older program's record (A1 … A3 of apply.ts).
// AM1. A migrated run is stopped: nothing of it starts before a person resumes it.
// AM2. What may have been running is an uncertain attempt, like a lost one: it runs again only with consent.
import { withAll } from "../../base/table.ts";
import { push, vectorOf } from "../../base/vector.ts";
import { newTrack } from "./apply-items.ts";
import type { Migrated, MigratedItem, MigratedStep } from "./events.ts";
import { eachItem, type Item, withAdded } from "./item-list.ts";
import type { Attempt, Items, Run, Status, StepRecord, Track } from "./run.ts";

export function applyMigrated(before: Run, data: Migrated): Run {
  const { source, part, parts, at } = data;
  let run: Run = { ...before, migrated: { source, part, parts } };
  for (const step of data.records) run = withStep(run, step);
  for (const item of data.items) run = withItem(run, item);
  // AM1
  const status: Status = data.error === null ? { kind: "interrupted", at } : { kind: "failed", error: data.error, at };
  const place = { phase: data.phase, iteration: data.iteration, index: data.index, handler: undefined };
  run = {
    ...run,
    status,
    main: { ...newTrack(undefined, data.phase), place },
    kept: new Set(data.kept),
    point: "after",
  };
  run = { ...run, variables: withAll(run.variables, data.variables) };
  if (part < parts) return run;
  const items = { ...queued(run.items), complete: data.complete };
  return withUncertain({ ...run, items }, run.main, data.uncertain);
}

function withStep(run: Run, { duration_ms, ...step }: MigratedStep): Run {
  const end = { handler: undefined, outcome: "succeeded", error: undefined, durationMs: duration_ms } as const;
  const record: StepRecord = { ...step, ...end };
  return { ...run, records: push(run.records, record), variables: withAll(run.variables, step.variables) };
}

function withItem(run: Run, { value, state, step, result, message, tries, at }: MigratedItem): Run {
  const { items } = run;
  const number = items.all.length;
  const add = (item: Item["state"]) => withAdded(items.all, [{ value, state: item, tries }]);
  if (state === "pending") return { ...run, items: { ...items, all: add({ kind: "pending" }) } };
  if (state === "uncertain") {
    const reason = message ?? "";
    const begun = { ...run, items: { ...items, all: add({ kind: "active" }) } };
    return withUncertain(begun, newTrack(number, "map"), { step, reason });
  }
  const order = items.endings + 1;
  const error = { step, message: message ?? "", exit_code: null, retryable: true };
  const ended: Item["state"] =
    state === "succeeded" ? { kind: "succeeded", result, order, at } : { kind: "failed", error, order, at };
  const counts = { succeeded: items.succeeded + (state === "succeeded" ? 1 : 0), endings: order };
  const failed = items.failed + (state === "failed" ? 1 : 0);
  return { ...run, items: { ...items, all: add(ended), ...counts, failed } };
}

/** AM2 */
function withUncertain(run: Run, track: Track, uncertain: Migrated["uncertain"]): Run {
  if (uncertain === null) return run;
  const { step, reason } = uncertain;
  const attempt: Attempt = {
    id: `${run.id}.${run.attempts + 1}`,
    step,
    try: 1,
    startedAt: run.createdAt,
    deadline: undefined,
    state: { kind: "uncertain", reason, child: undefined },
    stop: undefined,
  };
  const after: Track = { ...track, attempt, tries: 1, since: run.createdAt, lost: 1 };
  const counted = { ...run, attempts: run.attempts + 1 };
  if (track.item === undefined) return { ...counted, main: after };
  return { ...counted, active: new Map(run.active).set(track.item, after) };
}

/** Skipped items come first; `next` is after the last one that was started. */
function queued(items: Items): Items {
  const kinds = [...eachItem(items.all)].map(({ state }) => state.kind);
  const next = kinds.findLastIndex((kind) => kind !== "pending") + 1;
  const again = kinds.flatMap((kind, number) => (kind === "pending" && number < next ? [number] : []));
  return { ...items, next, again: vectorOf(again), againTaken: 0 };
}
