// The kinds of settings: what each takes from a file, how it says so, and what it is when the file says nothing.
// D1. `read` gives the value or undefined; `expected` completes the sentence "it takes …" for people.
import { isList, isTable, type TomlValue } from "./toml.ts";

export type Env = (name: string) => string | undefined;

export type Field<T> = {
  /** One sentence for the reference. */
  readonly says: string;
  readonly expected: string;
  /** What holds without a word in the file; a field without it must be given. */
  readonly fallback: ((env: Env) => T) | undefined;
  /** The fallback as the reference shows it. */
  readonly shown: string;
  read(value: TomlValue, env: Env): T | undefined;
};

type Range = readonly [least: number, most: number];

export function whole([least, most]: Range, fallback: number, says: string): Field<number> {
  const read = (value: TomlValue) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most ? value : undefined;
  return { says, expected: `a whole number from ${least} to ${most}`, ...always(fallback), read };
}

/** What is written to disk page by page. */
export function pages(range: Range, fallback: number, says: string): Field<number> {
  const field = whole(range, fallback, says);
  const read = (value: TomlValue, env: Env) => (Number(value) % PAGE === 0 ? field.read(value, env) : undefined);
  return { ...field, expected: `a multiple of ${PAGE} from ${range[0]} to ${range[1]}`, read };
}

const PAGE = 4096;

export function yesNo(fallback: boolean, says: string): Field<boolean> {
  const read = (value: TomlValue) => (typeof value === "boolean" ? value : undefined);
  return { says, expected: "true or false", ...always(fallback), read };
}

export function words(fallback: readonly string[], says: string): Field<readonly string[]> {
  return { says, expected: 'a list of words (["a", "b"])', ...always(fallback), read: readWords };
}

/** A program and its arguments, which must be given. Nothing is interpreted by a shell. */
export function command(says: string): Field<readonly string[]> {
  const read = (value: TomlValue) => {
    const found = readWords(value);
    return found?.[0] ? found : undefined;
  };
  return { says, expected: 'a program and its words (["bun", "server.ts"])', fallback: undefined, shown: "", read };
}

/** A text that is not empty and has no control characters. */
export function text(fallback: string, says: string): Field<string> {
  return { says, expected: "a text", ...always(fallback), read: readText };
}

/** A text that must be given. */
export function given(says: string): Field<string> {
  return { says, expected: "a text", fallback: undefined, shown: "", read: readText };
}

/** One of a few words; without a fallback it must be given. */
export function oneOf<const T extends string>(all: readonly T[], fallback: T | undefined, says: string): Field<T> {
  const read = (value: TomlValue) => all.find((one) => one === value);
  const expected = `one of ${all.map((one) => tomlOf(one)).join(", ")}`;
  if (fallback === undefined) return { says, expected, fallback, shown: "", read };
  return { says, expected, ...always(fallback), read };
}

/** A full path: the programs that read the same file stand in different directories. */
export function path(fallback: (env: Env) => string, shown: string, says: string): Field<string> {
  const read = (value: TomlValue, env: Env) => {
    const found = readText(value)?.replace(/^~(?=\/|$)/, () => env("HOME") ?? "~");
    return found?.startsWith("/") ? found : undefined;
  };
  return { says, expected: "a full path (/… or ~/…)", fallback, shown, read };
}

/** `ctrl-` and a key, or false for none. */
export function controlKey(fallback: string, says: string): Field<string | false> {
  const read = (value: TomlValue) => {
    if (value === false) return value;
    return typeof value === "string" && controlByte(value) !== undefined ? value.toLowerCase() : undefined;
  };
  const expected = '"ctrl-" and a letter or one of @ [ \\ ] ^ _ (a backslash is written "ctrl-\\\\"), or false';
  return { says, expected, ...always<string | false>(fallback), read };
}

/** The byte that a terminal sends for `ctrl-…`; undefined where there is none. */
export function controlByte(key: string): number | undefined {
  const [, character] = /^ctrl-([a-z@[\\\]^_])$/i.exec(key) ?? [];
  return character === undefined ? undefined : character.toUpperCase().charCodeAt(0) & 0x1f;
}

/** Names and texts, for an environment. */
export function variables(says: string): Field<Readonly<Record<string, string>>> {
  const expected = 'a table of names and texts ({ NAME = "text" })';
  return { says, expected, ...always<Readonly<Record<string, string>>>({}), read: readVariables };
}

function readVariables(value: TomlValue): Readonly<Record<string, string>> | undefined {
  if (!isTable(value)) return undefined;
  const found: [string, string][] = [];
  for (const [name, node] of value) {
    if (typeof node.value !== "string" || node.value.includes("\0") || !/^[^=\0]+$/.test(name)) return undefined;
    found.push([name, node.value]);
  }
  return Object.fromEntries(found);
}

function readWords(value: TomlValue): readonly string[] | undefined {
  if (!isList(value)) return undefined;
  const found = value.flatMap((item) =>
    typeof item.value === "string" && !item.value.includes("\0") ? item.value : [],
  );
  return found.length === value.length ? found : undefined;
}

function readText(value: TomlValue): string | undefined {
  return typeof value === "string" && /^\P{Cc}+$/u.test(value) ? value : undefined;
}

function always<T>(value: T): { readonly fallback: () => T; readonly shown: string } {
  return { fallback: () => value, shown: tomlOf(value) };
}

/** A value of a setting as TOML. */
export function tomlOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const pairs = Object.entries(value).map(([name, inner]) => `${tomlKey(name)} = ${tomlOf(inner)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

export function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlOf(name);
}
