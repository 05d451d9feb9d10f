// What a search answers (rpc.ts has the rules for all methods, params.ts what it takes).
import type { FoundHit } from "../search.ts";

/** A line that has all words. */
export type LineHit = Omit<FoundHit, "name"> & { readonly name: string };

/** A terminal, an agent or a run whose name, id, lane or file has all words. */
export type NameHit = {
  readonly kind: "name";
  readonly of: "terminal" | "agent" | "run";
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly text: string;
};

export type SearchHit = LineHit | NameHit;

/** Names first, then lines; both newest first. */
export type SearchResult = {
  readonly hits: readonly SearchHit[];
  /** By which there is more; null if there is nothing more. */
  readonly more: number | null;
  /** How far the index is, in bytes; null if it is up to date or does nothing now. What is not indexed yet is missing,
   *  except for the end of each terminal, agent and run. */
  readonly index: { readonly done: number; readonly total: number } | null;
};
