// A line of JSON from a foreign program: any field may be missing or of another kind.
// N1. Unknown fields are ignored; a field of the wrong kind counts as missing.
import { isList, isRecord, type Json, parseJson } from "../../base/json.ts";

export type Fields = { readonly [name: string]: Json };

const NONE: Fields = Object.freeze({});

/** The object on the line; undefined if there is none. */
export function readObject(line: string): Fields | undefined {
  const value = parseJson(line);
  return value.ok && isRecord(value.value) ? value.value : undefined;
}

export function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

export function numberAt(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === "number" ? value : undefined;
}

export function fieldsAt(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isRecord(value) ? value : NONE;
}

/** The objects in a list; other items are ignored (N1). */
export function objectsAt(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return isList(value) ? value.filter(isRecord) : [];
}

/** A whole number, not negative and not too large to count with. */
export function countAt(fields: Fields, name: string): number | undefined {
  const value = numberAt(fields, name);
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** An amount of money. */
export function amountAt(fields: Fields, name: string): number | undefined {
  const value = numberAt(fields, name);
  return value !== undefined && value >= 0 && value < MAX_AMOUNT ? value : undefined;
}

/** More than anything costs; beyond it a sum would lose its cents. */
const MAX_AMOUNT = 1e9;
