// The prompts that Now shows: the open ones, and for a moment those that have just been closed.
// SP1. A prompt that was answered, here or elsewhere, or is not asked any more keeps its place for a moment, without
//      its buttons: a second click that was meant for it must not reach the next one.
import { effect, signal } from "@preact/signals";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { after } from "../browser.ts";
import { waiting } from "../state/waiting.ts";

export type ShownPrompt = { readonly prompt: ListedPrompt; readonly isOpen: boolean };

/** SP1. Longer than a double click, and than it takes to see that something has changed. */
const KEPT_MS = 1_500;

/** In their order, which does not change: the longest waiting first. */
export function shownAfter(before: readonly ShownPrompt[], open: readonly ListedPrompt[]): ShownPrompt[] {
  const closed = before.filter(({ prompt }) => !open.some(({ id }) => id === prompt.id));
  const all = [
    ...open.map((prompt) => ({ prompt, isOpen: true })),
    ...closed.map((one) => ({ ...one, isOpen: false })),
  ];
  return all.toSorted((a, b) => a.prompt.since.localeCompare(b.prompt.since));
}

export const shownPrompts = signal<readonly ShownPrompt[]>([]);

/** While Now is shown; returns the function that ends it. */
export function followPrompts(): () => void {
  shownPrompts.value = [];
  return effect(() => {
    const before = shownPrompts.peek();
    const next = shownAfter(before, waiting.value.prompts);
    shownPrompts.value = next;
    const wasOpen = new Set(before.filter(({ isOpen }) => isOpen).map(({ prompt }) => prompt.id));
    for (const { prompt, isOpen } of next) if (!isOpen && wasOpen.has(prompt.id)) after(KEPT_MS, () => drop(prompt.id));
  });
}

function drop(id: string): void {
  shownPrompts.value = shownPrompts.value.filter(({ prompt, isOpen }) => isOpen || prompt.id !== id);
}
