// The kinds of settings: what each takes from a file, and its value if the file does not give one.
import { patternOf } from "../../core/agent/pattern.ts";
import { pageAddress } from "../../core/fleet/page-address.ts";
import { quietHoursOf } from "../../core/notify/quiet.ts";
import type { Path } from "../check.ts";
import { hostIn } from "../proxy/egress.ts";
import { either, flag, list, literal, type Shape, table, textOf, whole as wholeShape } from "../shape.ts";

export type Env = (name: string) => string | undefined;

export type Field<T> = {
  /** What the file may hold. */
  readonly shape: Shape<T>;
  /** One sentence for the reference. */
  readonly says: string;
  /** The value without a word in the file; a field without it must be given. */
  readonly fallback: ((env: Env) => T) | undefined;
  /** The fallback as the reference shows it. */
  readonly shown: string;
  /** The value that the words in the file stand for; undefined if they do not fit after all. */
  into?(given: T, env: Env): T | undefined;
};

type Range = readonly [least: number, most: number];

export function whole([least, most]: Range, fallback: number, says: string): Field<number> {
  return { shape: wholeShape(least, most), says, ...always(fallback) };
}

/** What is written to disk page by page. */
export function pages([least, most]: Range, fallback: number, says: string): Field<number> {
  return { shape: { kind: "whole", least, most, step: PAGE }, says, ...always(fallback) };
}

const PAGE = 4096;

export function yesNo(fallback: boolean, says: string): Field<boolean> {
  return { shape: flag, says, ...always(fallback) };
}

/** "auto", true or false. */
export function autoOr(says: string): Field<"auto" | boolean> {
  const shape = { ...either(literal("auto"), flag), expected: '"auto", true or false' };
  return { shape, says, ...always<"auto" | boolean>("auto") };
}

const word = textOf({ is: (text) => !text.includes("\0") });

export function words(fallback: readonly string[], says: string): Field<readonly string[]> {
  return { shape: { ...list(word), expected: 'a list of words (["a", "b"])' }, says, ...always(fallback) };
}

/** A program and its arguments, which must be given. Nothing is interpreted by a shell. */
export function command(says: string): Field<readonly string[]> {
  const shape = { ...list(word, 1), expected: 'a program and its arguments (["bun", "server.ts"])' };
  return { shape, says, ...NOTHING, into: (given) => (given[0] === "" ? undefined : given) };
}

/** A text that is not empty and has no control characters. */
const LINE = textOf({ pattern: /^\P{Cc}+$/u });

export function text(fallback: string, says: string): Field<string> {
  return { shape: LINE, says, ...always(fallback) };
}

/** A text that must be given. */
export function given(says: string): Field<string> {
  return { shape: LINE, says, ...NOTHING };
}

/** A text that may be empty. */
export function remark(says: string): Field<string> {
  return { shape: textOf({ pattern: /^\P{Cc}*$/u }), says, ...always("") };
}

/** One of a few words; without a fallback it must be given. */
export function oneOf<const T extends string>(all: readonly T[], fallback: T | undefined, says: string): Field<T> {
  return { shape: literal(...all), says, ...(fallback === undefined ? NOTHING : always(fallback)) };
}

/** A full path: the programs that read the same file run in different directories. */
export function path(fallback: (env: Env) => string, shown: string, says: string): Field<string> {
  const shape = textOf({ pattern: /^(?:\/|~(?=\/|$))\P{Cc}*$/u, expected: "a full path (/… or ~/…)" });
  const into = (given: string, env: Env) => {
    const found = given.replace(/^~/, () => env("HOME") ?? "~");
    return found.startsWith("/") ? found : undefined;
  };
  return { shape, says, fallback, shown, into };
}

/** `ctrl-` and a key, or false for none. */
export function controlKey(fallback: string, says: string): Field<string | false> {
  const expected = '"ctrl-" and a letter or one of @ [ \\ ] ^ _ (a backslash is written "ctrl-\\\\"), or false';
  const shape = { ...either(literal(false), textOf({ is: (key) => controlByte(key) !== undefined })), expected };
  return { shape, says, ...always<string | false>(fallback), into: (key) => (key === false ? key : key.toLowerCase()) };
}

/** The byte that a terminal sends for `ctrl-…`; undefined if there is none. */
export function controlByte(key: string): number | undefined {
  const [, character] = /^ctrl-([a-z@[\\\]^_])$/i.exec(key) ?? [];
  return character === undefined ? undefined : character.toUpperCase().charCodeAt(0) & 0x1f;
}

/** Names and texts, for an environment. */
export function variables(says: string): Field<Readonly<Record<string, string>>> {
  const shape = { ...table(word, /^[^=\0]+$/), expected: 'a table of names and texts ({ NAME = "text" })' };
  return { shape, says, ...always<Readonly<Record<string, string>>>({}) };
}

const PATTERN = textOf({
  is: (text) => patternOf(text) !== undefined,
  expected: "a pattern, with `*`, `?` and `[ab]`",
});

/** A pattern of a rule (docs/AGENTS.md), which must be given. */
export function pattern(says: string): Field<string> {
  return { shape: PATTERN, says, ...NOTHING };
}

/** Patterns by name. */
export function patterns(says: string): Field<Readonly<Record<string, string>>> {
  const shape = { ...table(PATTERN), expected: 'a table of names and patterns ({ command = "git log *" })' };
  return { shape, says, ...always<Readonly<Record<string, string>>>({}) };
}

/** A list of patterns. */
export function patternList(says: string): Field<readonly string[]> {
  const shape = { ...list(PATTERN), expected: 'a list of patterns (["build-*"])' };
  return { shape, says, ...always<readonly string[]>([]) };
}

/** Hosts with their ports. */
export function hosts(says: string): Field<readonly string[]> {
  const host = textOf({ is: (text) => hostIn(text) !== undefined });
  const shape = { ...list(host), expected: 'a list of hosts (["push.example.org", "10.0.0.5:8443"])' };
  return { shape, says, ...always<readonly string[]>([]) };
}

/** An address on the web, or empty for none. */
export function address(says: string): Field<string> {
  const is = (text: string) => text === "" || /^https?:$/.test(URL.parse(text)?.protocol ?? "");
  return { shape: textOf({ is, expected: "an address (https://…), or nothing" }), says, ...always("") };
}

/** Of the pages of a host's homes, or empty for none. */
export function homePage(says: string): Field<string> {
  const is = (text: string) => text === "" || pageAddress(text, "home") !== undefined;
  return {
    shape: textOf({ is, expected: "an address (https://{home}.example.org), or nothing" }),
    says,
    ...always(""),
  };
}

/** Hours of the day, or empty for none. */
export function hours(says: string): Field<string> {
  const is = (text: string) => text === "" || quietHoursOf(text) !== undefined;
  return { shape: textOf({ is, expected: 'hours of the day ("22:00-07:00"), or nothing' }), says, ...always("") };
}

const NOTHING = { fallback: undefined, shown: "" };

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

/** A full key as a file has it; items of a list are counted from 1. */
export function tomlKey(...path: Path): string {
  const keys = path.map((key) => (typeof key === "number" ? String(key + 1) : key));
  return keys.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : tomlOf(key))).join(".");
}
