// Whether a file has the shape of a workflow. All problems are told at once, each with its place, what was found and what to do.
// C1. A key that nothing has is a problem, never passed over: a misspelt `retry` would quietly not hold.
// C2. Expressions, templates and shell texts are read here as well, and the names they use are noted for workflow-rules.ts.
import { type Flaw, namesIn, parseExpression } from "../../core/workflow/expression.ts";
import { shellText } from "../../core/workflow/shell-text.ts";
import { parseTemplate } from "../../core/workflow/template.ts";
import { nearest } from "./nearest.ts";
import type { Field, Fields, Shape } from "./workflow-shapes.ts";
import { isYamlList, isYamlMap, type SourcePosition, type YamlNode, type YamlProblem } from "./yaml-node.ts";

/** A name that an expression looks up: what it is, where it stands in the file, and in which part of the workflow. */
export type Reference = { readonly name: string; readonly place: SourcePosition; readonly path: readonly string[] };

/** More of a value than this does not help to find it. */
const SHOWN = 60;

export class Checking {
  readonly problems: YamlProblem[] = [];
  readonly references: Reference[] = [];
  readonly #placeAt: (offset: number) => SourcePosition;

  constructor(placeAt: (offset: number) => SourcePosition) {
    this.#placeAt = placeAt;
  }

  check(shape: Shape, node: YamlNode, path: readonly string[]): void {
    const found = resolved(shape, node);
    if (found === undefined) this.problem(node, `${named(path)} is ${shown(node)}.`, `It takes ${expected(shape)}.`);
    else if (found.kind === "object") this.#object(found.fields, node, path);
    else if (found.kind === "names") this.#names(found, node, path);
    else if (found.kind === "list") this.#list(found.of, node, path);
    else if (found.kind === "text" && found.as !== "plain") this.#text(found.as, node, path);
    else if (found.kind === "value" && found.templates) this.#value(node, path);
  }

  #list(of: Shape, node: YamlNode, path: readonly string[]): void {
    if (!isYamlList(node.value)) return;
    for (const [at, one] of node.value.entries()) this.check(of, one, [...path, String(at + 1)]);
  }

  problem({ line, column }: SourcePosition, message: string, hint: string): void {
    this.problems.push({ line, column, message, hint });
  }

  #object(fields: Fields, node: YamlNode, path: readonly string[]): void {
    if (!isYamlMap(node.value)) return;
    for (const [name, { key, node: inner }] of node.value) {
      const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) this.#unknown(name, key, Object.keys(fields), path);
      else this.check(field.shape, inner, [...path, name]);
    }
    for (const [name, { required, shape }] of Object.entries(fields))
      if (required === true && !node.value.has(name))
        this.problem(node, `${named([...path, name])} is missing.`, `It takes ${expected(shape)}.`);
  }

  /** C1. */
  #unknown(name: string, place: SourcePosition, known: readonly string[], path: readonly string[]): void {
    const near = nearest(name, known);
    const hint = near === undefined ? `There is: ${known.join(", ")}.` : `Did you mean ${near}?`;
    this.problem(place, `There is no key ${JSON.stringify(name)} in ${named(path)}.`, hint);
  }

  #names(shape: Shape & { kind: "names" }, node: YamlNode, path: readonly string[]): void {
    if (!isYamlMap(node.value)) return;
    for (const [name, { key, node: inner }] of node.value) {
      if (!shape.pattern.test(name))
        this.problem(
          key,
          `${JSON.stringify(name)} cannot be a name here.`,
          "Use letters, digits and _, not a digit first.",
        );
      this.check(shape.of, inner, [...path, name]);
    }
  }

  #value(node: YamlNode, path: readonly string[]): void {
    const { value } = node;
    if (typeof value === "string") this.#text("template", node, path);
    if (isYamlList(value)) for (const one of value) this.#value(one, path);
    if (isYamlMap(value)) for (const { node: inner } of value.values()) this.#value(inner, path);
  }

  /** C2. */
  #text(as: "template" | "expression" | "shell", node: YamlNode, path: readonly string[]): void {
    const text = String(node.value);
    const found = as === "expression" ? namesOfExpression(text) : namesOfTemplate(text, as === "shell");
    if ("message" in found) this.problem(this.#placeIn(node, found.at), found.message, found.hint);
    else for (const { name, at } of found.names) this.references.push({ name, place: this.#placeIn(node, at), path });
  }

  /** Where character `at` of a value stands in the file: exactly in a text on one line, else at the `${` that it belongs to. */
  #placeIn(node: YamlNode, at: number): SourcePosition {
    const text = String(node.value);
    const whole = node.source.indexOf(text);
    if (whole >= 0) return this.#placeAt(node.offset + whole + at);
    const count = text.slice(0, at + 2).split("${").length - 1;
    let from = -1;
    for (let n = 0; n < count; n += 1) from = node.source.indexOf("${", from + 1);
    return from < 0 ? node : this.#placeAt(node.offset + from);
  }
}

