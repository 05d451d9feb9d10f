// The items of a map, in pages. A page that is on disk beside the checkpoints can be let go from memory; it is read
// again when it is needed.
// IL1. A list never changes (A2 of apply.ts): adding or replacing returns a new one that shares all other pages.
// IL2. Letting a page go does not change what a list says: reading it gives the same items, or throws.
// IL3. A page is full, except the last. One on which nothing is being worked is at rest: it is worth writing down.
import { assert } from "../../base/assert.ts";
import type { Json } from "../../base/json.ts";
import { itemAt, itemsOf, push, replace, type Vector, vectorOf } from "../../base/vector.ts";
import type { StepError } from "./events.ts";

export type ItemState =
  | { readonly kind: "pending" }
  | { readonly kind: "active" }
  /** `order`: its position in the order of endings. */
  | { readonly kind: "succeeded"; readonly result: Json; readonly order: number; readonly at: string }
  | { readonly kind: "failed"; readonly error: StepError; readonly order: number; readonly at: string }
  /** Removed from the dead-letter queue: it counts as failed, and is not asked about again. */
  | { readonly kind: "cleared"; readonly error: StepError; readonly order: number; readonly at: string };

export type Item = { readonly value: Json; readonly state: ItemState; readonly tries: number };

/** Short enough to be copied for each change, long enough that a list of pages is short. */
export const PAGE_ITEMS = 64;

/** `ref` names the page in its file. */
export type StoredPage = { readonly ref: string; read(): readonly Item[] };

/** The one thing in a state that is replaced in place (IL2). */
export type ItemPage = {
  content:
    | { readonly kind: "held"; readonly items: readonly Item[] }
    | { readonly kind: "stored"; readonly page: StoredPage };
};

export type ItemList = { readonly length: number; readonly pages: Vector<ItemPage> };

export const EMPTY_LIST: ItemList = { length: 0, pages: vectorOf() };

export function listOf(items: readonly Item[]): ItemList {
  return withAdded(EMPTY_LIST, items);
}

/** All but the last of them are full (IL3). */
export function listOfPages(pages: readonly ItemPage[]): ItemList {
  const last = pages.at(-1)?.content;
  const rest = last?.kind === "held" ? last.items.length : PAGE_ITEMS;
  return last === undefined ? EMPTY_LIST : { length: (pages.length - 1) * PAGE_ITEMS + rest, pages: vectorOf(pages) };
}

export function heldPage(items: readonly Item[]): ItemPage {
  return { content: { kind: "held", items } };
}

export function storedPage(page: StoredPage): ItemPage {
  return { content: { kind: "stored", page } };
}

export function itemsOn({ content }: ItemPage): readonly Item[] {
  return content.kind === "held" ? content.items : content.page.read();
}

export function pagesOf(list: ItemList): readonly ItemPage[] {
  return list.length === 0 ? [] : itemsOf(list.pages);
}

/** IL3 */
export function isAtRest(items: readonly Item[]): boolean {
  return items.length === PAGE_ITEMS && items.every(({ state }) => state.kind !== "active");
}

export function itemIn(list: ItemList, number: number): Item | undefined {
  const page = itemAt(list.pages, Math.floor(number / PAGE_ITEMS));
  return page && itemsOn(page)[number % PAGE_ITEMS];
}

/** As many as there are: for those that need all at once. */
export function allItems(list: ItemList): readonly Item[] {
  return pagesOf(list).flatMap(itemsOn);
}

/** One page after the other, so that no more than one is in memory. */
export function* eachItem(list: ItemList): Generator<Item> {
  for (const page of pagesOf(list)) yield* itemsOn(page);
}

/** Those from number `from` on and before `end`, page after page like `eachItem`. */
export function* itemsFrom(list: ItemList, from: number, end: number): Generator<Item> {
  for (let at = from; at < Math.min(end, list.length); ) {
    const page = itemAt(list.pages, Math.floor(at / PAGE_ITEMS));
    if (page === undefined) return;
    const some = itemsOn(page).slice(at % PAGE_ITEMS, (at % PAGE_ITEMS) + end - at);
    yield* some;
    at += some.length;
  }
}

export function withItem(list: ItemList, number: number, item: Item): ItemList {
  const at = Math.floor(number / PAGE_ITEMS);
  const page = itemAt(list.pages, at);
  assert(page !== undefined && number < list.length, `a replaced item exists: ${number} of ${list.length}`);
  return { ...list, pages: replace(list.pages, at, heldPage(itemsOn(page).with(number % PAGE_ITEMS, item))) };
}

export function withAdded(list: ItemList, items: readonly Item[]): ItemList {
  let { length, pages } = list;
  for (let from = 0; from < items.length; ) {
    const on = length % PAGE_ITEMS;
    const some = items.slice(from, from + PAGE_ITEMS - on);
    const last = itemAt(pages, pages.length - 1);
    if (on === 0 || last === undefined) pages = push(pages, heldPage(some));
    else pages = replace(pages, pages.length - 1, heldPage([...itemsOn(last), ...some]));
    from += some.length;
    length += some.length;
  }
  return { length, pages };
}

/** Pages on which nothing changes stay as they are. */
export function mapItems(list: ItemList, change: (item: Item) => Item): ItemList {
  const pages = pagesOf(list).map((page) => {
    const before = itemsOn(page);
    const after = before.map(change);
    return after.every((item, at) => item === before[at]) ? page : heldPage(after);
  });
  return { length: list.length, pages: vectorOf(pages) };
}
