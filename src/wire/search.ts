// What the search program reads and writes: the heads of the index's files, requests and answers as JSON lines, and how
// far the index is.
import { ok, type Result, refused } from "../base/result.ts";
import { fitting } from "./check.ts";
import { decodeLine } from "./lines.ts";
import { count, type Infer, list, literal, object, text, textOf, whole } from "./shape.ts";

/** Of a request: some hundred skipped ids, and words of bounded length. */
export const MAX_SEARCH_LINE = 4 << 20;
export const MAX_HITS = 1000;
export const MAX_WORDS = 16;
export const MAX_WORD = 200;

/** A block of a source: from and to which position, and when its first and last line came. */
export type GroupBlock = readonly [from: number, to: number, first: number, last: number];
/** `proof`: a sum of what is before the end of the last block. */
export type GroupHead = { readonly session: string; readonly proof: number; readonly blocks: readonly GroupBlock[] };

const HEAD = object({ session: text, proof: count, blocks: list(list(count, 4), 1) });

/** Undefined if it is not one. */
export function groupHeadIn(json: string): GroupHead | undefined {
  const found = fitting(HEAD, decodeLine(json));
  if (found === undefined) return undefined;
  const blocks = found.blocks.map(([from = 0, to = 0, first = 0, last = 0]): GroupBlock => [from, to, first, last]);
  return { ...found, blocks };
}

export const SEARCHED_WORDS = list(textOf({ least: 1, most: MAX_WORD }), 1);
export const SEARCH_LIMIT = whole(1, MAX_HITS);

const FIND = object({
  op: literal("find"),
  words: SEARCHED_WORDS,
  /** Which sources and lines; empty: all. */
  kinds: list(literal("terminal", "agent", "prompt", "run")),
  limit: SEARCH_LIMIT,
  /** Terminals, agents and runs that are not searched. */
  skip: list(text),
});
const MORE = object({ op: literal("more"), search: count, limit: SEARCH_LIMIT });

export type FindRequest = Infer<typeof FIND>;
export type SearchRequest = FindRequest | Infer<typeof MORE>;

/** Undefined if it has no number: it cannot be answered. */
export function parseSearchRequest(
  fields: Readonly<Record<string, unknown>>,
): { readonly n: number; readonly request: Result<SearchRequest> } | undefined {
  const { n } = fields;
  if (typeof n !== "number") return undefined;
  const request = fitting(FIND, fields) ?? fitting(MORE, fields);
  return { n, request: request === undefined ? UNUSABLE : ok(request) };
}

const UNUSABLE = refused(
  "search.request",
  "The search program received a request that it does not know.",
  "The daemon and the search program are of different versions: restart the daemon.",
);

/** A line with all words. `position`: the offset behind it on the tape of a terminal; otherwise the seq in the log. */
export type FoundHit = {
  readonly kind: "terminal" | "agent" | "prompt" | "run";
  readonly id: string;
  readonly position: number;
  readonly at: string;
  readonly text: string;
  /** Of an agent or a run, as its log has it. */
  readonly name: string | null;
  /** The number of the attempt of a run's step that printed it; `position` is 0 while that runs. */
  readonly attempt?: number;
};

/** Newest first. `search`: its number, to ask for more; null if there is nothing more. */
export type SearchAnswer = {
  readonly hits: readonly FoundHit[];
  readonly search: number | null;
  /** Files of the index that are damaged. */
  readonly damaged: readonly string[];
};

/** The program builds answers from the same types, and is of our version: it was started from our sources. */
export function searchAnswerOf(answer: Result<unknown>): Result<SearchAnswer> {
  return answer as Result<SearchAnswer>;
}

/** What the indexer is to do. `check`: reads every file of the index, and not only those that it adds to. */
const ORDER = object({ home: text, maxBytes: count, check: count, skip: list(text) });
export type IndexOrder = Infer<typeof ORDER>;

export function indexOrderIn(line: string): IndexOrder | undefined {
  return fitting(ORDER, decodeLine(line));
}

/** What the indexer says, a line each: how far it is, in bytes, and which files were damaged. */
const PROGRESS = object({ done: count, total: count, damaged: list(text) });
export type IndexProgress = Infer<typeof PROGRESS>;

export function indexProgressIn(line: string): IndexProgress | undefined {
  return fitting(PROGRESS, decodeLine(line));
}
