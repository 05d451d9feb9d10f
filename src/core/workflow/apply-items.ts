// Folds the events of a map's items (A1 … A3 of apply.ts).
import { push, vectorOf } from "../../base/vector.ts";
import type { Phase } from "./definition.ts";
import type * as e from "./events.ts";
import { EMPTY_LIST, type Item, type ItemState, itemIn, withAdded, withItem } from "./item-list.ts";
import type { Items, Run, Track } from "./run.ts";

export const NO_ITEMS: Items = {
  all: EMPTY_LIST,
  complete: false,
  next: 0,
  again: vectorOf(),
  againTaken: 0,
  source: undefined,
  succeeded: 0,
  failed: 0,
  endings: 0,
};

/** Shared by all items that wait. */
const PENDING: ItemState = { kind: "pending" };

export function newTrack(item: number | undefined, phase: Phase): Track {
  return {
    item,
    place: { phase, iteration: 1, index: 0, handler: undefined },
    attempt: undefined,
    tries: 0,
    retryAt: undefined,
    since: undefined,
    lost: 0,
    handling: undefined,
    failed: undefined,
    variables: {},
    output: null,
  };
}

export function applyItems(run: Run, event: e.WorkflowEvent): Run | undefined {
  if (event.event === "workflow.items.found") return { ...run, items: found(run.items, event.data), point: "before" };
  if (event.event === "workflow.item.started") return started(run, event.data.item);
  if (event.event === "workflow.item.ended") return ended(run, event.data);
  if (event.event === "workflow.dlq.retried") return { ...run, items: retried(run.items, event.data.items) };
  if (event.event === "workflow.dlq.cleared") return { ...run, items: cleared(run.items, event.data.items) };
  return undefined;
}

function found(items: Items, { items: values, last }: e.ItemsFound): Items {
  const all = withAdded(
    items.all,
    values.map((value) => ({ value, state: PENDING, tries: 0 })),
  );
  return { ...items, all, complete: last };
}

function started(run: Run, number: number): Run {
  const { items } = run;
  const item = itemIn(items.all, number);
  if (item === undefined) throw new Error(`item ${number} was started, and there is none`);
  const all = withItem(items.all, number, { ...item, state: { kind: "active" }, tries: item.tries + 1 });
  const isNext = number === items.next;
  const taken = { next: isNext ? items.next + 1 : items.next, againTaken: items.againTaken + (isNext ? 0 : 1) };
  const active = new Map(run.active).set(number, newTrack(number, "map"));
  return { ...run, active, items: { ...items, all, ...taken } };
}

function ended(run: Run, { item: number, outcome, result, error, at }: e.ItemEnded): Run {
  const { items } = run;
  const order = items.endings + 1;
  const state: ItemState =
    error === null ? { kind: "succeeded", result, order, at } : { kind: "failed", error, order, at };
  const active = new Map(run.active);
  active.delete(number);
  const succeeded = items.succeeded + (outcome === "succeeded" ? 1 : 0);
  const failed = items.failed + (outcome === "failed" ? 1 : 0);
  const all = withState(items.all, number, state);
  return { ...run, active, items: { ...items, all, succeeded, failed, endings: order }, point: "after" };
}

function withState(all: Items["all"], number: number, state: ItemState): Items["all"] {
  const item: Item | undefined = itemIn(all, number);
  return item === undefined ? all : withItem(all, number, { ...item, state });
}

function retried(items: Items, numbers: readonly number[]): Items {
  let { all, again } = items;
  for (const number of numbers) {
    all = withState(all, number, PENDING);
    again = push(again, number);
  }
  return { ...items, all, again, failed: items.failed - numbers.length };
}

function cleared(items: Items, numbers: readonly number[]): Items {
  let { all } = items;
  for (const number of numbers) {
    const state = itemIn(all, number)?.state;
    if (state?.kind === "failed") all = withState(all, number, { ...state, kind: "cleared" });
  }
  return { ...items, all };
}
