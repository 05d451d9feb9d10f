// Whether a file has the shape of a workflow. All problems are reported at once, each with its position, what was found
// and what to do.
// C1. A key that no shape has is a problem, never ignored: a misspelt `retry` would silently have no effect.
// C2. Expressions, templates and shell texts are read here as well, and the names they use are noted for
//     workflow-rules.ts.

import { isList, isRecord, type Json } from "../../base/json.ts";
import { nearest } from "../../base/nearest.ts";
import { own } from "../../base/own.ts";
import { type Flaw, namesIn, parseExpression } from "../../core/workflow/expression.ts";
import { shellText } from "../../core/workflow/shell-text.ts";
import { parseTemplate } from "../../core/workflow/template.ts";
import { check, type Path, type ShapeProblem } from "../check.ts";
import { expected, pathText, shown } from "../shape-text.ts";
import { type FileProblem, keyAt, nodeAt, plain, type SourcePosition } from "./source.ts";
import { WORKFLOW, type WorkflowFile } from "./workflow-shapes.ts";
import type { YamlText } from "./yaml-node.ts";

/**
 * A name that an expression looks up: where it is in the file, and in which part of the workflow. `alone`: it is the
 * whole `${…}`, or the whole text.
 */
export type Reference = {
  readonly name: string;
  readonly path: Path;
  readonly alone: "no" | "in braces" | "in its text";
  position(): SourcePosition;
};

/** What other programs call it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  run: "shell",
  script: "shell",
  command: "shell",
  if: "when",
  name: "id",
  "working-directory": "cwd",
  workdir: "cwd",
  environment: "env",
  "timeout-minutes": "timeout",
  inputs: "parameters",
  jobs: "steps",
  tasks: "steps",
};

export class Checking {
  readonly problems: FileProblem[] = [];
  readonly references: Reference[] = [];
  readonly #yaml: YamlText;

  constructor(yaml: YamlText) {
    this.#yaml = yaml;
  }

  /** The file with its type; undefined if it has problems. */
  file(): WorkflowFile | undefined {
    const value = plain(this.#yaml.root);
    const checked = check(WORKFLOW, value, (found, as, path) => this.#read(found as Json, as, path));
    if (!checked.ok) for (const problem of checked.error) this.#misshapen(problem);
    return checked.ok && this.problems.length === 0 ? checked.value : undefined;
  }

  /** A problem with the value at the end of a path, or with what holds it if it is missing. */
  problem(path: Path, message: string, hint: string): void {
    this.report(this.positionOf(path), message, hint);
  }

  /** A problem with a key. */
  problemOfKey(path: Path, message: string, hint: string): void {
    this.report(keyAt(this.#yaml.root, path), message, hint);
  }

  report({ line, column }: SourcePosition, message: string, hint: string): void {
    this.problems.push({ line, column, message, hint });
  }

  positionOf(path: Path): SourcePosition {
    return nodeAt(this.#yaml.root, path);
  }

  #misshapen({ path, what, found, shape }: ShapeProblem): void {
    if (what === "unknown field" && shape.kind === "object") this.#unknown(path, Object.keys(shape.fields));
    else if (what === "wrong name") this.problemOfKey(path, `${shown(found)} cannot be a name here.`, NAMES);
    else {
      const said = what === "missing" ? what : found === null || found === "" ? "empty" : shown(found);
      this.problem(path, `${named(path)} is ${said}.`, `It takes ${expected(shape)}.`);
    }
  }

  /** C1 */
  #unknown(path: Path, known: readonly string[]): void {
    const name = String(path.at(-1));
    const near = known.find((key) => key === own(ELSEWHERE, name)) ?? nearest(name, known);
    const hint = near === undefined ? `There is: ${known.join(", ")}.` : `Did you mean ${near}?`;
    this.problemOfKey(path, `There is no key ${JSON.stringify(name)} in ${named(path.slice(0, -1))}.`, hint);
  }

  #read(value: Json, as: string, path: Path): void {
    if (typeof value === "string") this.#text(value, as, path);
    if (as !== "templates") return;
    if (isList(value)) for (const [at, one] of value.entries()) this.#read(one, as, [...path, at]);
    if (isRecord(value)) for (const [name, one] of Object.entries(value)) this.#read(one, as, [...path, name]);
  }

  /** C2 */
  #text(text: string, as: string, path: Path): void {
    const found = as === "expression" ? namesOfExpression(text) : namesOfTemplate(text, as === "shell");
    if ("message" in found) this.report(this.#positionIn(path, text, found.at), found.message, found.hint);
    else
      for (const { name, at, alone } of found.names)
        this.references.push({ name, path, alone, position: () => this.#positionIn(path, text, at) });
  }

  /** Where character `at` of a text is in the file: exactly if it is on one line, else at the `${` that it belongs
   *  to. */
  #positionIn(path: Path, text: string, at: number): SourcePosition {
    const { root, placeAt } = this.#yaml;
    const node = nodeAt(root, path);
    const { source = "", offset = 0 } = node;
    const whole = source.indexOf(text);
    if (whole >= 0) return placeAt(offset + whole + at);
    const count = text.slice(0, at + 2).split("${").length - 1;
    let from = -1;
    for (let n = 0; n < count; n += 1) from = source.indexOf("${", from + 1);
    return from < 0 ? node : placeAt(offset + from);
  }
}

const NAMES = "Use letters, digits and _, not a digit first.";

type Name = { readonly name: string; readonly at: number; readonly alone: Reference["alone"] };
type Names = { readonly names: readonly Name[] };

function namesOfExpression(text: string): Names | Flaw {
  const parsed = parseExpression(text);
  return parsed.ok ? { names: namesIn(parsed.value).map((name) => ({ ...name, alone: "no" })) } : parsed.error;
}

function namesOfTemplate(text: string, isShell: boolean): Names | Flaw {
  const shell = isShell ? shellText(text) : undefined;
  if (shell?.ok === false) return shell.error;
  const parts = parseTemplate(text);
  if (!parts.ok) return parts.error;
  const whole = parts.value.length === 1 ? "in its text" : "in braces";
  return {
    names: parts.value.flatMap((part) => {
      if (part.kind === "text") return [];
      const alone = part.expression.kind === "name" ? whole : "no";
      return namesIn(part.expression).map((name) => ({ ...name, alone }));
    }),
  };
}

/** "steps.2.retry". */
export function named(path: Path): string {
  return path.length === 0 ? "the workflow" : pathText(path);
}
