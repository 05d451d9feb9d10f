// Evaluates expressions.
// E1. A missing name or member is refused, never an empty text: `rm -r ${item.dir}/x` must not become `rm -r /x`.
//     `defined(…)` and `default(…, …)` check first.
// E2. Texts that are numbers count as numbers when compared or added: a command's output is always a text.

import { equal, isList, isRecord, type Json, parseJson, textOf } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { Expression, Operator } from "./expression.ts";

export type Scope = {
  look(name: string): Json | undefined;
  /** `file(x)`: the path of a file with that text; absent if none can be made. */
  readonly file?: (text: string) => string;
};

class Stop extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function evaluate(expression: Expression, scope: Scope): Result<Json> {
  try {
    return ok(valueIn(expression, scope));
  } catch (error) {
    if (error instanceof Stop) return { ok: false, error: error.refusal };
    throw error;
  }
}

/** Whether a value counts as true: all except false, null, 0, "", "0", "false" and the empty list. */
export function truth(value: Json): boolean {
  if (isList(value)) return value.length > 0;
  if (typeof value === "string") return !["", "0", "false"].includes(value.trim());
  return value !== null && value !== false && value !== 0;
}

function valueIn(expression: Expression, scope: Scope): Json {
  if (expression.kind === "value") return expression.value;
  if (expression.kind === "not") return !truth(valueIn(expression.of, scope));
  if (expression.kind === "minus") return -numberIn(valueIn(expression.of, scope));
  if (expression.kind === "both") return both(expression.operator, expression.left, expression.right, scope);
  if (expression.kind === "call") return call(expression.name, expression.args, scope);
  const found = lookedUp(expression, scope);
  if (found === undefined)
    stop("unset", `${shown(expression)} has no value.`, "Set it first, or check it with defined(…) or default(…, …).");
  return found;
}

/** E1: undefined if it is missing. */
function lookedUp(expression: Expression, scope: Scope): Json | undefined {
  if (expression.kind === "name") return scope.look(expression.name);
  if (expression.kind !== "member" && expression.kind !== "index") return valueIn(expression, scope);
  const of = lookedUp(expression.of, scope);
  const key = expression.kind === "member" ? expression.name : valueIn(expression.by, scope);
  if (isList(of)) return typeof key === "number" ? of.at(key) : undefined;
  return isRecord(of) && typeof key === "string" ? own(of, key) : undefined;
}

function shown(expression: Expression): string {
  if (expression.kind === "name") return expression.name;
  if (expression.kind === "member") return `${shown(expression.of)}.${expression.name}`;
  if (expression.kind === "index") return `${shown(expression.of)}[…]`;
  return "It";
}

function both(operator: Operator, left: Expression, right: Expression, scope: Scope): Json {
  const a = valueIn(left, scope);
  if (operator === "&&") return truth(a) && truth(valueIn(right, scope));
  if (operator === "||") return truth(a) || truth(valueIn(right, scope));
  const b = valueIn(right, scope);
  const numbers = asNumber(a) !== undefined && asNumber(b) !== undefined; // E2
  if (operator === "==") return numbers ? asNumber(a) === asNumber(b) : equal(a, b);
  if (operator === "!=") return numbers ? asNumber(a) !== asNumber(b) : !equal(a, b);
  if (operator === "+" && !numbers) return textOf(a) + textOf(b);
  if (operator === "<" || operator === "<=" || operator === ">" || operator === ">=")
    return compared(operator, a, b, numbers);
  return sum(operator, numberIn(a), numberIn(b));
}

function compared(operator: "<" | "<=" | ">" | ">=", a: Json, b: Json, numbers: boolean): boolean {
  const [x, y] = numbers ? [numberIn(a), numberIn(b)] : [textOf(a), textOf(b)];
  if (operator === "<") return x < y;
  if (operator === "<=") return x <= y;
  return operator === ">" ? x > y : x >= y;
}

function sum(operator: Operator, a: number, b: number): number {
  const value =
    operator === "+" ? a + b : operator === "-" ? a - b : operator === "*" ? a * b : operator === "/" ? a / b : a % b;
  if (!Number.isFinite(value))
    stop("not-a-number", `${a} ${operator} ${b} is not a number.`, "Check before dividing by 0.");
  return value;
}

export function asNumber(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}

function numberIn(value: Json): number {
  const number = asNumber(value);
  if (number === undefined)
    stop("not-a-number", `${JSON.stringify(value)} is not a number.`, "A number is needed here.");
  return number;
}

function call(name: string, args: readonly Expression[], scope: Scope): Json {
  const [first, second] = args;
  if (first === undefined) stop("bad-call", `${name} needs an argument.`, "Give it one.");
  if (name === "defined") return (lookedUp(first, scope) ?? null) !== null;
  if (name === "default") return lookedUp(first, scope) ?? (second === undefined ? null : valueIn(second, scope));
  const a = valueIn(first, scope);
  return second === undefined ? callOne(name, a, scope) : callTwo(name, a, valueIn(second, scope));
}

function callOne(name: string, a: Json, scope: Scope): Json {
  if (name === "len") return isList(a) ? a.length : isRecord(a) ? Object.keys(a).length : textOf(a).length;
  if (name === "lower") return textOf(a).toLowerCase();
  if (name === "upper") return textOf(a).toUpperCase();
  if (name === "trim") return textOf(a).trim();
  if (name === "number") return numberIn(a);
  if (name === "text") return textOf(a);
  if (name === "json") return parsed(textOf(a));
  if (scope.file === undefined)
    stop("no-file", "file(…) is only for commands and prompts.", "Use it in shell, agent or claude.");
  return scope.file(textOf(a));
}

function callTwo(name: string, a: Json, b: Json): Json {
  if (name === "starts_with") return textOf(a).startsWith(textOf(b));
  if (name === "ends_with") return textOf(a).endsWith(textOf(b));
  return isList(a) ? a.some((one) => equal(one, b)) : textOf(a).includes(textOf(b));
}

function parsed(text: string): Json {
  const value = parseJson(text);
  if (!value.ok) throw new Stop(value.error);
  return value.value;
}

function stop(code: string, message: string, hint: string): never {
  throw new Stop(refused(code, message, hint).error);
}
