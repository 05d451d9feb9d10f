// Shapes and their problems in words.
import { MAX_DEPTH, type Path, type ShapeProblem } from "./check.ts";
import { isObject } from "./lines.ts";
import type { Shape } from "./shape.ts";

/** More of a value than this does not help to find it. */
const SHOWN = 60;
const NAMED_FIELDS = 4;

/** Completes "It takes …". */
export function expected(shape: Shape): string {
  if (shape.expected !== undefined) return shape.expected;
  switch (shape.kind) {
    case "text":
      return "a text";
    case "whole":
      return wholeText(shape);
    case "number":
      return "a number";
    case "flag":
      return "true or false";
    case "literal":
      return `${shape.of.length > 1 ? "one of " : ""}${shape.of.map((one) => JSON.stringify(one)).join(", ")}`;
    case "list":
      return shape.least > 0 ? "a list that is not empty" : "a list";
    case "table":
      return "names and values";
    case "object":
      return fieldsText(Object.keys(shape.fields));
    case "either":
      return shape.of.map(expected).join(", or ");
    case "later":
      return expected(shape.shape());
    default:
      return `any value that is nested at most ${MAX_DEPTH} levels deep`;
  }
}

function wholeText({ least, most, step }: Shape & { readonly kind: "whole" }): string {
  const what = step === undefined ? "a whole number" : `a multiple of ${step}`;
  return `${what} from ${least}${most === Number.MAX_SAFE_INTEGER ? " on" : ` to ${most}`}`;
}

function fieldsText(names: readonly string[]): string {
  const more = names.length > NAMED_FIELDS ? " …" : "";
  return `names and values (${names.slice(0, NAMED_FIELDS).join(", ")}${more})`;
}

/** A value for a message: cut if it is long. */
export function shown(value: unknown, object = "names and values"): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return object;
  if (typeof value === "number") return String(value);
  const found = JSON.stringify(value) ?? "not JSON"; // JSON has no undefined.
  return found.length > SHOWN ? `${found.slice(0, SHOWN)}…` : found;
}

/** `settings.hung_after_ms is "soon"; it takes a whole number from 1000 on`. Items are counted from 1. */
export function problemOf({ path, what, found, shape }: ShapeProblem, whole: string): string {
  const where = path.length === 0 ? whole : pathText(path);
  if (what === "unknown field") return `there is no field ${where}`;
  if (what === "wrong name") return `${where} has a name that cannot be used`;
  return `${where} is ${what === "missing" ? what : shown(found)}; it takes ${expected(shape)}`;
}

export function pathText(path: Path): string {
  return path.map((key) => (typeof key === "number" ? key + 1 : key)).join(".");
}
