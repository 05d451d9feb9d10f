// Messages to and from the database program: one JSON object a line each way, answers in the order of the requests.
import { ok, type Result, refused } from "../base/result.ts";
import { fitting } from "./check.ts";
import { count, fullPath, object, text } from "./shape.ts";

/** A few rows of short texts. */
export const MAX_DATABASE_LINE = 1 << 20;

/** The conversations of opencode in a directory that were written to since a time in ms. */
export type DatabaseRequest = { readonly path: string; readonly directory: string; readonly sinceMs: number };

const REQUEST = object({ n: count, path: fullPath, directory: text, sinceMs: count });

/** Undefined if it has no number: it cannot be answered. */
export function parseDatabaseRequest(
  fields: Readonly<Record<string, unknown>>,
): { readonly n: number; readonly request: Result<DatabaseRequest> } | undefined {
  const { n } = fields;
  if (typeof n !== "number") return undefined;
  const request = fitting(REQUEST, fields);
  return { n, request: request === undefined ? UNUSABLE : ok(request) };
}

const UNUSABLE = refused(
  "database.request",
  "The database program received a request that it does not know.",
  "The daemon and the database program are of different versions: restart the daemon.",
);
