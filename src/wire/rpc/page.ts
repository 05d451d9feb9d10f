// Lists over RPC: every answer that grows with the number of anything is given page by page.
// PG1. A page has at most as many rows as were asked for, and ends early before it gets long; the client goes on at
//      `next` until that is null. A page may be empty although there are more.
// PG2. `next` is text that only the daemon understands. It stays valid when rows come and go, and in the next daemon.
// PG3. The daemon filters. A request without a limit, as older clients send it, is answered with one list of all rows
//      that fit. A daemon that is older than this always answers so, and does not filter: its client then does, by the
//      same rule.
// PG4. What is answered or published as a whole, such as a report, has as many rows as there is room for, and says how
//      many `more` there are.
import { ok, type Result } from "../../base/result.ts";
import type { BriefTerminal, Method, Methods } from "./rpc.ts";

export type Page<T> = { readonly rows: readonly T[]; readonly next: string | null };

/** The methods that answer with a page if there is a limit. Of devices there are few. */
export type PagedMethod = Exclude<
  Extract<Method, `${string}.list` | "recovery.aside" | "agent.inbox" | "attention">,
  "dlq.list" | "device.list"
>;
export type Row<M extends PagedMethod> = M extends "terminal.list" ? BriefTerminal : Methods[M]["result"][number];

/** Of rows as JSON, in characters. With the rest of a report they fit into a small file (log/file/json-file.ts). */
const MAX_WHOLE = 512 << 10;

/** PG4. `more` is absent if there are none. */
export function whole<T>(rows: readonly T[]): { readonly items: readonly T[]; readonly more?: number } {
  let length = 0;
  const end = rows.findIndex((row) => {
    length += JSON.stringify(row).length + 1;
    return length > MAX_WHOLE;
  });
  return end < 0 ? { items: rows } : { items: rows.slice(0, end), more: rows.length - end };
}

/** PG4, for rows that are words. */
export function wholeWords(words: readonly string[]): readonly string[] {
  const { items, more } = whole(words);
  return more === undefined ? items : [...items, `${more} more like these`];
}

/** A daemon, or what answers like one. */
export type Asked<M extends PagedMethod> = {
  call(method: M, params: Methods[M]["params"]): Promise<Result<unknown>>;
};

/** More than a page has room for; each page is as long as it may be. */
const ROWS = 10_000;

/** Which rows are wanted. */
export type Filter = {
  readonly name?: string;
  readonly path?: string;
  readonly lane?: string;
  readonly state?: readonly string[];
  /** The beginning of its name or id. */
  readonly starts?: string;
};

type Filtered = {
  readonly id?: string;
  readonly name?: string;
  readonly path?: string;
  readonly lane?: string;
  readonly state?: string | { readonly kind: string };
};

export function fits(row: Filtered, { name, path, lane, state, starts }: Filter): boolean {
  const its = typeof row.state === "object" ? row.state.kind : row.state;
  return (
    (name === undefined || row.name === name) &&
    (path === undefined || row.path === path) &&
    (lane === undefined || row.lane === lane) &&
    (state === undefined || (its !== undefined && state.includes(its))) &&
    (starts === undefined || row.name?.startsWith(starts) === true || row.id?.startsWith(starts) === true)
  );
}

/** Calls `take` with the rows of each page. With a `limit`, there are no more rows than that. */
export async function eachPage<M extends PagedMethod>(
  reader: Asked<NoInfer<M>>,
  method: M,
  params: Methods[M]["params"],
  take: (rows: readonly Row<M>[], next: string | null) => void | Promise<void>,
): Promise<Result<void>> {
  let { limit: left = Number.POSITIVE_INFINITY, after } = params;
  while (left > 0) {
    const page = await reader.call(method, { ...params, after, limit: Math.min(left, ROWS) });
    if (!page.ok) return page;
    const { rows, next } = pageIn<M>(page.value, params);
    const taken = rows.slice(0, left);
    left -= taken.length;
    await take(taken, next);
    if (next === null) break;
    after = next;
  }
  return ok(undefined);
}

/** All rows, for those that need them at once. */
export async function allRows<M extends PagedMethod>(
  reader: Asked<NoInfer<M>>,
  method: M,
  params: Methods[M]["params"],
): Promise<Result<Row<M>[]>> {
  const found: Row<M>[] = [];
  const read = await eachPage(reader, method, params, (rows) => void found.push(...rows));
  return read.ok ? ok(found) : read;
}

/** PG3 */
function pageIn<M extends PagedMethod>(answer: unknown, params: Methods[M]["params"]): Page<Row<M>> {
  if (!Array.isArray(answer)) return answer as Page<Row<M>>;
  const rows = (answer as Row<M>[]).filter((row) => fits(row as Filtered, params as Filter));
  return { rows: "newest" in params && params.newest === true ? rows.reverse() : rows, next: null };
}
