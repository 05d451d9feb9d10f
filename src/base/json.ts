// JSON values: their text, equality, and paths into them.
// J0. What another program wrote is parsed here only, within limits: everything that walks through a value, or writes
//     it as text, calls itself for each level, and must never run out of stack. A value can be written and read again:
//     it is the same in the next life.
// J1. A path is `$`, then `.name`, `['name']`, `[0]` (from the end: `[-1]`), `[*]` or `.*`. It gives a list if it has a
//     star, else one value.
import { own } from "./own.ts";
import { ok, type Result, refused } from "./result.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isRecord(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string as it is, the empty string for null, everything else as JSON. */
export function textOf(value: Json): string {
  if (typeof value === "string") return value;
  return value === null ? "" : JSON.stringify(value);
}

/** The same text for equal values, in whatever order the names of an object come. */
export function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join(",")}}`;
}

export function equal(a: Json, b: Json): boolean {
  if (isList(a)) return isList(b) && a.length === b.length && a.every((one, at) => equal(one, b[at] ?? null));
  if (!isRecord(a)) return a === b;
  if (!isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(a[name] ?? null, b[name] ?? null))
  );
}

/** Far more than anything sensible has, and far less than the stack holds. */
export const MAX_DEPTH = 200;
/** Of one text, in lists and objects. */
export const MAX_VALUES = 250_000;

/** For a text of our own, as long as it may be. */
export const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** J0. The value of a JSON text; undefined if it is not JSON, or over a limit. `most`: of values. */
export function jsonIn(text: string, most = MAX_VALUES): Json | undefined {
  if (!isWithinLimits(text, most)) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return HUGE_NUMBER.test(text) && hasInfinity(value) ? undefined : value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Parses a text, or refuses it if it is not JSON. */
export function parseJson(text: string): Result<Json> {
  const value = jsonIn(text);
  if (value !== undefined) return ok(value);
  const limits = `at most ${MAX_DEPTH} levels deep and with at most ${MAX_VALUES} values`;
  return refused("not-json", "This is not JSON.", `Print one JSON value and nothing else to stdout, ${limits}.`);
}

/** Of the numbers in a text, only one of these may be too large for a number: it would be infinite, and null once it is
 *  written and read again. It may also be within a string. */
const HUGE_NUMBER = /\d{300}|\d[eE]\+?\d{3}/;

function hasInfinity(value: Json): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasInfinity);
}

/** One pass over the text before anything is built from it. */
function isWithinLimits(text: string, most: number): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = stringEnd(text, at);
    else if (char === OPEN_LIST || char === OPEN_OBJECT) depth += 1;
    else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth -= 1;
    else if (char === COMMA) values += 1;
    if (depth > MAX_DEPTH || values >= most) return false;
  }
  return true;
}

const BACKSLASH = 92;
export const [QUOTE, COMMA] = [34, 44];
export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Where the string that begins at this quote ends; the text's length if it does not. */
export function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

export type PathPart =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly at: number }
  | { readonly kind: "all" };

const PART = /\.([A-Za-z_][\w-]*)|\.(\*)|\[(-?\d+)\]|\[(\*)\]|\['([^']*)'\]|\["([^"]*)"\]/y;

/** J1. */
export function parsePath(path: string): Result<readonly PathPart[]> {
  const parts: PathPart[] = [];
  PART.lastIndex = 1;
  while (path.startsWith("$") && PART.lastIndex < path.length) {
    const from = PART.lastIndex;
    const match = PART.exec(path);
    if (match === null) return badPath(path, from);
    parts.push(partOf(match));
  }
  return path.startsWith("$") ? ok(parts) : badPath(path, 0);
}

function partOf([, name, star, index, stars, single, double]: RegExpExecArray): PathPart {
  if (star !== undefined || stars !== undefined) return { kind: "all" };
  if (index !== undefined) return { kind: "index", at: Number(index) };
  return { kind: "name", name: name ?? single ?? double ?? "" };
}

function badPath(path: string, at: number) {
  const what = `${JSON.stringify(path)} is not a JSON path: character ${at + 1} is unexpected.`;
  return refused("bad-path", what, "A path is $, then .name, ['name'], [0], [*] or .* as often as needed.");
}

/** What the path leads to; undefined if it leads nowhere. */
export function follow(value: Json, parts: readonly PathPart[]): Json | undefined {
  let found: Json[] = [value];
  for (const part of parts) found = found.flatMap((one) => into(one, part));
  return parts.some(({ kind }) => kind === "all") ? found : found[0];
}

function into(value: Json, part: PathPart): Json[] {
  if (part.kind === "all") return isList(value) ? [...value] : isRecord(value) ? Object.values(value) : [];
  if (part.kind === "index") return isList(value) ? value.slice(part.at, part.at + 1 || undefined).slice(0, 1) : [];
  const inner = isRecord(value) ? own(value, part.name) : undefined;
  return inner === undefined ? [] : [inner];
}
