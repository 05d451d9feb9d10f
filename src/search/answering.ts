// Answers one request at a time: a search, or more of one. A failure is refused for that request only.
// AS1. An answer takes a bounded time: it has what was found until then, and the number by which there is more.
// AS2. The last few searches are kept, so that they go on where they were.
import { isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { FoundHit, SearchAnswer, SearchRequest } from "../wire/search.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { Finder } from "./finder.ts";

/** AS1 */
const ANSWER_MS = 150;
/** AS2. As many as a person has pages open. */
const MAX_SEARCHES = 8;

type Search = { readonly finder: Finder; readonly lines: Generator<FoundHit | undefined> };

export type SearchWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export class Answering {
  readonly #world: SearchWorld;
  /** The most recent one is last. */
  readonly #searches = new Map<number, Search>();

  constructor(world: SearchWorld) {
    this.#world = world;
  }

  /** `n`: the number of the request, and of the search that it begins. */
  answer(n: number, request: SearchRequest): Result<SearchAnswer> {
    try {
      if (request.op === "more") return this.#more(request.search, request.limit);
      const finder = new Finder(this.#world, request);
      this.#searches.set(n, { finder, lines: finder.lines() });
      for (const oldest of [...this.#searches.keys()].slice(0, -MAX_SEARCHES)) this.#searches.delete(oldest);
      return this.#more(n, request.limit);
    } catch (error) {
      if (!isFault(error)) throw error;
      return refused("search.unreadable", error.message, error.hint);
    }
  }

  #more(number: number, limit: number): Result<SearchAnswer> {
    const search = this.#searches.get(number);
    if (search === undefined) return GONE;
    const until = this.#world.clock.elapsed() + ANSWER_MS;
    const hits: FoundHit[] = [];
    let isOver = false;
    while (!isOver && hits.length < limit && this.#world.clock.elapsed() < until) {
      const next = search.lines.next();
      isOver = next.done === true;
      if (next.done !== true && next.value !== undefined) hits.push(next.value);
    }
    if (isOver) this.#searches.delete(number);
    return ok({ hits, search: isOver ? null : number, damaged: search.finder.damaged() });
  }
}

const GONE = refused("search.gone", "That search is over.", "Search again.");
