// A map's list: from what was read to the items, in order, and in pages that fit a transaction.
// I1. The list is made once and kept by its reader: the same content gives the same items, page by page, even after a
//     crash.

import { follow, isList, type Json, parseJson, parsePath, textOf } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Definition, MapPhase, Sort } from "./definition.ts";
import { asNumber, evaluate, type Scope } from "./evaluate.ts";
import { parseExpression } from "./expression.ts";
import { MAX_ITEMS, MAX_ITEMS_PAGE, sizeOf } from "./limits.ts";
import type { Run } from "./run.ts";
import { scopeOf } from "./scope.ts";
import { asRefusal, fillText, holds } from "./template.ts";

/** What a map's input gave: the text of a file or a command, or the paths that a glob found. */
export type Listing =
  | { readonly kind: "text"; readonly text: string }
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

export function readItems(run: Run, listing: Listing): Result<readonly Json[]> {
  const map = mapOf(run.definition);
  if (map === undefined) return refused("no-map", "The workflow has no map.", "This is a bug in Holdfast.");
  const all =
    listing.kind === "paths" ? ok<readonly Json[]>([...listing.paths].sort()) : listIn(listing.text, map.json_path);
  if (!all.ok) return all;
  const scope = (item: Json, at: number): Scope => ({
    look: (name) => (name === "item" ? item : name === "item_index" ? at : scopeOf(run, run.main).look(name)),
  });
  const filtered = kept(all.value, map.filter, scope);
  if (!filtered.ok) return filtered;
  const ordered = map.sort === undefined ? filtered : sorted(filtered.value, map.sort, scope);
  if (!ordered.ok) return ordered;
  const items = ordered.value.slice(0, map.max_items ?? ordered.value.length);
  if (items.length > MAX_ITEMS)
    return refused("too-many", `There are ${items.length} items.`, `At most ${MAX_ITEMS} are allowed: set max_items.`);
  const large = items.findIndex((item) => sizeOf(item) > MAX_ITEMS_PAGE);
  return large < 0
    ? ok(items)
    : refused(
        "too-long",
        `Item ${large} is too long.`,
        `At most ${MAX_ITEMS_PAGE} characters are allowed: use the path of a file.`,
      );
}

/** JSON, in which the path leads to a list; without a path also one item per line. */
function listIn(text: string, json_path: string | undefined): Result<readonly Json[]> {
  const value = parseJson(text);
  if (!value.ok)
    return json_path === undefined
      ? ok(linesOf(text))
      : refused("not-json", "The input is not JSON.", "Leave out json_path to use lines.");
  const path = parsePath(json_path ?? "$");
  if (!path.ok) return path;
  const found = follow(value.value, path.value);
  if (isList(found)) return ok(found);
  if (json_path === undefined && !text.trim().startsWith("{")) return ok(linesOf(text));
  return refused("no-list", `There is no list at ${json_path ?? "$"} in the input.`, "Set its place with json_path.");
}

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.replace(/\r$/, "")]));
}

type ScopeOfItem = (item: Json, at: number) => Scope;

function kept(items: readonly Json[], filter: string | undefined, scope: ScopeOfItem): Result<readonly Json[]> {
  if (filter === undefined) return ok(items);
  const found: Json[] = [];
  for (const [at, item] of items.entries()) {
    const holding = holds(filter, scope(item, at));
    if (!holding.ok)
      return refused(
        holding.error.code,
        `The filter fails for item ${at}: ${holding.error.message}`,
        holding.error.hint,
      );
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

/** The next page of a list: for `items-read`. */
export function pageOf(
  items: readonly Json[],
  from: number,
): { readonly items: readonly Json[]; readonly last: boolean } {
  let length = 0;
  let to = from;
  while (to < items.length) {
    length += sizeOf(items[to]) + 1;
    if (to > from && length > MAX_ITEMS_PAGE) break;
    to += 1;
  }
  return { items: items.slice(from, to), last: to >= items.length };
}
