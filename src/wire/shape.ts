// Shapes of foreign data, as values: what may stand in a configuration or a workflow file, arrive in a request, or come
// back from disk. check.ts walks a value by its shape; references and schemas are generated from the same values.
// S1. A type is written once: `Infer<typeof S>` is the type of what passes S.
// S2. Objects are open: fields that this version does not know are ignored and kept. Only files that people write have
//     closed ones, because a misspelt key would silently have no effect.

import type { Json } from "../base/json.ts";

declare const TYPE: unique symbol;

type Literal = string | number | boolean | null;

type Kind =
  | {
      readonly kind: "text";
      readonly least?: number;
      readonly most?: number;
      readonly pattern?: RegExp;
      readonly is?: (text: string) => boolean;
    }
  | { readonly kind: "whole"; readonly least: number; readonly most: number; readonly step?: number }
  | { readonly kind: "number"; readonly above?: number; readonly is?: (number: number) => boolean }
  | { readonly kind: "flag" }
  | { readonly kind: "literal"; readonly of: readonly Literal[] }
  | { readonly kind: "list"; readonly of: Shape; readonly least: number }
  /** Names that the sender chooses, all with values of one shape. */
  | { readonly kind: "table"; readonly of: Shape; readonly names?: RegExp }
  | { readonly kind: "object"; readonly fields: Fields; readonly closed: boolean }
  /** The first one that takes a value of this kind decides. */
  | { readonly kind: "either"; readonly of: readonly Shape[] }
  /** Any JSON value; check.ts limits its depth. */
  | { readonly kind: "json" }
  /** Not looked at: a checksum, or the code behind the border, vouches for it. */
  | { readonly kind: "any" }
  /** A shape that contains itself. */
  | { readonly kind: "later"; readonly name: string; readonly shape: () => Shape };

type Notes = {
  /** A field that may be left out. */
  readonly optional?: true;
  /** One sentence about a field, for references. */
  readonly says?: string;
  /** Completes "It takes …" if the kind alone does not say enough. */
  readonly expected?: string;
  /** What else the caller reads in the value: see `Visit` in check.ts. */
  readonly as?: string;
};

export type Shape<T = unknown> = Kind & Notes & { readonly [TYPE]?: T };
export type Optional<T> = Shape<T> & { readonly optional: true };
export type Fields = Readonly<Record<string, Shape>>;

/** S1 */
export type Infer<S> = S extends { readonly [TYPE]?: infer T } ? T : never;

export type InferFields<F extends Fields> = {
  readonly [K in keyof F as F[K] extends { readonly optional: true } ? never : K]: Infer<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends { readonly optional: true } ? K : never]?: Infer<F[K]>;
};

/** Shows an inferred type as one object. */
type Flat<T> = { [K in keyof T]: T[K] };

type TextRules = Omit<Extract<Kind, { readonly kind: "text" }>, "kind"> & Pick<Notes, "expected" | "as">;

export const text = textOf({});
export const flag: Shape<boolean> = { kind: "flag" };
export const json: Shape<Json> = { kind: "json" };
export const any: Shape = { kind: "any" };
/** A whole number from 0 on. */
export const count = whole(0);
/** A number of any kind; what it may be is decided behind the border. */
export const number: Shape<number> = { kind: "number" };
/** An absolute path. */
export const fullPath = textOf({ pattern: /^\//, expected: "a full path" });

export function textOf(rules: TextRules): Shape<string> {
  return { kind: "text", ...rules };
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return { kind: "whole", least, most };
}

export function literal<const T extends readonly Literal[]>(...of: T): Shape<T[number]> {
  return { kind: "literal", of };
}

export function list<T>(of: Shape<T>, least = 0): Shape<readonly T[]> {
  return { kind: "list", of, least };
}

export function table<T>(of: Shape<T>, names?: RegExp): Shape<Readonly<Record<string, T>>> {
  return { kind: "table", of, ...(names !== undefined && { names }) };
}

export function object<const F extends Fields>(fields: F): Shape<Flat<InferFields<F>>> {
  return { kind: "object", fields, closed: false };
}

/** S2 */
export function closed<const F extends Fields>(fields: F): Shape<Flat<InferFields<F>>> {
  return { kind: "object", fields, closed: true };
}

export function either<const S extends readonly Shape[]>(...of: S): Shape<Infer<S[number]>> {
  return { kind: "either", of };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return { kind: "either", of: [literal(null), shape] };
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { ...shape, optional: true };
}

/** All fields of an object may be left out. */
export function partial<const F extends Fields>(fields: F): { readonly [K in keyof F]: Optional<Infer<F[K]>> } {
  const all = Object.entries(fields).map(([name, shape]) => [name, optional(shape)]);
  return Object.fromEntries(all);
}
