// From a TOML table to a configuration, or to everything that is wrong with it.
// E1. A key that no setting has is a problem, never passed over: a misspelt setting would quietly not hold.
// E2. All problems are told at once, each with its full key, its place, what was found and what is expected.
import { ok, type Result } from "../../base/result.ts";
import { type Env, type Field, tomlKey, tomlOf } from "./config-fields.ts";
import { type Config, inFile, NAMED, NOT_ABOVE, SECTIONS, type Section, wrongName } from "./config-schema.ts";
import { nearest } from "./nearest.ts";
import { isTable, type SourcePosition, type TomlNode, type TomlTable, type TomlValue } from "./toml.ts";

export type Misfit = SourcePosition & { readonly key: string; readonly message: string; readonly hint: string };
/** The settings, and the line of each that the file gives, by its full key. */
export type Settings = { readonly config: Config; readonly lines: ReadonlyMap<string, number> };

/** More of a value than this does not help to find it. */
const SHOWN = 60;

export function readSettings(root: TomlTable, env: Env): Result<Settings, Misfit[]> {
  const reading = new Reading(env);
  const known = [...Object.keys(SECTIONS).map(inFile), ...Object.keys(NAMED)];
  for (const [name, node] of root) if (!known.includes(name)) reading.unknown(tomlKey(name), node, known);
  const sections = Object.entries(SECTIONS).map(([name, fields]) => [
    name,
    reading.section(inFile(name), root.get(inFile(name)), fields),
  ]);
  const named = Object.entries(NAMED).map(([kind, fields]) => [kind, reading.named(kind, root.get(kind), fields)]);
  const config = Object.fromEntries([...sections, ...named]);
  reading.compare();
  if (reading.misfits.length > 0) return { ok: false, error: reading.misfits.sort(byPlace) };
  // Every section was filled field by field from the schema that the type is made of.
  return ok({ config: config as Config, lines: reading.lines });
}

function byPlace(a: SourcePosition, b: SourcePosition): number {
  return a.line - b.line || a.column - b.column;
}

class Reading {
  readonly misfits: Misfit[] = [];
  readonly lines = new Map<string, number>();
  readonly #numbers = new Map<string, { readonly value: number; readonly place: SourcePosition | undefined }>();
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  section(name: string, node: TomlNode | undefined, fields: Section): Readonly<Record<string, unknown>> {
    const table = this.#table(name, node);
    const known = Object.keys(fields).map(inFile);
    for (const [key, found] of table) {
      if (!known.includes(key))
        this.unknown(
          `${name}.${tomlKey(key)}`,
          found,
          known.map((one) => `${name}.${one}`),
        );
    }
    const place = node ?? { line: 1, column: 1 };
    const read = ([field, kind]: [string, Field<unknown>]) =>
      [field, this.#field(`${name}.${inFile(field)}`, kind, table.get(inFile(field)), place)] as const;
    return Object.fromEntries(Object.entries(fields).map(read));
  }

  /** Tables that the user names. */
  named(kind: string, node: TomlNode | undefined, fields: Section): Readonly<Record<string, unknown>> {
    const found: [string, unknown][] = [];
    for (const [name, one] of this.#table(kind, node)) {
      const key = `${kind}.${tomlKey(name)}`;
      const wrong = wrongName(kind, name);
      if (wrong === undefined) found.push([name, this.section(key, one, fields)]);
      else this.#misfit(key, one, `${tomlOf(name)} cannot be a name here.`, `${capital(wrong)}.`);
    }
    return Object.fromEntries(found);
  }

  #table(name: string, node: TomlNode | undefined): TomlTable {
    if (node === undefined) return new Map();
    if (isTable(node.value)) return node.value;
    this.#misfit(
      name,
      node,
      `${name} is ${shown(node.value)}.`,
      `It is a table: write [${name}], and its settings below.`,
    );
    return new Map();
  }

  #field(key: string, field: Field<unknown>, node: TomlNode | undefined, section: SourcePosition): unknown {
    const value = node === undefined ? field.fallback?.(this.#env) : field.read(node.value, this.#env);
    if (value === undefined && node === undefined) {
      this.#misfit(key, section, `${key} is missing.`, `It takes ${field.expected}.`);
    } else if (value === undefined && node !== undefined) {
      this.#misfit(key, node, `${key} is ${shown(node.value)}.`, `It takes ${field.expected}.`);
    }
    if (node !== undefined) this.lines.set(key, node.line);
    if (typeof value === "number") this.#numbers.set(key, { value, place: node });
    return value;
  }

  /** E1. The key may also be right and only stand in the wrong table. */
  unknown(key: string, place: SourcePosition, known: readonly string[]): void {
    const near = nearest(lastOf(key), known.map(lastOf));
    const meant = known.find((one) => lastOf(one) === near) ?? elsewhere(lastOf(key));
    const hint = meant === undefined ? `There is: ${known.join(", ")}.` : `Did you mean ${meant}?`;
    this.#misfit(key, place, `There is no setting ${key}.`, hint);
  }

  compare(): void {
    for (const [smaller, larger] of NOT_ABOVE) {
      const [small, large] = [this.#numbers.get(smaller), this.#numbers.get(larger)];
      if (small === undefined || large === undefined || small.value <= large.value) continue;
      const place = small.place ?? large.place ?? { line: 1, column: 1 };
      const message = `${smaller} is ${small.value}, and ${larger} is ${large.value}.`;
      this.#misfit(smaller, place, message, `It takes at most what ${larger} is.`);
    }
  }

  #misfit(key: string, { line, column }: SourcePosition, message: string, hint: string): void {
    this.misfits.push({ line, column, key, message, hint });
  }
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

function elsewhere(last: string): string | undefined {
  const all = Object.entries(SECTIONS).flatMap(([name, fields]) =>
    Object.keys(fields).map((field) => [inFile(field), `${inFile(name)}.${inFile(field)}`] as const),
  );
  return all.find(([name]) => name === last)?.[1];
}

function shown(value: TomlValue): string {
  if (isTable(value)) return "a table";
  if (typeof value === "object") return "a list";
  const text = tomlOf(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
