// From a TOML table to a configuration, or to everything that is wrong with it.
// E1. A key that no setting has is a problem, never ignored: a misspelt setting would silently have no effect.
// E2. All problems are reported at once, each with its full key, its position, what was found and what is expected.
//     What holds between settings is checked once each of them has its shape.

import { nearest } from "../../base/nearest.ts";
import { own } from "../../base/own.ts";
import { ok, type Result } from "../../base/result.ts";
import { check, type Path, type ShapeProblem } from "../check.ts";
import { isObject } from "../lines.ts";
import { closed, optional, type Shape, table } from "../shape.ts";
import { expected, shown } from "../shape-text.ts";
import { type Env, type Field, tomlKey, tomlOf } from "./config-fields.ts";
import { type Config, inFile, NAMED, NAMES, NOT_ABOVE, SECTIONS, type Section, wrongName } from "./config-schema.ts";
import { byPosition, type FileProblem, keyAt, nodeAt, plain, type SourceNode, type SourcePosition } from "./source.ts";

export type Misfit = FileProblem & { readonly key: string };
/** The settings, and the line of each that the file gives, by its full key. */
export type Settings = { readonly config: Config; readonly lines: ReadonlyMap<string, number> };

/** Those of an empty file. Nothing in it can be wrong, and most people have none. */
export function defaultSettings(env: Env): Settings {
  const sections = Object.entries(SECTIONS).map(([name, fields]) => [name, defaultsOf(fields, env)]);
  const named = Object.keys(NAMED).map((kind) => [kind, {}]);
  // As in readSettings.
  const config = Object.fromEntries([...sections, ...named]) as Config;
  return { config, lines: new Map() };
}

function defaultsOf(fields: Section, env: Env): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { fallback }]) => [name, fallback?.(env)]));
}

export function readSettings(file: SourceNode, env: Env): Result<Settings, Misfit[]> {
  const checked = check(fileShape(), plain(file));
  if (!checked.ok) return inOrder(checked.error.map((problem) => misfitOf(file, problem)));
  const given = checked.value;
  const filling = new Filling(file, env);
  const sections = Object.entries(SECTIONS).map(([name, fields]) => {
    const table = inFile(name);
    return [name, filling.section([table], memberOf(given, table), fields)];
  });
  const named = Object.entries(NAMED).map(([kind, fields]) => [
    kind,
    filling.named(kind, memberOf(given, kind), fields),
  ]);
  filling.compare();
  if (filling.misfits.length > 0) return inOrder(filling.misfits);
  // Every section was filled field by field from the schema that the type is made of.
  const config = Object.fromEntries([...sections, ...named]) as Config;
  return ok({ config, lines: filling.lines });
}

function inOrder(misfits: Misfit[]): { readonly ok: false; readonly error: Misfit[] } {
  return { ok: false, error: misfits.sort(byPosition) };
}

function fileShape(): Shape {
  const sections = Object.entries(SECTIONS).map(([name, fields]) => [inFile(name), optional(sectionShape(fields))]);
  const named = Object.entries(NAMED).map(([kind, fields]) => [
    kind,
    optional(table(sectionShape(fields), NAMES[kind])),
  ]);
  return closed(Object.fromEntries([...sections, ...named]));
}

function sectionShape(fields: Section): Shape {
  const all = Object.entries(fields).map(([name, { shape, fallback }]) => [
    inFile(name),
    fallback === undefined ? shape : optional(shape),
  ]);
  return closed(Object.fromEntries(all));
}

function misfitOf(file: SourceNode, { path, what, found, shape }: ShapeProblem): Misfit {
  const key = tomlKey(...path);
  if (what === "unknown field") return misfit(key, keyAt(file, path), unknown(path, shape));
  if (what === "wrong name") return misfit(key, keyAt(file, path), unnameable(path, shape));
  const said = what === "missing" ? "missing" : shown(found, "a table");
  return misfit(key, nodeAt(file, path), [`${key} is ${said}.`, takes(key, shape)]);
}

