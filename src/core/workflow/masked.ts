// Values as they may be shown on a screen: secrets, by name or by form, are left out.
// MK1. The names that keep an environment variable off the disk (core/environment.ts) keep a workflow's variable off
//      the screen.
// MK2. A secret is hidden wherever its text occurs, not only under its name: a step may have printed it.

import { isList, isRecord, type Json, textOf } from "../../base/json.ts";
import { hasSecret, looksSecret } from "../environment.ts";

export const HIDDEN = "(hidden)";

/** Shorter texts occur in too many places by chance. */
const MIN_LENGTH = 4;

export function masked(value: Json): Json {
  const secrets = [...new Set(secretsIn(value))].sort((a, b) => b.length - a.length);
  return hide(value, secrets);
}

/** MK1 */
function secretsIn(value: Json): string[] {
  if (isList(value)) return value.flatMap(secretsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    looksSecret(name) ? [textOf(inner)].filter(({ length }) => length >= MIN_LENGTH) : secretsIn(inner),
  );
}

function hide(value: Json, secrets: readonly string[]): Json {
  if (typeof value === "string") return hideText(value, secrets);
  if (isList(value)) return value.map((inner) => hide(inner, secrets));
  if (!isRecord(value)) return value;
  const shown = Object.entries(value).map(([name, inner]): [string, Json] => [
    name,
    looksSecret(name) && inner !== null ? HIDDEN : hide(inner, secrets),
  ]);
  return Object.fromEntries(shown);
}

/** MK2 */
function hideText(text: string, secrets: readonly string[]): string {
  if (hasSecret(text)) return HIDDEN;
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}
