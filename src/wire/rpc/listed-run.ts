// Runs in the form that clients see.

import { type Json, textOf } from "../../base/json.ts";
import { currentStep } from "../../core/workflow/advance.ts";
import type { StepError } from "../../core/workflow/events.ts";
import { itemIn, itemsFrom, PAGE_ITEMS } from "../../core/workflow/item-list.ts";
import { endedSteps, recordAt } from "../../core/workflow/past.ts";
import { progressOf } from "../../core/workflow/progress.ts";
import { type Run, tracksOf } from "../../core/workflow/run.ts";
import { isObject } from "../lines.ts";
import {
  type DeadLetter,
  type DeadLetters,
  ITEM_LETTERS,
  type ItemStates,
  type ListedError,
  type ListedRun,
  type ListedStep,
  type ShownAttempt,
  type ShownItem,
  type ShownRetry,
  type ShownRun,
} from "./workflow.ts";

const MAX_LETTERS = 200;
const MAX_VALUE = 1000;

/** The length of an answer is limited; each record has an error of bounded length. */
const MAX_RECORDS = 200;

/**
 * `trouble`: why a step of it is not started yet, although it was tried. `lacks`: secret parameters to be given again.
 */
export function listedOf(run: Run, trouble?: string, lacks: readonly string[] = [], waitsForSlot = 0): ListedRun {
  const { id, name, path, cwd, repo, createdAt, status, asked, worktree } = run;
  const { state, step, steps, at, iteration, items, needs } = progressOf(run);
  const failed = status.kind === "failed" ? status.error : undefined;
  return {
    id,
    name,
    path,
    cwd,
    repo,
    worktree: worktree === undefined ? null : { path: worktree.path, branch: worktree.branch },
    state,
    step,
    steps,
    startedAt: createdAt,
    at: at ?? null,
    iteration,
    items: items ?? null,
    needs,
    error: failed === undefined ? null : errorOf(id, failed),
    resumed: asked === undefined ? null : { pid: asked.by.pid, user: asked.by.user, at: asked.at },
    ended: endedSteps(run),
    ...("at" in status && { endedAt: status.at }),
    ...(trouble !== undefined && { trouble }),
    ...(lacks.length > 0 && { lacks }),
    ...(waitsForSlot > 0 && { waitsForSlot }),
  };
}

function errorOf(run: string, error: StepError): ListedError {
  const { step, message, exit_code: exitCode } = error;
  return { step, message, exitCode, ...attemptIn(run, error) };
}

function attemptIn(run: string, { attempt }: { readonly attempt?: number | undefined }): { readonly attempt?: string } {
  return attempt === undefined ? {} : { attempt: `${run}.${attempt}` };
}

/** A line of the archive's index is read with many others: an error's message is cut if it is long. */
const MAX_ARCHIVED_MESSAGE = 500;

/** What the archive keeps of a run to show it in lists; `listedIn` reads it. */
export function archivedRow(run: ListedRun): Json {
  const error = run.error && { ...run.error, message: run.error.message.slice(0, MAX_ARCHIVED_MESSAGE) };
  return JSON.parse(JSON.stringify({ ...run, error }));
}

/** Undefined if it is of another kind. */
export function listedIn(row: Json): ListedRun | undefined {
  return isListed(row) ? row : undefined;
}

function isListed(row: unknown): row is ListedRun {
  return isObject(row) && typeof row["id"] === "string" && typeof row["startedAt"] === "string";
}

/** The steps that ended, from number `wanted` on, or from the first one that is kept. */
export function recordsOf(run: Run, wanted: number): Pick<ShownRun, "from" | "records"> {
  const found: ListedStep[] = [];
  const from = Math.max(wanted, run.past.steps);
  const { mode } = run.definition.flow;
  const repeats = mode === "iterative";
  for (let at = from; at < Math.min(endedSteps(run), from + MAX_RECORDS); at += 1) {
    const record = recordAt(run, at);
    if (record === undefined) continue;
    const { step, outcome, durationMs, error, iteration, phase, at: endedAt, tries } = record;
    const place = { ...(repeats && { iteration }), ...(mode === "mapreduce" && { phase }), ...(tries && { tries }) };
    const more = { at: endedAt, ...attemptIn(run.id, { attempt: record.attempt ?? error?.attempt }) };
    found.push({ step, outcome, durationMs, message: error?.message ?? null, ...place, ...more });
  }
  return { from, records: found };
}

/** The states of items are asked for in pieces of this many: as many pages of a list may have to be read again. */
const MAX_STATES = 64 * PAGE_ITEMS;

/** The states of the items from number `from` on. */
export function itemStatesOf({ items }: Run, from: number): ItemStates {
  const end = from + MAX_STATES;
  let states = "";
  for (const { state } of itemsFrom(items.all, from, end)) states += ITEM_LETTERS[state.kind];
  return { from, states, next: end < items.all.length ? end : null };
}

/** The running attempts; `said` returns the last line of an agent's output. */
export function runningOf(run: Run, said: (agent: string) => string): ShownAttempt[] {
  return tracksOf(run).flatMap(({ attempt, item }) => {
    if (attempt?.state.kind !== "running" && attempt?.state.kind !== "handed") return [];
    const { id, step, startedAt, state } = attempt;
    const agent = state.kind === "handed" ? state.agent : null;
    const of = { attempt: id, step, item: item ?? null, startedAt, try: attempt.try };
    return [{ ...of, agent, said: agent === null ? null : said(agent) }];
  });
}

/** As many as there may be workers at most. */
export function retriesOf(run: Run): ShownRetry[] {
  return tracksOf(run).flatMap((track) => {
    const { retryAt: at, tries, item } = track;
    const step = currentStep(run, track)?.id;
    return at === undefined || step === undefined ? [] : [{ step, item: item ?? null, tries, at }];
  });
}

/** One item, whole. */
export function itemOf({ id, items }: Run, item: number): ShownItem | undefined {
  const found = itemIn(items.all, item);
  if (found === undefined) return undefined;
  const { value, state, tries } = found;
  const error = "error" in state ? state.error : undefined;
  return {
    item,
    value,
    state: state.kind,
    tries,
    error: error === undefined ? null : errorOf(id, error),
    at: "at" in state ? state.at : null,
  };
}

/** The dead-letter queue, from item number `from` on. */
export function deadLettersOf({ id, items }: Run, from: number): DeadLetters {
  const letters: DeadLetter[] = [];
  for (let item = from; item < items.all.length; item += 1) {
    const found = itemIn(items.all, item);
    if (found?.state.kind !== "failed") continue;
    if (letters.length === MAX_LETTERS) return { letters, next: item };
    const { step, message } = found.state.error;
    const value = textOf(found.value).slice(0, MAX_VALUE);
    const { at, error } = found.state;
    letters.push({ item, value, tries: found.tries, step, message, at, ...attemptIn(id, error) });
  }
  return { letters, next: null };
}
