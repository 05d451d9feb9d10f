// The keys of the page. In a terminal, keys belong to its program, except those with Ctrl-Shift or Cmd.
import { dialog, overlay } from "./state/dialog.ts";
import { go, route } from "./state/route.ts";
import { VIEWS, viewKey } from "./views.ts";

export type KeyHelp = { readonly keys: string; readonly does: string };

export const KEYS: readonly KeyHelp[] = [
  { keys: "Ctrl-K or Cmd-K", does: "command palette; in a terminal Ctrl-Shift-K or Cmd-K" },
  { keys: VIEWS.map((_, at) => viewKey(at)).join(" "), does: VIEWS.map(({ name }) => name).join(", ") },
  { keys: "j k", does: "next and previous item of a list" },
  { keys: "a d w", does: "on a prompt: allow, deny with a message, always" },
  { keys: "Enter", does: "open what has the focus" },
  { keys: "← → Space", does: "in a terminal's history: move in time, with Shift faster; play and pause" },
  { keys: "Esc", does: "close a dialog; leave a text field" },
  { keys: "?", does: "this list" },
  { keys: "Ctrl-Shift-F", does: "in a terminal: search" },
  { keys: "Ctrl-Shift-C, Ctrl-Shift-V", does: "in a terminal: copy and paste" },
  { keys: "Ctrl-click or Cmd-click", does: "in a terminal: open a link" },
  { keys: "Ctrl-Shift-Up", does: "in a terminal: leave it for its buttons" },
];

export function isPaletteKey(event: KeyboardEvent, isInTerminal: boolean): boolean {
  if (event.key.toLowerCase() !== "k" || event.altKey) return false;
  return event.metaKey || (event.ctrlKey && event.shiftKey === isInTerminal);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** The items that j and k move between, as they are on the page. */
function move(by: number): void {
  const items = [...document.querySelectorAll<HTMLElement>("[data-item]")];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  items.at(at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by)))?.focus();
}

function pressed(event: KeyboardEvent): boolean {
  const { key } = event;
  const view = VIEWS.find((_, at) => viewKey(at) === key);
  if (key === "?") overlay.value = "keys";
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (view !== undefined) go(view.to);
  else return false;
  return true;
}

export function followKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // What an input method is told is not for us.
    const isInTerminal = event.target instanceof HTMLElement && event.target.closest(".xterm") !== null;
    if (isPaletteKey(event, isInTerminal)) {
      event.preventDefault();
      overlay.value = overlay.value === "palette" ? undefined : "palette";
      return;
    }
    const isBusy = dialog.value !== undefined || overlay.value !== undefined || route.value === undefined;
    if (isBusy || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(event)) event.preventDefault();
  });
}
