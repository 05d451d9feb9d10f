// The search of the page: what is asked, what was found so far, and where each hit leads.
// SE1. Of an answer that comes after the next question, nothing is shown.
// SE2. It goes on by itself until a screenful is found, and beyond that when it is asked to.
import { signal } from "@preact/signals";
import type { Refusal } from "../../base/result.ts";
import type { SearchHit, SearchResult } from "../../wire/rpc/search.ts";
import { MAX_WORD, MAX_WORDS } from "../../wire/search.ts";
import type { SearchIn } from "../../wire/search-in.ts";
import { call } from "../state/session.ts";

export type Search = {
  readonly words: readonly string[];
  readonly state: "idle" | "searching" | "done";
  readonly hits: readonly SearchHit[];
  readonly more: number | null;
  readonly index: SearchResult["index"];
  readonly refusal: Refusal | undefined;
};

const NONE: Search = { words: [], state: "idle", hits: [], more: null, index: null, refusal: undefined };
/** SE2 */
const SCREENFUL = 50;

export const found = signal<Search>(NONE);
let asked = 0;

/** Words, with those in quotes as one. */
export function wordsIn(text: string): string[] {
  const words = [...text.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, quoted]) => (quoted ?? word).slice(0, MAX_WORD));
  return words.slice(0, MAX_WORDS);
}

export async function search(text: string, place: SearchIn | ""): Promise<void> {
  const words = wordsIn(text);
  asked += 1;
  found.value = words.length === 0 ? NONE : { ...NONE, words, state: "searching" };
  if (words.length > 0) await goOn({ words, limit: SCREENFUL, ...(place !== "" && { in: place }) });
}

export async function searchMore(): Promise<void> {
  const { more, state } = found.value;
  if (more === null || state === "searching") return;
  found.value = { ...found.value, state: "searching" };
  await goOn({ more, limit: SCREENFUL });
}

type Wish = Parameters<typeof call<"search">>[1];

/** SE2 */
async function goOn(wish: Wish, enough = found.value.hits.length + SCREENFUL): Promise<void> {
  const number = asked;
  const answer = await call("search", wish);
  if (number !== asked) return; // SE1
  if (!answer.ok) {
    found.value = { ...found.value, state: "done", more: null, refusal: answer.error };
    return;
  }
  const { more, index } = answer.value;
  const hits = [...found.value.hits, ...answer.value.hits];
  const isDone = more === null || hits.length >= enough;
  found.value = { ...found.value, hits, more, index, state: isDone ? "done" : "searching" };
  if (!isDone) await goOn({ more, limit: enough - hits.length }, enough);
}

const VIEWS = { terminal: "terminals", agent: "agents", prompt: "agents", run: "workflows" } as const;

/** The moment of a terminal, the entry of an agent's log, or the run with the attempt of its step. */
export function placeOf(hit: SearchHit): string {
  const id = encodeURIComponent(hit.id);
  if (hit.kind === "name") return `#/${VIEWS[hit.of]}/${id}`;
  const at = hit.kind === "run" ? hit.attempt : hit.position;
  return `#/${VIEWS[hit.kind]}/${id}${at === undefined ? "" : `?at=${at}`}`;
}

/** The text in pieces; every second one is one of the words. */
export function pieces(text: string, words: readonly string[]): string[] {
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return escaped.length === 0 ? [text] : text.split(new RegExp(`(${escaped.join("|")})`, "gi"));
}
