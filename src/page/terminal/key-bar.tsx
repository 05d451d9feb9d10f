// The keys that a phone's keyboard does not have, above it: Esc, Tab, Ctrl and the arrows. Only where fingers point.
// KB1. Pressing one leaves the focus where it is: the keyboard stays.
import type { JSX } from "preact";
import { TOUCH_KEYS, type TouchKey } from "./touch-keys.ts";
import type { Window } from "./window.ts";

const LABELS: Readonly<Record<TouchKey, string>> = {
  Escape: "Esc",
  Tab: "Tab",
  ArrowLeft: "←",
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowRight: "→",
};
const NAMES: Readonly<Partial<Record<TouchKey, string>>> = {
  ArrowLeft: "Left",
  ArrowDown: "Down",
  ArrowUp: "Up",
  ArrowRight: "Right",
};

export function KeyBar({ window }: { readonly window: Window }): JSX.Element {
  const [first, second, ...arrows] = TOUCH_KEYS;
  const key = (one: TouchKey) => (
    <button
      key={one}
      type="button"
      class="button"
      aria-label={NAMES[one] ?? LABELS[one]}
      onClick={() => window.press(one)}
    >
      {LABELS[one]}
    </button>
  );
  return (
    <div
      class="key-bar"
      role="toolbar"
      aria-label="Keys"
      onMouseDown={(event) => event.preventDefault()} // KB1
    >
      {key(first)}
      {key(second)}
      <button type="button" class="button" aria-pressed={window.control.value} onClick={() => window.holdControl()}>
        Ctrl
      </button>
      {arrows.map(key)}
    </div>
  );
}
