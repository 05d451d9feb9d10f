// A map's list: from what was read to the items, in order, and in pages that fit a transaction.
// I1. The list is made once and kept by its reader: the same content gives the same items, page by page, even after a
//     crash.
// I2. Items are never all in memory as values, only as texts, unless they are sorted or a path leads to them.

import { follow, isList, type Json, parseJson, parsePath, textOf } from "../../base/json.ts";
import { listParts } from "../../base/json-list.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Definition, MapPhase, Sort } from "./definition.ts";
import { asNumber, evaluate, type Scope } from "./evaluate.ts";
import { parseExpression } from "./expression.ts";
import { bytesIn, ITEMS_PAGE, MAX_ITEM, MAX_ITEMS } from "./limits.ts";
import type { Run } from "./run.ts";
import { scopeOf } from "./scope.ts";
import { asRefusal, fillText, holds } from "./template.ts";

const TEXT = new TextDecoder();
const NEWLINE = 10;

/** What a map's input gave: the text of a file or a command, or the paths that a glob found. */
export type Listing =
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  | { readonly kind: "paths"; readonly paths: readonly string[] };

/** Where the list is, with its `${…}` filled; undefined for a list that a command wrote. */
export function inputPlace(run: Run): Result<{ readonly kind: "file" | "glob"; readonly path: string } | undefined> {
  const map = mapOf(run.definition);
  if (map === undefined || map.input.kind === "command") return ok(undefined);
  const path = fillText(map.input.kind === "file" ? map.input.path : map.input.pattern, scopeOf(run, run.main));
  if (!path.ok) return path;
  const full = path.value.startsWith("/") ? path.value : `${run.cwd}/${path.value}`;
  return ok({ kind: map.input.kind, path: full });
}

function mapOf({ flow }: Definition): MapPhase | undefined {
  return flow.mode === "mapreduce" ? flow.map : undefined;
}

/** The items from number `from` on, as JSON texts of a page each: a long list takes little room like this (I2). */
export function itemPages(run: Run, listing: Listing, from: number): Result<readonly string[]> {
  const map = mapOf(run.definition);
  if (map === undefined) return refused("no-map", "The workflow has no map.", "This is a bug in Holdfast.");
  const paged = (parts: Parts) => pagesOf(parts, { run, map, from });
  if (listing.kind === "paths") return paged([[...listing.paths].sort()]) ?? NO_LIST;
  const { bytes } = listing;
  const list = map.json_path === undefined ? paged(listParts(bytes)) : undefined;
  if (list !== undefined) return list;
  const found = listAt(TEXT.decode(bytes), map.json_path);
  if (!found.ok) return found;
  return paged(found.value === "lines" ? linesIn(bytes) : [found.value]) ?? NO_LIST;
}

const NO_LIST = refused("no-list", "There is no list in the input.", "Set its place with json_path.");

/** JSON, in which the path leads to a list; without a path also one item per line. */
function listAt(text: string, json_path: string | undefined): Result<readonly Json[] | "lines"> {
  const value = parseJson(text);
  if (json_path === undefined && !(value.ok && text.trim().startsWith("{"))) return ok("lines");
  if (!value.ok) return refused("not-json", "The input is not JSON.", "Leave out json_path to use lines.");
  const path = parsePath(json_path ?? "$");
  if (!path.ok) return path;
  const found = follow(value.value, path.value);
  if (isList(found)) return ok(found);
  return refused("no-list", `There is no list at ${json_path ?? "$"} in the input.`, "Set its place with json_path.");
}

/** One after the other; undefined if there is no list after all (JL2 of base/json-list.ts). */
type Parts = Iterable<readonly Json[] | undefined>;

