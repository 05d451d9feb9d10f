// Fields of JSON that an older program wrote: each has the expected kind, or the neutral value is used.
import type { Json } from "../../base/json.ts";
import { isObject } from "../lines.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsIn(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function textIn(fields: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

export function countIn(fields: Fields, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** JSON.parse returns nothing but JSON. */
export function tableIn(fields: Fields, ...names: readonly string[]): Readonly<Record<string, Json>> {
  for (const name of names) if (isObject(fields[name])) return fields[name] as Readonly<Record<string, Json>>;
  return {};
}

export function jsonIn(value: unknown): Json {
  return value === undefined ? null : (value as Json);
}

/** A time as we write it; the neutral one if it is not a time. */
export function timeIn(fields: Fields, otherwise: string, ...names: readonly string[]): string {
  const found = textIn(fields, ...names);
  const time = found === null ? Number.NaN : Date.parse(found);
  return Number.isNaN(time) ? otherwise : new Date(time).toISOString();
}

/** Milliseconds, or seconds and nanoseconds as a table. */
export function durationIn(fields: Fields): number {
  const plain = countIn(fields, "duration_ms");
  if (plain !== null) return plain;
  const { secs, nanos } = fieldsIn(fields["duration"]);
  return typeof secs === "number" ? Math.round(secs * 1000 + (typeof nanos === "number" ? nanos / 1e6 : 0)) : 0;
}

/** A choice as older programs write it: `"Running"`, `{"Failed": {…}}` or `{"kind": "Failed", …}`. */
export function choiceIn(value: unknown): { readonly kind: string; readonly fields: Fields } | undefined {
  if (typeof value === "string") return { kind: value, fields: {} };
  const fields = fieldsIn(value);
  if (typeof fields["kind"] === "string") return { kind: fields["kind"], fields };
  const [only, ...others] = Object.entries(fields);
  if (only === undefined || others.length > 0) return undefined;
  return { kind: only[0], fields: isObject(only[1]) ? only[1] : { message: only[1] } };
}
