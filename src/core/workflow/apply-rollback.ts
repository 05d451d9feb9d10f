// Folds a rollback: what a run was when fewer of its steps and items had ended, from what it has kept of each.
// B1. Nothing is read from a file: the log alone says what a run is, before and after a rollback.
// B2. Numbers of attempts keep rising, so that no holder of the undone time can be mistaken for a new one.
// B3. If the steps before that time are not kept any more, the event has the variables after them.
import { tableOf } from "../../base/table.ts";
import { itemsOf, vectorOf } from "../../base/vector.ts";
import { NO_ITEMS, newTrack } from "./apply-items.ts";
import type { RolledBack } from "./events.ts";
import { eachItem, type Item, mapItems } from "./item-list.ts";
import { variablesAfter } from "./past.ts";
import type { Items, Past, Run } from "./run.ts";

export function applyRollback(run: Run, data: RolledBack): Run {
  const { items, phase, iteration, index, kept = [], at } = data;
  const past = pastAt(run, data);
  const records = itemsOf(run.records).slice(0, Math.max(0, data.records - run.past.steps));
  const main = newTrack(undefined, phase);
  return {
    ...run,
    status: { kind: "interrupted", at },
    past,
    records: vectorOf(records),
    variables: variablesAfter(past.variables, records),
    main: { ...main, place: { ...main.place, iteration, index } },
    active: new Map(),
    items: phase === "map" || phase === "reduce" ? itemsBack(run.items, items) : NO_ITEMS,
    kept: new Set(kept),
    point: "after",
  };
}

/** PS3 of past.ts */
function pastAt({ past, attempts }: Run, { records, variables }: RolledBack): Past {
  const after = { ...past, mark: past.attempts, rolledBack: attempts };
  return variables === undefined ? after : { ...after, steps: records, variables: tableOf(variables) }; // B3
}

function itemsBack(items: Items, endings: number): Items {
  const all = mapItems(items.all, (item) => itemBack(item, endings));
  const states = [...eachItem(all)].map(({ state }) => state.kind);
  return {
    ...items,
    all,
    again: vectorOf(states.flatMap((kind, number) => (kind === "pending" && number < items.next ? [number] : []))),
    againTaken: 0,
    succeeded: states.filter((kind) => kind === "succeeded").length,
    failed: states.filter((kind) => kind === "failed" || kind === "cleared").length,
  };
}

function itemBack(item: Item, endings: number): Item {
  const { state } = item;
  const stays = state.kind === "pending" || (state.kind !== "active" && state.order <= endings);
  return stays ? item : { ...item, state: { kind: "pending" } };
}
