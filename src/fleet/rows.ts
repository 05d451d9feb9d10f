// What the database answers with, read: a row that no statement of ours returns is an error.
import type { PostgresRow, PostgresValue } from "../world/postgres.ts";

/** The database has what we have not written. */
export class DataError extends Error {
  override readonly name = "DataError";
}

export function isApplied(rows: readonly PostgresRow[]): boolean {
  return rows.length > 0;
}

export function only(rows: readonly PostgresRow[]): PostgresRow {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new DataError(`${rows.length} rows where there is one`);
  return row;
}

export function integer(value: PostgresValue | undefined): number {
  const number = Number(text(value));
  if (!Number.isSafeInteger(number)) throw new DataError("a number that is none");
  return number;
}

export function text(value: PostgresValue | undefined): string {
  if (typeof value !== "string") throw new DataError("no text where there is one");
  return value;
}

export function bytes(value: PostgresValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new DataError("no bytes where there are some");
  return value;
}
