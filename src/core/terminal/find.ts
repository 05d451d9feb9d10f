// Finds the terminal that a person means.
// FD1. A name means the terminal with exactly this name; anything else is a prefix of a name or an id that matches only
//      one. No match is refused, with the name that was probably meant; it never means the current or the last one.
import { nearest } from "../../base/nearest.ts";
import { ok, type Result, refused } from "../../base/result.ts";

type NamedTerminal = { readonly id: string; readonly name: string };

/** `exact`: a name has to be whole, because another one would be a new terminal. */
export type NameMatch = "exact" | "prefix";

/** How many candidates are named: enough to recognise the right one, few enough for one line. */
const MAX_NAMED = 5;
const SEE_ALL = "`holdfast ls` shows all.";

/** FD1 */
export function pickTerminal<T extends NamedTerminal>(all: readonly T[], key: string, names: NameMatch): Result<T> {
  const named = all.find(({ name, id }) => name === key || id === key);
  if (named !== undefined) return ok(named);
  if (key === "") return refused("unknown", "No name was given.", SEE_ALL);
  const found = all.filter(({ id, name }) => id.startsWith(key) || (names === "prefix" && name.startsWith(key)));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return ok(only);
  return only === undefined ? unknown(all, key) : ambiguous(found, key);
}

function unknown(all: readonly NamedTerminal[], key: string): Result<never> {
  const near = nearest(
    key,
    all.map(({ name }) => name),
  );
  const hint = near === undefined ? SEE_ALL : `Did you mean ${near}? ${SEE_ALL}`;
  return refused("unknown", `There is no terminal ${JSON.stringify(key)}.`, hint);
}

function ambiguous(found: readonly NamedTerminal[], key: string): Result<never> {
  const named = found.slice(0, MAX_NAMED).map(({ name, id }) => (name.startsWith(key) ? name : `${name} (${id})`));
  const more = found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : "";
  return refused("ambiguous", `"${key}" matches ${found.length}: ${named.join(", ")}${more}.`, "Give more of it.");
}
