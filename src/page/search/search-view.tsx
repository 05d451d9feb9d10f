// Search: a field, and what was found, the newest first; each hit leads to its place.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SearchHit } from "../../wire/rpc/search.ts";
import { SEARCH_IN, type SearchIn } from "../../wire/search-in.ts";
import { after } from "../browser.ts";
import { Ago, Empty, Words } from "../parts/frame.tsx";
import { go } from "../state/route.ts";
import { found, pieces, placeOf, type Search, search, searchMore } from "./results.ts";

/** Typing goes on. */
const PAUSE_MS = 200;

export function SearchView({ words }: { readonly words: string }): JSX.Element {
  const text = useSignal(words);
  const place = useSignal<SearchIn | "">("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (words !== text.value) text.value = words; // The back button.
    void search(words, place.value);
  }, [words, place.value]);
  useEffect(() => after(PAUSE_MS, () => show(text.value, words)), [text.value]);
  return (
    <div class="view">
      <h1>Search</h1>
      <search>
        <form
          class="search-form"
          onSubmit={(event) => {
            event.preventDefault();
            show(text.value, words);
          }}
        >
          <input
            ref={field}
            type="search"
            aria-label="Words that a line or a name has"
            placeholder='Words, or "several in a row"'
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          <Places value={place.value} change={(next) => (place.value = next)} />
        </form>
      </search>
      <Found {...found.value} />
    </div>
  );
}

/** The address has the words, so that a search can be found again. */
function show(text: string, words: string): void {
  if (text.trim() !== words) go({ view: "search", words: text.trim() });
}

type PlacesProps = { readonly value: SearchIn | ""; readonly change: (next: SearchIn | "") => void };

function Places({ value, change }: PlacesProps): JSX.Element {
  return (
    <select
      aria-label="Where"
      value={value}
      onChange={({ currentTarget }) => change(SEARCH_IN.find((one) => one === currentTarget.value) ?? "")}
    >
      <option value="">everywhere</option>
      {SEARCH_IN.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

function Found({ words, state, hits, more, index, refusal }: Search): JSX.Element {
  return (
    <>
      <p class="soft" role="status">
        {state === "searching" && "Searching…"}
        {state === "done" && refusal === undefined && `${hits.length}${more === null ? "" : " or more"} found`}
        {index !== null && ` · the index is being built${howFar(index)}: older lines may be missing`}
      </p>
      {refusal !== undefined && (
        <p class="note warn" role="alert">
          <Words text={`${refusal.message} ${refusal.hint}`} />
        </p>
      )}
      {state === "idle" && (
        <Empty>Lines that terminals printed, messages, prompts, runs and names. The newest comes first.</Empty>
      )}
      <ul class="rows hits">
        {hits.map((hit) => (
          <li key={`${hit.kind} ${hit.id} ${hit.kind === "name" ? "" : hit.position} ${hit.text}`}>
            <Hit hit={hit} words={words} />
          </li>
        ))}
      </ul>
      {state === "done" && more !== null && (
        <p class="buttons">
          <button type="button" class="button" onClick={() => void searchMore()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

function howFar({ done, total }: { readonly done: number; readonly total: number }): string {
  return total === 0 ? "" : ` (${Math.floor((100 * done) / total)} %)`;
}

function Hit({ hit, words }: { readonly hit: SearchHit; readonly words: readonly string[] }): JSX.Element {
  return (
    <a class="hit" data-item href={placeOf(hit)}>
      <span class="soft nowrap">
        {hit.kind === "name" ? hit.of : hit.kind} <strong>{hit.name}</strong> · <Ago at={hit.at} /> ago
      </span>
      <code>{pieces(hit.text, words).map((piece, at) => (at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece))}</code>
    </a>
  );
}
