// The prompt that a notification or a link leads to, `#/now/ID`: it gets the focus as soon as it is shown.
import { effect } from "@preact/signals";
import { worker } from "../browser.ts";
import { feeds } from "../state/session.ts";
import { tell } from "../state/toasts.ts";
import { shownPrompts } from "./shown-prompts.ts";

const PLACE = /^#\/now\/([\w-]{1,64})$/;

/** While Now is shown; returns the function that ends it. */
export function followWanted(): () => void {
  addEventListener("hashchange", look);
  const stop = effect(() => {
    if (feeds.prompts.value.value !== undefined && shownPrompts.value !== undefined) requestAnimationFrame(look);
  });
  return () => {
    removeEventListener("hashchange", look);
    stop();
  };
}

function look(): void {
  const [, id] = PLACE.exec(location.hash) ?? [];
  if (id === undefined || feeds.prompts.value.value === undefined) return;
  const card = document.querySelector<HTMLElement>(`[data-prompt="${id}"]`);
  const isOpen = feeds.prompts.value.value.some((prompt) => prompt.id === id);
  if (card === null && isOpen) return; // It is drawn in a moment.
  history.replaceState(null, "", "#/now");
  if (card === null) tell("This prompt does not wait any more: it was answered, or is not asked any more.");
  card?.focus();
  card?.scrollIntoView({ block: "nearest" });
}

/** What the service worker says: a notification was clicked. */
export function followWorker(): void {
  worker.whenTold((message) => {
    const hash = typeof message === "object" && message !== null && "show" in message ? String(message.show) : "";
    if (PLACE.test(hash) || hash === "#/now") location.hash = hash;
  });
}
