// What a key does on the screen of `holdfast top`: pure decisions.
// TP1. An answer goes to the prompt that the person selected and saw: the one that the last drawn frame showed as
//      selected, and whose content has not changed since. A key that comes with or before that frame answers nothing.
// TP2. Only the person's keys select. If what is selected goes away, nothing is selected, and nothing takes its place.
// TP3. Moving follows the order that was drawn: what comes and goes in the meantime does not change where a key leads.
// TP4. A prompt can be allowed once its end was in view. It can be denied unread.
// TP5. What a question or a line of text is about is fixed when it begins.
import type { Decision } from "../../core/agent/provider.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import type { Key, KeyName } from "./keys.ts";
import { type Lists, NO_LISTS, nameOf, receiverOf, type Target, targetOf } from "./rows.ts";

export type Mode =
  | { readonly kind: "list" }
  /** Only the selected one, over the whole screen. */
  | { readonly kind: "read" }
  | { readonly kind: "help" }
  | { readonly kind: "send"; readonly to: Target; readonly text: string }
  | { readonly kind: "interrupt"; readonly of: Target };

export type TopState = {
  readonly lists: Lists;
  readonly isUp: boolean;
  readonly selected: string | undefined;
  /** How many rows of the details are above their part of the screen. */
  readonly scroll: number;
  readonly mode: Mode;
  readonly message: string;
};

export const FIRST: TopState = {
  ...{ lists: NO_LISTS, isUp: false, selected: undefined, scroll: 0, mode: { kind: "list" } },
  message: "connecting …",
};

/** What the last drawn frame showed. */
export type Seen = {
  /** The keys of its rows, also of those that had no room. */
  readonly order: readonly string[];
  /** The selected prompt (TP1), and whether its end was in view, then or before (TP4). */
  readonly prompt: { readonly of: ListedPrompt; readonly toEnd: boolean } | undefined;
  /** How many rows the details have on the screen, and in all. */
  readonly page: number;
  readonly rows: number;
};

export const NOTHING_SEEN: Seen = { order: [], prompt: undefined, page: 0, rows: 0 };

export type Act =
  | { readonly kind: "answer"; readonly prompt: ListedPrompt; readonly decision: Decision }
  | { readonly kind: "send"; readonly to: Target; readonly text: string }
  | { readonly kind: "interrupt"; readonly of: Target }
  | { readonly kind: "attach"; readonly of: Target }
  | { readonly kind: "redraw" }
  | { readonly kind: "quit" };

export type Step = { readonly state: TopState; readonly act?: Act };

export function press(state: TopState, key: Key, seen: Seen): Step {
  const { mode } = state;
  if (key.kind === "named" && key.name === "quit") return { state, act: { kind: "quit" } };
  if (key.kind === "named" && key.name === "redraw") return { state, act: { kind: "redraw" } };
  if (mode.kind === "send") return writing(state, mode, key);
  if (mode.kind === "interrupt") return confirming(state, mode, key);
  if (mode.kind === "help") return listed(state);
  const does = DOES[key.kind === "named" ? key.name : key.kind === "typed" ? key.text : ""];
  return does === undefined ? { state } : does({ ...state, message: "" }, seen);
}

/** Something new is known (TP2). */
export function noted(state: TopState, news: Partial<Pick<TopState, "lists" | "isUp" | "message">>): TopState {
  const next = { ...state, ...news };
  const { selected, mode, message } = next;
  if (selected === undefined || targetOf(next.lists, selected) !== undefined) return next;
  const wasPrompt = targetOf(state.lists, selected)?.kind === "prompt";
  const gone = wasPrompt ? "The prompt is not open any more." : "What was selected is gone.";
  const isReading = mode.kind === "read";
  return {
    ...{ ...next, selected: undefined, scroll: 0, mode: isReading ? { kind: "list" } : mode },
    message: message === "" ? gone : message,
  };
}

/** An answered prompt is gone at once: the next list of them may come later. */
export function withoutPrompt(state: TopState, id: string): TopState {
  const { lists } = state;
  return noted(state, { lists: { ...lists, prompts: lists.prompts.filter((prompt) => prompt.id !== id) } });
}

type Does = (state: TopState, seen: Seen) => Step;

const DOES: Readonly<Partial<Record<KeyName | (string & {}), Does>>> = {
  up: (state, seen) => ({ state: moved(state, seen, -1) }),
  k: (state, seen) => ({ state: moved(state, seen, -1) }),
  down: (state, seen) => ({ state: moved(state, seen, 1) }),
  j: (state, seen) => ({ state: moved(state, seen, 1) }),
  p: (state, seen) => ({ state: nextPrompt(state, seen) }),
  pageup: (state, seen) => scrolled(state, seen, state.scroll - Math.max(1, seen.page)),
  pagedown: (state, seen) => scrolled(state, seen, state.scroll + Math.max(1, seen.page)),
  " ": (state, seen) => scrolled(state, seen, state.scroll + Math.max(1, seen.page)),
  home: (state, seen) => scrolled(state, seen, 0),
  end: (state, seen) => scrolled(state, seen, seen.rows),
  a: (state, seen) => answered(state, seen, "allow"),
  d: (state, seen) => answered(state, seen, "deny"),
  enter: (state) => entered(state),
  s: (state) => about(state, (to) => sendingTo(state, to)),
  i: (state) => about(state, (of) => ({ state: { ...state, mode: { kind: "interrupt", of } } })),
  "?": (state) => ({ state: { ...state, mode: { kind: "help" } } }),
  escape: (state) => listed(state),
  q: (state) => (state.mode.kind === "list" ? { state, act: { kind: "quit" } } : listed(state)),
};

