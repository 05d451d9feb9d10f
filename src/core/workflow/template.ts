// Texts with `${…}` in them.
// P1. A text that is nothing but one `${…}` is that value itself; otherwise every `${…}` is inserted as text.
// P2. `$${` is a literal `${`, for the next reader of the text (usually a shell).
// P3. This is for prompts, directories, arguments and variables: nothing here goes through a shell. Shell texts are
//     handled by shell-text.ts.

import { isList, isRecord, type Json, textOf } from "../../base/json.ts";
import { memo } from "../../base/memo.ts";
import { ok, type Refusal, type Result } from "../../base/result.ts";
import { evaluate, type Scope, truth } from "./evaluate.ts";
import { type Expression, type Flaw, parseExpression, parseInBraces } from "./expression.ts";

export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly expression: Expression; readonly at: number };

const MARK = /\$\$\{|\$\{/g;

export const parseTemplate: (text: string) => Result<readonly Part[], Flaw> = memo(partsIn);

function partsIn(text: string): Result<readonly Part[], Flaw> {
  const parts: Part[] = [];
  let from = 0;
  let plain = "";
  for (;;) {
    MARK.lastIndex = from;
    const mark = MARK.exec(text);
    plain += text.slice(from, mark?.index ?? text.length);
    if (mark !== null && mark[0] === "$${") {
      plain += "${";
      from = mark.index + mark[0].length;
      continue;
    }
    if (plain !== "") parts.push({ kind: "text", text: plain });
    if (mark === null) return ok(parts);
    plain = "";
    const inside = parseInBraces(text, mark.index + mark[0].length);
    if (!inside.ok) return inside;
    parts.push({ kind: "value", expression: inside.value.expression, at: mark.index });
    from = inside.value.end;
  }
}

/** P1: the value of a text. */
export function fill(text: string, scope: Scope): Result<Json> {
  const parts = parseTemplate(text);
  if (!parts.ok) return { ok: false, error: asRefusal(parts.error) };
  const [only, ...others] = parts.value;
  if (only?.kind === "value" && others.length === 0) return evaluate(only.expression, scope);
  let filled = "";
  for (const part of parts.value) {
    const value = part.kind === "text" ? ok(part.text) : evaluate(part.expression, scope);
    if (!value.ok) return value;
    filled += textOf(value.value);
  }
  return ok(filled);
}

export function fillText(text: string, scope: Scope): Result<string> {
  const value = fill(text, scope);
  return value.ok ? ok(textOf(value.value)) : value;
}

/** A value of `set`: the texts in it are filled, at any depth. */
export function fillDeep(value: Json, scope: Scope): Result<Json> {
  if (typeof value === "string") return fill(value, scope);
  if (isList(value)) {
    const found: Json[] = [];
    for (const one of value) {
      const filled = fillDeep(one, scope);
      if (!filled.ok) return filled;
      found.push(filled.value);
    }
    return ok(found);
  }
  return isRecord(value) ? fillAll(value, scope, fillDeep) : ok(value);
}

/** Each of a record's values, filled by `by`. */
export function fillAll<A, B>(
  values: Readonly<Record<string, A>>,
  scope: Scope,
  by: (value: A, scope: Scope) => Result<B>,
): Result<Readonly<Record<string, B>>> {
  const found: [string, B][] = [];
  for (const [name, one] of Object.entries(values)) {
    const filled = by(one, scope);
    if (!filled.ok) return filled;
    found.push([name, filled.value]);
  }
  return ok(Object.fromEntries(found));
}

/** Whether a `when`, `until` or `filter` holds. */
export function holds(text: string, scope: Scope): Result<boolean> {
  const expression = parseExpression(text);
  if (!expression.ok) return { ok: false, error: asRefusal(expression.error) };
  const value = evaluate(expression.value, scope);
  return value.ok ? ok(truth(value.value)) : value;
}

export function asRefusal({ message, hint }: Flaw): Refusal {
  return { code: "bad-expression", message, hint };
}
