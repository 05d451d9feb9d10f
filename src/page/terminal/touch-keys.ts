// The keys that a phone's keyboard does not have, as the bytes a program gets for them. Pure.
// TK1. Arrows are what the program has asked for (cursor or application keys), with Ctrl what xterm sends.
// TK2. Ctrl is held for one character that is typed next; a text of several is no key, and stays as it is.

export const TOUCH_KEYS = ["Escape", "Tab", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight"] as const;
export type TouchKey = (typeof TOUCH_KEYS)[number];

export type KeyMode = { readonly ctrl: boolean; readonly isApplication: boolean };

const ARROWS: Readonly<Partial<Record<TouchKey, string>>> = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
};

/** TK1 */
export function textOf(key: TouchKey, { ctrl, isApplication }: KeyMode): string {
  const arrow = ARROWS[key];
  if (arrow === undefined) return key === "Tab" ? "\t" : "\x1b";
  if (ctrl) return `\x1b[1;5${arrow}`;
  return `${isApplication ? "\x1bO" : "\x1b["}${arrow}`;
}

/** TK2. As a keyboard does: the last five bits of a letter; Ctrl-? is delete, and Ctrl-Space is zero. */
export function withControl(typed: string): string {
  if (!/^[@-~ ?]$/.test(typed)) return typed;
  if (typed === "?") return "\x7f";
  return String.fromCharCode(typed.toUpperCase().charCodeAt(0) & 0x1f);
}