type Said = readonly [message: string, hint: string];

function misfit(key: string, { line, column }: SourcePosition, [message, hint]: Said): Misfit {
  return { line, column, key, message, hint };
}

function takes(key: string, shape: Shape): string {
  const isSection = shape.expected === undefined && (shape.kind === "object" || shape.kind === "table");
  return isSection ? `It is a table: write [${key}], and its settings below.` : `It takes ${expected(shape)}.`;
}

/** E1. The key may also be right and only be in the wrong table. */
function unknown(path: Path, shape: Shape): Said {
  const last = String(path.at(-1));
  const known = shape.kind === "object" ? Object.keys(shape.fields) : [];
  const full = (name: string) => tomlKey(...path.slice(0, -1), name);
  const near = nearest(last, known);
  const meant = near === undefined ? elsewhere(last) : full(near);
  const hint = meant === undefined ? `There is: ${known.map(full).join(", ")}.` : `Did you mean ${meant}?`;
  return [`There is no setting ${tomlKey(...path)}.`, hint];
}

function elsewhere(last: string): string | undefined {
  const all = Object.entries(SECTIONS).flatMap(([name, fields]) =>
    Object.keys(fields).map((field) => [inFile(field), tomlKey(inFile(name), inFile(field))] as const),
  );
  return all.find(([name]) => name === last)?.[1];
}

function unnameable(path: Path, shape: Shape): Said {
  const name = String(path.at(-1));
  const hint = shape.expected === undefined ? wrongName(name) : `It takes ${shape.expected}.`;
  return [`${tomlOf(name)} cannot be a name here.`, hint];
}

/** Fills a configuration from a file whose values have their shapes. */
class Filling {
  readonly misfits: Misfit[] = [];
  readonly lines = new Map<string, number>();
  readonly #numbers = new Map<string, { readonly value: number; readonly position: SourcePosition | undefined }>();
  readonly #file: SourceNode;
  readonly #env: Env;

  constructor(file: SourceNode, env: Env) {
    this.#file = file;
    this.#env = env;
  }

  section(path: Path, given: unknown, fields: Section): Readonly<Record<string, unknown>> {
    const read = ([name, field]: [string, Field<unknown>]) => {
      const key = inFile(name);
      return [name, this.#field([...path, key], field, memberOf(given, key))];
    };
    return Object.fromEntries(Object.entries(fields).map(read));
  }

  /** Tables that the user names. */
  named(kind: string, given: unknown, fields: Section): Readonly<Record<string, unknown>> {
    const all = Object.entries(isObject(given) ? given : {});
    return Object.fromEntries(all.map(([name, one]) => [name, this.section([kind, name], one, fields)]));
  }

  #field(path: Path, field: Field<unknown>, given: unknown): unknown {
    const node = given === undefined ? undefined : nodeAt(this.#file, path);
    const value = node === undefined ? field.fallback?.(this.#env) : (field.into ?? itself)(given, this.#env);
    const key = tomlKey(...path);
    if (node !== undefined && value === undefined)
      this.misfits.push(misfit(key, node, [`${key} is ${shown(given)}.`, takes(key, field.shape)]));
    if (node !== undefined) this.lines.set(key, node.line);
    if (typeof value === "number") this.#numbers.set(key, { value, position: node });
    return value;
  }

  compare(): void {
    for (const [smaller, larger] of NOT_ABOVE) {
      const [small, large] = [this.#numbers.get(smaller), this.#numbers.get(larger)];
      if (small === undefined || large === undefined || small.value <= large.value) continue;
      const position = small.position ?? large.position ?? { line: 1, column: 1 };
      const message = `${smaller} is ${small.value}, and ${larger} is ${large.value}.`;
      this.misfits.push(misfit(smaller, position, [message, `It takes at most what ${larger} is.`]));
    }
  }
}

function itself<T>(given: T): T {
  return given;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? own(value, name) : undefined;
}