function pagesOf(
  parts: Parts,
  { run, map, from }: { readonly run: Run; readonly map: MapPhase; readonly from: number },
): Result<readonly string[]> | undefined {
  const scope = (item: Json, at: number): Scope => ({
    look: (name) => (name === "item" ? item : name === "item_index" ? at : scopeOf(run, run.main).look(name)),
  });
  const pages = new PageTexts(from, map.max_items);
  const unsorted: Json[] = [];
  let at = 0;
  for (const part of parts) {
    if (part === undefined) return undefined;
    const wanted = kept(part, at, map.filter, scope);
    if (!wanted.ok) return wanted;
    at += part.length;
    for (const item of wanted.value) map.sort === undefined ? pages.add(item) : unsorted.push(item);
  }
  const ordered = map.sort === undefined ? ok([]) : sorted(unsorted, map.sort, scope);
  if (!ordered.ok) return ordered;
  for (const item of ordered.value) pages.add(item);
  return pages.all();
}

function* linesIn(bytes: Uint8Array): Generator<readonly string[]> {
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    const line = TEXT.decode(bytes.subarray(from, end));
    if (line.trim() !== "") yield [line.replace(/\r$/, "")];
    from = end + 1;
  }
}

type ScopeOfItem = (item: Json, at: number) => Scope;

/** `first` is the number of the first of these items. */
function kept(
  items: readonly Json[],
  first: number,
  filter: string | undefined,
  scope: ScopeOfItem,
): Result<readonly Json[]> {
  if (filter === undefined) return ok(items);
  const found: Json[] = [];
  for (const [at, item] of items.entries()) {
    const holding = holds(filter, scope(item, first + at));
    if (!holding.ok) {
      const { code, message, hint } = holding.error;
      return refused(code, `The filter fails for item ${first + at}: ${message}`, hint);
    }
    if (holding.value) found.push(item);
  }
  return ok(found);
}

/** Numbers by size, everything else as text; equal items keep their order. */
function sorted(items: readonly Json[], { by, descending }: Sort, scope: ScopeOfItem): Result<readonly Json[]> {
  const expression = parseExpression(by);
  if (!expression.ok) return { ok: false, error: asRefusal(expression.error) };
  const keyed: { readonly item: Json; readonly key: Json }[] = [];
  for (const [at, item] of items.entries()) {
    const key = evaluate(expression.value, scope(item, at));
    if (!key.ok) return refused(key.error.code, `Item ${at} cannot be sorted: ${key.error.message}`, key.error.hint);
    keyed.push({ item, key: key.value });
  }
  const sign = descending ? -1 : 1;
  return ok(keyed.sort((a, b) => sign * compared(a.key, b.key)).map(({ item }) => item));
}

function compared(a: Json, b: Json): number {
  const [x, y] = [asNumber(a), asNumber(b)];
  if (x !== undefined && y !== undefined) return x - y;
  return textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0;
}

/** Each item is taken once, as text (I2). */
class PageTexts {
  readonly #from: number;
  readonly #most: number;
  readonly #pages: string[] = [];
  #page: string[] = [];
  #bytes = 0;
  #count = 0;
  #large: number | undefined;

  constructor(from: number, most = Number.POSITIVE_INFINITY) {
    this.#from = from;
    this.#most = most;
  }

  add(item: Json): void {
    if (this.#count >= this.#most) return;
    const number = this.#count;
    this.#count += 1;
    if (number < this.#from || number >= MAX_ITEMS) return;
    const text = JSON.stringify(item);
    const bytes = bytesIn(text);
    if (bytes > MAX_ITEM) this.#large ??= number;
    if (this.#page.length > 0 && this.#bytes + bytes >= ITEMS_PAGE) this.#close();
    this.#page.push(text);
    this.#bytes += bytes + 1; // With a comma.
  }

  #close(): void {
    this.#pages.push(`[${this.#page.join(",")}]`);
    this.#page = [];
    this.#bytes = 0;
  }

  all(): Result<readonly string[]> {
    const [count, large] = [this.#count, this.#large];
    if (count > MAX_ITEMS)
      return refused("too-many", `There are ${count} items.`, `At most ${MAX_ITEMS} are allowed: set max_items.`);
    const hint = `At most ${MAX_ITEM} characters are allowed: use the path of a file.`;
    if (large !== undefined) return refused("too-long", `Item ${large} is too long.`, hint);
    this.#close();
    return ok(this.#pages);
  }
}
