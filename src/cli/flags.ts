// Flags and arguments that many commands share: their names, parsers and descriptions.
import { durationMs } from "../wire/files/duration.ts";
import type { Context, Named } from "./command-world.ts";

export type HomeFlags = { readonly home?: string };
export type DataFlags = HomeFlags & { readonly json?: boolean };

export const text = (input: string): string => input;

export function wholeNumber(input: string): number {
  const number = Number(input);
  if (!/^\d+$/.test(input) || !Number.isSafeInteger(number)) throw new Error("it must be a whole number");
  return number;
}

/** In place of candidates: the shell completes names of files (system/completions.ts). */
export const FILES = ":files";
/** stricli drops candidates that do not begin with what was typed. */
export const proposeFiles = (typed: string): readonly string[] => [`${typed}${FILES}`];
/** Flags with one of these placeholders take a path. */
const PATHS: readonly string[] = ["dir", "file", "path"];

export const home = {
  kind: "parsed",
  proposeCompletions: proposeFiles,
  parse: text,
  optional: true,
  placeholder: "dir",
  brief: "The home [default = HOLDFAST_HOME, or holdfast in the XDG state directory]",
} as const;

export function flag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

/** Of lists. */
export const allHomes = flag("Of all homes of the fleet: what the others last said of themselves (docs/FLEET.md)");

export function textFlag(placeholder: string, brief: string) {
  const proposeCompletions = (typed: string) => (PATHS.includes(placeholder) ? proposeFiles(typed) : []);
  return { kind: "parsed", parse: text, optional: true, placeholder, brief, proposeCompletions } as const;
}

export function numberFlag(placeholder: string, brief: string) {
  return { kind: "parsed", parse: wholeNumber, optional: true, placeholder, brief } as const;
}

/** In milliseconds. */
export function timeSpan(input: string): number {
  const ms = durationMs(/^[\d.]+$/.test(input) ? `${input}s` : input);
  if (ms === undefined) throw new Error("it must be a time such as 30s, 5m or 2h");
  return ms;
}

export function timeFlag(brief: string) {
  return { kind: "parsed", parse: timeSpan, optional: true, placeholder: "time", brief } as const;
}

export function choiceFlag<T extends string>(values: readonly T[], brief: string) {
  const parse = (input: string): T => {
    const found = values.find((value) => value === input);
    if (found === undefined) throw new Error(`it must be one of ${values.join(", ")}`);
    return found;
  };
  const proposeCompletions = () => values;
  return { kind: "parsed", parse, optional: true, placeholder: values.join("|"), brief, proposeCompletions } as const;
}

export function countFlag(usual: string, brief: string) {
  return { kind: "parsed", parse: wholeNumber, default: usual, placeholder: "n", brief } as const;
}

/** From 1 to `most`. */
export function amountFlag(most: number, usual: string, brief: string) {
  const parse = (input: string): number => {
    const number = wholeNumber(input);
    if (number < 1 || number > most) throw new Error(`it must be a whole number from 1 to ${most}`);
    return number;
  };
  return { kind: "parsed", parse, default: usual, placeholder: "n", brief } as const;
}

export function proposing(kind: Named) {
  return function propose(this: Context): Promise<readonly string[]> {
    return this.names?.(kind) ?? Promise.resolve([]);
  };
}

/** stricli prints a description in place of the summary; people need both. */
export function described(brief: string, ...lines: readonly string[]) {
  return { brief, fullDescription: [`${brief}.`, "", ...lines].join("\n") };
}

/** An existing terminal. */
export const terminal = {
  parse: text,
  placeholder: "terminal",
  brief: "A terminal's name or id, or a prefix of one of them",
  proposeCompletions: proposing("terminal"),
} as const;

/** For commands that also work in other homes of the fleet. */
export const anyTerminal = { ...terminal, brief: `${terminal.brief}; HOST/NAME in another home of the fleet` } as const;

export const newName = {
  parse: text,
  placeholder: "name",
  brief: "Letters, digits, dot, dash and underscore, at most 64",
} as const;
