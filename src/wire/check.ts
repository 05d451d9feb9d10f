// Walks a value by its shape (shape.ts), and returns it with its type, or everything that is wrong with it.
// C1. Only own properties count: `constructor` and `__proto__` are fields only if the sender wrote them.
// C2. All problems are found, each with its path, what was found there and what is expected.
// C3. What passes is returned as it is. Nothing is copied, so fields of a newer version are kept. For the same reason a
//     request is never spread into a command: its sender could add fields that the command has.
// C4. Depth is bounded, in shapes that contain themselves and in JSON of any shape: recursion must not exhaust the
//     stack. Readers limit the size of what they read (lines.ts, frames.ts, files/).
import { ok, type Result } from "../base/result.ts";
import { isObject } from "./lines.ts";
import { any, type Shape } from "./shape.ts";

export type Path = readonly (string | number)[];

export type ShapeProblem = {
  readonly path: Path;
  readonly what: "wrong" | "missing" | "unknown field" | "wrong name";
  readonly found: unknown;
  /** What should be there; for an unknown field and a wrong name, what they are in. */
  readonly shape: Shape;
};

/** Called for each value whose shape is marked with `as`, once it has that shape. */
export type Visit = (value: unknown, as: string, path: Path) => void;

/** Deeper than anything that people or programs write. */
export const MAX_DEPTH = 200;

export function check<T>(shape: Shape<T>, value: unknown, visit?: Visit): Result<T, readonly ShapeProblem[]> {
  const walk: Walk = { path: [], problems: [], visit };
  checkValue(walk, shape, value);
  return walk.problems.length === 0 ? ok(value as T) : { ok: false, error: walk.problems };
}

/** The value with its type; undefined if anything is wrong with it. */
export function fitting<T>(shape: Shape<T>, value: unknown): T | undefined {
  const checked = check(shape, value);
  return checked.ok ? checked.value : undefined;
}

/** Functions and a plain value instead of a class: every holder runs this once, and a class with private fields
 *  takes 25 kB more. */
type Walk = {
  readonly path: (string | number)[];
  readonly problems: ShapeProblem[];
  readonly visit: Visit | undefined;
};
type Members = Readonly<Record<string, unknown>>;

function checkValue(walk: Walk, shape: Shape, value: unknown): void {
  const chosen = walk.path.length > MAX_DEPTH ? undefined : choose(shape, value); // C4
  if (chosen === undefined) report(walk, "wrong", { path: [...walk.path], found: value, shape });
  else checkInside(walk, chosen, value);
}

function checkInside(walk: Walk, shape: Shape, value: unknown): void {
  if (shape.as !== undefined) walk.visit?.(value, shape.as, [...walk.path]);
  if (shape.kind === "list" && Array.isArray(value)) checkItems(walk, shape.of, value);
  if (shape.kind === "object" && isObject(value)) checkFields(walk, shape, value);
  if (shape.kind === "table" && isObject(value)) checkTable(walk, shape, value);
}

function checkItems(walk: Walk, of: Shape, items: readonly unknown[]): void {
  for (let at = 0; at < items.length; at += 1) checkMember(walk, at, of, items[at]);
}

function checkMember(walk: Walk, key: string | number, shape: Shape, value: unknown): void {
  walk.path.push(key);
  checkValue(walk, shape, value);
  walk.path.pop();
}

function checkFields(walk: Walk, shape: Shape & { readonly kind: "object" }, value: Members): void {
  const { fields } = shape;
  for (const name of shape.closed ? Object.keys(value) : [])
    if (!Object.hasOwn(fields, name))
      report(walk, "unknown field", { path: [...walk.path, name], found: value[name], shape });
  for (const name of Object.keys(fields)) {
    const [field, found] = [fields[name] ?? any, Object.hasOwn(value, name) ? value[name] : undefined]; // C1
    if (found !== undefined) checkMember(walk, name, field, found);
    else if (field.optional !== true) report(walk, "missing", { path: [...walk.path, name], found, shape: field });
  }
}

function checkTable(walk: Walk, shape: Shape & { readonly kind: "table" }, value: Members): void {
  for (const name of Object.keys(value)) {
    if (shape.names?.test(name) === false)
      report(walk, "wrong name", { path: [...walk.path, name], found: name, shape });
    checkMember(walk, name, shape.of, value[name]);
  }
}

function report(walk: Walk, what: ShapeProblem["what"], problem: Omit<ShapeProblem, "what">): void {
  walk.problems.push({ what, ...problem }); // C2
}

/** The shape that decides about a value; undefined if none takes it. What is inside of it is checked by itself. */
function choose(shape: Shape, value: unknown): Shape | undefined {
  if (shape.kind === "later") return choose(shape.shape(), value);
  if (shape.kind !== "either") return takes(shape, value) ? shape : undefined;
  for (const one of shape.of) {
    const chosen = choose(one, value);
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

function takes(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "text":
      return typeof value === "string" && isText(shape, value);
    case "whole":
      return isWhole(shape, value);
    case "number":
      return (
        typeof value === "number" && (shape.above === undefined || value > shape.above) && shape.is?.(value) !== false
      );
    case "flag":
      return typeof value === "boolean";
    case "literal":
      return shape.of.some((one) => one === value);
    case "list":
      return Array.isArray(value) && value.length >= shape.least;
    case "json":
      return !isDeeper(value, MAX_DEPTH);
    case "any":
      return true;
    default:
      return isObject(value);
  }
}

function isText({ least = 0, most = Number.POSITIVE_INFINITY, pattern, is }: Shape & { kind: "text" }, value: string) {
  return value.length >= least && value.length <= most && pattern?.test(value) !== false && is?.(value) !== false;
}

function isWhole({ least, most, step = 1 }: Shape & { readonly kind: "whole" }, value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most && Number(value) % step === 0;
}

/** C4 */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
