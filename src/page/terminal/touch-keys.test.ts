// The keys of the key bar.
import { expect, test } from "bun:test";
import { TOUCH_KEYS, textOf, withControl } from "./touch-keys.ts";

test("TK1 arrows follow the program's mode, and Ctrl; Esc and Tab are what they are", () => {
  const plain = TOUCH_KEYS.map((key) => textOf(key, { ctrl: false, isApplication: false }));
  expect(plain).toEqual(["\x1b", "\t", "\x1b[D", "\x1b[B", "\x1b[A", "\x1b[C"]);
  expect(textOf("ArrowUp", { ctrl: false, isApplication: true })).toBe("\x1bOA");
  expect(textOf("ArrowUp", { ctrl: true, isApplication: true })).toBe("\x1b[1;5A");
});

test("TK2 Ctrl changes one character, and leaves texts and what is no key alone", () => {
  expect(["c", "C", "[", "?", " ", "@"].map(withControl)).toEqual(["\x03", "\x03", "\x1b", "\x7f", "\0", "\0"]);
  for (const same of ["", "ls", "1", "ä", "\r", "日"]) expect(withControl(same)).toBe(same);
});