function listed(state: TopState): Step {
  return { state: { ...state, mode: { kind: "list" } } };
}

/** TP3. Without a selection the first key leads to the first row, or the last one. */
function moved(state: TopState, { order, page, rows }: Seen, by: 1 | -1): TopState {
  if (state.mode.kind === "read") return { ...state, scroll: within(state.scroll + by, page, rows) };
  const at = state.selected === undefined ? -1 : order.indexOf(state.selected);
  const next = at < 0 ? order.at(by > 0 ? 0 : -1) : order[at + by];
  return selecting(state, next ?? state.selected);
}

function nextPrompt(state: TopState, { order }: Seen): TopState {
  const prompts = order.filter((key) => key.startsWith("prompt "));
  if (prompts.length === 0) return { ...state, message: "There are no open prompts." };
  const at = state.selected === undefined ? -1 : prompts.indexOf(state.selected);
  return selecting(state, prompts[(at + 1) % prompts.length]);
}

function selecting(state: TopState, key: string | undefined): TopState {
  if (key === state.selected) return state;
  const isThere = targetOf(state.lists, key) !== undefined;
  const message = isThere || key === undefined ? "" : "What was there is gone.";
  return { ...state, selected: isThere ? key : undefined, scroll: 0, message };
}

function scrolled(state: TopState, { page, rows }: Seen, to: number): Step {
  return { state: { ...state, scroll: within(to, page, rows) } };
}

export function within(scroll: number, page: number, rows: number): number {
  return Math.max(0, Math.min(scroll, rows - page));
}

function answered(state: TopState, { prompt: seen }: Seen, decision: Decision): Step {
  const target = targetOf(state.lists, state.selected);
  const no = (message: string): Step => ({ state: { ...state, message } });
  if (target?.kind !== "prompt") return no("Select a prompt first: p goes to the next one.");
  if (!state.isUp) return no("The daemon is away; nothing was answered.");
  if (seen === undefined || !isSame(seen.of, target.of))
    return no("Nothing was answered: look at it, then press again."); // TP1
  if (decision === "allow" && !seen.toEnd)
    return no("There is more of it below: read it with PgDn or End, then allow it."); // TP4
  const message = `${decision === "allow" ? "allowing" : "denying"} ${nameOf(target)} …`;
  const next = { ...state, message, selected: undefined, scroll: 0, mode: { kind: "list" } } as const; // A second press is too much.
  return { state: next, act: { kind: "answer", prompt: target.of, decision } };
}

/** TP1 */
export function isSame(a: ListedPrompt, b: ListedPrompt): boolean {
  const content = ({ id, agent, name, tool, input }: ListedPrompt) => JSON.stringify([id, agent, name, tool, input]);
  return content(a) === content(b);
}

function entered(state: TopState): Step {
  return about(state, (of) =>
    of.kind === "terminal" ? { state, act: { kind: "attach", of } } : { state: { ...state, mode: { kind: "read" } } },
  );
}

/** TP5 */
function about(state: TopState, step: (target: Target) => Step): Step {
  const target = targetOf(state.lists, state.selected);
  return target === undefined
    ? { state: { ...state, message: "Select something first, with the arrows." } }
    : step(target);
}

function sendingTo(state: TopState, to: Target): Step {
  if (to.kind === "run") return { state: { ...state, message: "A run takes no messages; its agents do." } };
  return { state: { ...state, mode: { kind: "send", to, text: "" } } };
}

function confirming(state: TopState, { of }: Mode & { readonly kind: "interrupt" }, key: Key): Step {
  const next = { ...state, mode: { kind: "list" } } as const;
  if (key.kind !== "typed" || key.text !== "y") return { state: { ...next, message: "Nothing was interrupted." } };
  return { state: { ...next, message: `interrupting ${receiverOf(of)} …` }, act: { kind: "interrupt", of } };
}

/** More than anybody types; a longer message comes from a file, by `agent send`. */
const MAX_TEXT = 16 << 10;

function writing(state: TopState, mode: Mode & { readonly kind: "send" }, key: Key): Step {
  const { to, text } = mode;
  const write = (next: string): Step => ({ state: { ...state, mode: { ...mode, text: next.slice(0, MAX_TEXT) } } });
  if (key.kind !== "named") return write(text + key.text);
  if (key.name === "erase") return write([...text].slice(0, -1).join(""));
  if (key.name === "clear") return write("");
  if (key.name === "escape") return { state: { ...state, mode: { kind: "list" }, message: "Nothing was sent." } };
  if (key.name !== "enter") return { state };
  const next = { ...state, mode: { kind: "list" } } as const;
  if (text === "") return { state: { ...next, message: "Nothing was sent." } };
  return { state: { ...next, message: `sending to ${receiverOf(to)} …` }, act: { kind: "send", to, text } };
}
