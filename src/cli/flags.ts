// Flags and arguments that many commands share: their names, parsers and descriptions.
import type { Context, Named } from "./command-world.ts";

export type HomeFlags = { readonly home?: string };
export type DataFlags = HomeFlags & { readonly json?: boolean };

export const text = (input: string): string => input;

export function wholeNumber(input: string): number {
  const number = Number(input);
  if (!/^\d+$/.test(input) || !Number.isSafeInteger(number)) throw new Error("it must be a whole number");
  return number;
}

export const home = {
  kind: "parsed",
  parse: text,
  optional: true,
  placeholder: "dir",
  brief: "The home [default = HOLDFAST_HOME, or holdfast in the XDG state directory]",
} as const;

export function flag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

export function textFlag(placeholder: string, brief: string) {
  return { kind: "parsed", parse: text, optional: true, placeholder, brief } as const;
}

export function numberFlag(placeholder: string, brief: string) {
  return { kind: "parsed", parse: wholeNumber, optional: true, placeholder, brief } as const;
}

export function choiceFlag<T extends string>(values: readonly T[], brief: string) {
  const parse = (input: string): T => {
    const found = values.find((value) => value === input);
    if (found === undefined) throw new Error(`it must be one of ${values.join(", ")}`);
    return found;
  };
  return { kind: "parsed", parse, optional: true, placeholder: values.join("|"), brief } as const;
}

export function countFlag(usual: string, brief: string) {
  return { kind: "parsed", parse: wholeNumber, default: usual, placeholder: "n", brief } as const;
}

export function proposing(kind: Named) {
  return function propose(this: Context): Promise<readonly string[]> {
    return this.names?.(kind) ?? Promise.resolve([]);
  };
}

/** An existing terminal. */
export const terminal = {
  parse: text,
  placeholder: "terminal",
  brief: "A terminal's name, its id, or a prefix of its id",
  proposeCompletions: proposing("terminal"),
} as const;

export const newName = {
  parse: text,
  placeholder: "name",
  brief: "Letters, digits, dot, dash and underscore, at most 64",
} as const;
