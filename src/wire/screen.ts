// Messages to and from the screen program: one JSON object a line each way; answers are in order and carry the number.
// N1. A malformed request is refused; it never makes the program fail.
// N2. A line is bounded. The longest is a snapshot of a huge window with a colour for each cell.
import { ok, type Result, refused } from "../base/result.ts";
import type { ScreenCells, ScreenSnapshot } from "../core/terminal/screen.ts";
import { fitting } from "./check.ts";
import { type HolderSize, SIZE_SHAPE, side } from "./holder/protocol.ts";
import { count, flag, literal, object, optional, type Shape, text } from "./shape.ts";

/** N2 */
export const MAX_SCREEN_LINE = 64 << 20;
export type ScreenSize = HolderSize;

/** Of which terminal: its directory, its size unless another is recorded, and the last snapshot of it, to start
 *  from. */
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
    /** The same as `snapshot`, of an earlier offset. */
    | { readonly op: "past"; readonly until: number; readonly maxBytes: number }
    /** Makes key frames of a part of the tape. */
    | { readonly op: "index"; readonly after: number }
    /** What the terminal says to a query that its program made at this offset. */
    | { readonly op: "reply"; readonly query: string; readonly until: number }
  );

export type ScreenAnswers = {
  readonly snapshot: ScreenSnapshot;
  readonly farewell: string;
  readonly cells: ScreenCells;
  readonly past: ScreenSnapshot;
  /** How far it came; null at the end of the tape. */
  readonly index: number | null;
  /** Empty if the emulator does not know it. */
  readonly reply: string;
};

export type NumberedRequest = { readonly n: number; readonly request: Result<ScreenRequest> };

const SNAPSHOT: Shape<ScreenSnapshot> = object({
  ...{ offset: count, cols: side, rows: side, vt: text, exact: flag, at: text, title: text, alternate: flag },
  behind: optional(count),
});

const REQUEST = object({
  op: literal("snapshot", "farewell", "cells", "past", "index", "reply"),
  ...{ directory: text, size: SIZE_SHAPE, from: optional(SNAPSHOT) },
  ...{ maxBytes: optional(count), message: optional(text), until: optional(count), query: optional(text) },
  after: optional(count),
});

/** Undefined if it has no number: it cannot be answered. */
export function parseScreenRequest(fields: Readonly<Record<string, unknown>>): NumberedRequest | undefined {
  const { n } = fields;
  return typeof n === "number" ? { n, request: requestIn(fields) } : undefined;
}

function requestIn(fields: unknown): Result<ScreenRequest> {
  const found = fitting(REQUEST, fields);
  if (found === undefined) return UNUSABLE; // N1
  const { op, directory, size, from, maxBytes, message, until, query, after } = found;
  const place = { directory, size, ...(from !== undefined && { from }) };
  if (op === "snapshot" && maxBytes !== undefined) return ok({ ...place, op, maxBytes });
  if (op === "past" && maxBytes !== undefined && until !== undefined) return ok({ ...place, op, maxBytes, until });
  if (op === "index" && after !== undefined) return ok({ ...place, op, after });
  if (op === "farewell" && message !== undefined) return ok({ ...place, op, message });
  if (op === "reply" && query !== undefined && until !== undefined) return ok({ ...place, op, query, until });
  return op === "cells" ? ok({ ...place, op, ...(until !== undefined && { until }) }) : UNUSABLE;
}

const UNUSABLE = refused(
  "screen.request",
  "The screen program received a request that it does not know.",
  "The daemon and the screen program are of different versions: restart the daemon.",
);

/** The program builds answers from the same types, and is of our version: it was started from our sources. */
export function answerOf<Op extends keyof ScreenAnswers>(_: Op, answer: Result<unknown>): Result<ScreenAnswers[Op]> {
  return answer as Result<ScreenAnswers[Op]>;
}
