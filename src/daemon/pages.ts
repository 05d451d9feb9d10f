// Answers requests for lists page by page (PG1 of wire/rpc/page.ts).
// PS1. A page ends when it has as many rows as were asked for, before its rows are longer than a page may be, and when
//      so many were looked at. It has at least one row of those that fit, however long that is, or looked at as many as
//      it may: reading always goes on.
// PS2. A row is made when its page is, of what is durable then (U6 of session-store.ts). Rows that stay are neither
//      left out nor repeated while others come and go.
// PS3. A place begins with a letter for where it is: `l` is among the living (those in memory), in the order of their
//      creation. `a` is in the archive, in the order in which they were archived: the number is that of the line in its
//      index. The newest are among the living. One that is archived just while a list is read may be in it twice, or
//      not at all.
import type { Json } from "../log/session/entry.ts";
import type { Page } from "../wire/rpc/page.ts";
import type { Kind, SessionStore } from "./session-store.ts";

export type PageLimits = {
  readonly rows: number;
  /** Of the rows as JSON, in characters. */
  readonly length: number;
  readonly looks: number;
};

/** Far below what a client reads (MAX_ANSWER of wire/lines.ts), and made in some milliseconds: others are waiting. */
export const PAGE_LIMITS: PageLimits = { rows: 1_000, length: 256 << 10, looks: 20_000 };

/** A row, and the place behind it; undefined if it does not fit the request. */
export type Placed<T> = { readonly place: string; readonly row: T | undefined };
/** The rows behind a place, or all. */
export type Source<T> = (after: string | undefined) => Iterable<Placed<T>>;

export type PageWish = { readonly after?: string | undefined; readonly limit?: number | undefined };

/** PS1 */
export function pageOf<T>(source: Source<T>, { after, limit }: PageWish, limits: PageLimits): Page<T> {
  const most = Math.min(limit ?? limits.rows, limits.rows);
  const rows: T[] = [];
  let [length, looks] = [0, 0];
  let next = after ?? null;
  for (const { place, row } of source(after)) {
    length += row === undefined ? 0 : JSON.stringify(row).length;
    if (rows.length === most || looks === limits.looks || (rows.length > 0 && length > limits.length))
      return { rows, next };
    if (row !== undefined) rows.push(row);
    looks += 1;
    next = place;
  }
  return { rows, next: null };
}

/** All rows at once, for older clients (PG3 of wire/rpc/page.ts). */
export function listOf<T>(source: Source<T>): T[] {
  return [...source(undefined)].flatMap(({ row }) => (row === undefined ? [] : [row]));
}

const LIVING = "l ";

/** PS2, PS3. The sessions in memory; `rowOf` returns undefined for one that is not listed. */
export function living<K extends Kind, T>(
  store: SessionStore<K>,
  newest: boolean | undefined,
  rowOf: (state: K["state"]) => T | undefined,
): Source<T> {
  return function* (after) {
    for (const { place, state } of store.inOrder(after?.slice(LIVING.length), newest))
      yield { place: `${LIVING}${place}`, row: rowOf(state) };
  };
}

const ARCHIVED = "a ";

/** The lines of an archive behind an offset (archive.ts). */
type Archived = {
  rows(behind: number | undefined, newest: boolean): Iterable<{ readonly row: Json; readonly offset: number }>;
};

/** PS3. The living and the archived sessions; `rowOf` returns undefined for a row that does not fit. */
export function withArchived<T>(
  alive: Source<T>,
  archive: Archived,
  newest: boolean | undefined,
  rowOf: (row: Json) => T | undefined,
): Source<T> {
  const archived = function* (after: string | undefined): Generator<Placed<T>> {
    const behind = after === undefined ? undefined : Number(after.slice(ARCHIVED.length));
    for (const { row, offset } of archive.rows(behind, newest === true))
      yield { place: `${ARCHIVED}${offset}`, row: rowOf(row) };
  };
  const order = newest === true ? [alive, archived] : [archived, alive];
  return function* (after) {
    const at = after === undefined ? 0 : order.indexOf(after.startsWith(ARCHIVED) ? archived : alive);
    for (const [index, source] of order.entries()) if (index >= at) yield* source(index === at ? after : undefined);
  };
}

/** Rows of a list that is short, and made anew for each page: a place is the number of rows before it. */
export function numbered<T>(rows: () => Iterable<T>): Source<T> {
  return function* (after) {
    const from = Number(after ?? 0);
    let at = 0;
    for (const row of rows()) {
      at += 1;
      if (at > from) yield { place: String(at), row };
    }
  };
}
