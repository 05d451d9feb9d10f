// A run as clients see it.
import { itemAt } from "../../base/vector.ts";
import { textOf } from "../../core/workflow/json.ts";
import { progressOf } from "../../core/workflow/progress.ts";
import type { Run } from "../../core/workflow/run.ts";
import type { DeadLetter, DeadLetters, ListedRun, ListedStep } from "../../wire/workflow-rpc.ts";

const MOST_LETTERS = 200;
const MOST_VALUE = 1000;

/** An answer has a limit, and each record an error of bounded length. */
const MOST_RECORDS = 200;

export function listedOf(run: Run): ListedRun {
  const { id, name, path, cwd, repo, createdAt, status, records } = run;
  const { state, step, steps, at, iteration, items, needs } = progressOf(run);
  const failed = status.kind === "failed" ? status.error : undefined;
  return {
    id,
    name,
    path,
    cwd,
    repo,
    state,
    step,
    steps,
    startedAt: createdAt,
    at: at ?? null,
    iteration,
    items: items ?? null,
    needs,
    error: failed === undefined ? null : { step: failed.step, message: failed.message, exitCode: failed.exit_code },
    ended: records.length,
  };
}

/** The steps that ended, from number `from` on. */
export function recordsOf({ records }: Run, from: number): ListedStep[] {
  const found: ListedStep[] = [];
  for (let at = from; at < Math.min(records.length, from + MOST_RECORDS); at += 1) {
    const record = itemAt(records, at);
    if (record === undefined) continue;
    const { step, outcome, durationMs, error } = record;
    found.push({ step, outcome, durationMs, message: error?.message ?? null });
  }
  return found;
}

/** The dead-letter queue, from item number `from` on. */
export function deadLettersOf({ items }: Run, from: number): DeadLetters {
  const letters: DeadLetter[] = [];
  for (let item = from; item < items.all.length; item += 1) {
    const found = itemAt(items.all, item);
    if (found?.state.kind !== "failed") continue;
    if (letters.length === MOST_LETTERS) return { letters, next: item };
    const { step, message } = found.state.error;
    const value = textOf(found.value).slice(0, MOST_VALUE);
    letters.push({ item, value, tries: found.tries, step, message, at: found.state.at });
  }
  return { letters, next: null };
}
