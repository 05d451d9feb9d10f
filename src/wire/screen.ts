// What is said to the screen program and by it: one JSON object in a line each way, answered in order, by number.
// N1. What a request lacks or has wrong makes that request refused, never the program fail.
// N2. A line is bounded. The largest is a snapshot of an enormous window with a colour for each cell.
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import type { ScreenCells, ScreenSnapshot } from "../core/terminal/screen.ts";
import { isObject } from "./lines.ts";

/** N2 */
export const MAX_SCREEN_LINE = 64 << 20;
/** What a terminal can be at most: the system counts in 16 bits. */
const MAX_SIDE = 65_535;

export type ScreenSize = { readonly cols: number; readonly rows: number };

/** Of which terminal: its directory, the size it has where no other is recorded, and the last snapshot of it, to start from. */
export type ScreenPlace = {
  readonly directory: string;
  readonly size: ScreenSize;
  readonly from?: ScreenSnapshot;
};

export type ScreenRequest = ScreenPlace &
  (
    | { readonly op: "snapshot"; readonly maxBytes: number }
    | { readonly op: "farewell"; readonly message: string }
    /** `until`: at this offset, and not at the tape's end. */
    | { readonly op: "cells"; readonly until?: number }
  );

export type ScreenAnswers = {
  readonly snapshot: ScreenSnapshot;
  readonly farewell: string;
  readonly cells: ScreenCells;
};

export type NumberedRequest = { readonly n: number; readonly request: Result<ScreenRequest> };

/** undefined where nobody could be answered: there is no number. */
export function parseScreenRequest(fields: Readonly<Record<string, unknown>>): NumberedRequest | undefined {
  const { n } = fields;
  return typeof n === "number" ? { n, request: requestIn(fields) } : undefined;
}

function requestIn(fields: Readonly<Record<string, unknown>>): Result<ScreenRequest> {
  const { op, directory, size, from, maxBytes, message, until } = fields;
  const place = { directory, size, ...(from === undefined ? {} : { from }) };
  if (!isPlace(place)) return UNUSABLE;
  if (op === "snapshot" && isCount(maxBytes)) return ok({ ...place, op, maxBytes });
  if (op === "farewell" && typeof message === "string") return ok({ ...place, op, message });
  if (op === "cells" && until === undefined) return ok({ ...place, op });
  return op === "cells" && isCount(until) ? ok({ ...place, op, until }) : UNUSABLE; // N1
}

const UNUSABLE = refused(
  "screen.request",
  "The screen program was asked for something it does not know.",
  "Daemon and screen program are of different versions: restart the daemon.",
);

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isSide(value: unknown): boolean {
  return isCount(value) && value >= 1 && value <= MAX_SIDE;
}

function isPlace(value: Readonly<Record<string, unknown>>): value is ScreenPlace {
  const { directory, size, from } = value;
  const isSized = isObject(size) && isSide(size["cols"]) && isSide(size["rows"]);
  return typeof directory === "string" && isSized && (from === undefined || isScreenSnapshot(from));
}

/** Whether somebody's value is a snapshot: a checkpoint may be damaged, or of another version. */
export function isScreenSnapshot(value: unknown): value is ScreenSnapshot {
  if (!isObject(value)) return false;
  const isText = ["vt", "at", "title"].every((key) => typeof value[key] === "string");
  const isFlag = ["exact", "alternate"].every((key) => typeof value[key] === "boolean");
  if (value["behind"] !== undefined && !isCount(value["behind"])) return false;
  return isText && isFlag && isCount(value["offset"]) && isSide(value["cols"]) && isSide(value["rows"]);
}

export type ScreenAnswer = { readonly n: number; readonly answer: Result<unknown> };

export function parseScreenAnswer(fields: Readonly<Record<string, unknown>>): ScreenAnswer | undefined {
  const { n, ok: fine, value, error } = fields;
  if (typeof n !== "number") return undefined;
  if (fine === true) return { n, answer: ok(value) };
  return isRefusal(error) ? { n, answer: { ok: false, error } } : undefined;
}

function isRefusal(value: unknown): value is Refusal {
  return isObject(value) && ["code", "message", "hint"].every((key) => typeof value[key] === "string");
}

/** The program's own types made the answer, and it is of our version: it was started from our sources. */
export function answerOf<Op extends keyof ScreenAnswers>(_: Op, answer: Result<unknown>): Result<ScreenAnswers[Op]> {
  return answer as Result<ScreenAnswers[Op]>;
}
