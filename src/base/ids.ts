// Ids: a UUIDv4 as 32 lower-case hex digits. A name or a prefix of an id resolves to exactly one.
// I1. The same bytes give the same id: randomness is an argument.
// I2. A key that matches nothing or more than one is refused; it never means "the first" or "the current one".
import { assert } from "./assert.ts";
import { ok, type Refusal, type Result, refused } from "./result.ts";

export type Id = string;

const BYTES = 16;
/** The version digit is 4 and the variant digit one of 8, 9, a, b (RFC 9562). */
const SHAPE = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
/** How many candidates an ambiguity error lists: enough to recognise the right one, few enough for one line. */
const NAMED_CANDIDATES = 5;

export function newId(random: Uint8Array): Id {
  assert(random.length === BYTES, `an id is made of ${BYTES} bytes, not ${random.length}`);
  const bytes = Uint8Array.from(random, (byte, at) => {
    if (at === 6) return (byte & 0x0f) | 0x40;
    if (at === 8) return (byte & 0x3f) | 0x80;
    return byte;
  });
  return bytes.toHex();
}

export function isId(text: string): boolean {
  return SHAPE.test(text);
}

/** How much of an id is shown: enough to tell sessions apart, and to type. */
const SHORT = 8;

export function shortId(id: Id): string {
  return id.slice(0, SHORT);
}

/** The one of `ids` (ids or names) that equals `key` or begins with it. An exact match wins over longer ones. */
export function matchOne(ids: Iterable<string>, key: string): Result<string> {
  const found: string[] = [];
  for (const id of new Set(ids)) {
    if (id === key) return ok(id);
    if (key !== "" && id.startsWith(key)) found.push(id);
  }
  const [only, ...others] = found;
  if (only === undefined) return unknown(key);
  return others.length === 0 ? ok(only) : ambiguous(key, found); // I2
}

function unknown(key: string): { readonly ok: false; readonly error: Refusal } {
  if (key === "") return refused("unknown", "No name was given.", "Give a name, an id, or the beginning of an id.");
  return refused("unknown", `There is no "${key}".`, "Give a name, an id, or the beginning of an id that exists.");
}

function ambiguous(key: string, found: readonly string[]): { readonly ok: false; readonly error: Refusal } {
  const named = found.slice(0, NAMED_CANDIDATES).join(", ");
  const more = found.length > NAMED_CANDIDATES ? `, and ${found.length - NAMED_CANDIDATES} more` : "";
  return refused("ambiguous", `"${key}" matches ${found.length}: ${named}${more}.`, "Give more of it.");
}