type Names = { readonly names: readonly { readonly name: string; readonly at: number }[] };

function namesOfExpression(text: string): Names | Flaw {
  const parsed = parseExpression(text);
  return parsed.ok ? { names: namesIn(parsed.value) } : parsed.error;
}

function namesOfTemplate(text: string, isShell: boolean): Names | Flaw {
  const shell = isShell ? shellText(text) : undefined;
  if (shell?.ok === false) return shell.error;
  const parts = parseTemplate(text);
  if (!parts.ok) return parts.error;
  return { names: parts.value.flatMap((part) => (part.kind === "value" ? namesIn(part.expression) : [])) };
}

/** The shape that a value is to be checked by; undefined where none takes it. */
function resolved(shape: Shape, node: YamlNode): Shape | undefined {
  if (shape.kind === "later") return resolved(shape.shape(), node);
  if (shape.kind === "either") {
    const one = shape.of.find((inner) => fits(inner, node));
    return one === undefined ? undefined : resolved(one, node);
  }
  return fits(shape, node) ? shape : undefined;
}

/** Whether a value is of the kind that a shape takes; what is inside of it is checked by itself. */
function fits(shape: Shape, node: YamlNode): boolean {
  const { value } = node;
  switch (shape.kind) {
    case "text":
      return typeof value === "string" && value !== "" && !value.includes("\0") && (shape.pattern?.test(value) ?? true);
    case "whole":
      return Number.isSafeInteger(value) && Number(value) >= shape.least && Number(value) <= shape.most;
    case "yesNo":
      return typeof value === "boolean";
    case "duration":
      return typeof value === "string" || typeof value === "number" ? durationMs(value) !== undefined : false;
    case "word":
      return typeof value === "string" && shape.of.includes(value);
    case "list":
      return isYamlList(value) && value.length >= shape.least;
    case "names":
    case "object":
      return isYamlMap(value);
    case "value":
      return true;
    case "later":
      return fits(shape.shape(), node);
    case "either":
      return shape.of.some((one) => fits(one, node));
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Longer than any step; and a timer can still count it. */
const MAX_MS = 30 * 86_400_000;

/** "90s", "5m", "1.5h", or a number of seconds. */
export function durationMs(value: string | number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(typeof value === "number" ? `${value}s` : value) ?? [];
  const ms = Math.round(Number(number) * (UNITS[unit ?? ""] ?? Number.NaN));
  return ms >= 1 && ms <= MAX_MS ? ms : undefined;
}

export function expected(shape: Shape): string {
  switch (shape.kind) {
    case "text":
    case "names":
      return shape.expected;
    case "whole":
      return `a whole number from ${shape.least} to ${shape.most}`;
    case "yesNo":
      return "true or false";
    case "duration":
      return "a time, such as 500ms, 30s, 5m or 2h";
    case "word":
      return `one of ${shape.of.join(", ")}`;
    case "list":
      return shape.least > 0 ? "a list (- …) that is not empty" : "a list (- …)";
    case "object":
      return `names and values (${Object.keys(shape.fields).slice(0, 4).join(", ")} …)`;
    case "value":
      return "any value";
    case "later":
      return expected(shape.shape());
    case "either":
      return shape.of.map(expected).join(", or ");
  }
}

/** "steps.2.retry". */
export function named(path: readonly string[]): string {
  return path.length === 0 ? "the workflow" : path.join(".");
}

export function shown({ value }: YamlNode): string {
  if (isYamlMap(value)) return "names and values";
  if (isYamlList(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value === null || value === "") return "empty";
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
