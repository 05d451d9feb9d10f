import { expect, test } from "bun:test";
import { keyBytes } from "./keys.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["C-c", "\u0003"],
  ["^C", "\u0003"],
  ["C-C", "\u0003"],
  ["C-[", "\u001b"],
  ["C-\\", "\u001c"],
  ["C-Space", "\0"],
  ["C-?", "\u007f"],
  ["M-x", "\u001bx"],
  ["M-C-x", "\u001b\u0018"],
  ["C-M-x", "\u001b\u0018"],
  ["S-a", "A"],
  ["a", "a"],
  ["^", "^"],
  ["-", "-"],
  ["é", "é"],
  ["Enter", "\r"],
  ["enter", "\r"],
  ["M-Enter", "\u001b\r"],
  ["Escape", "\u001b"],
  ["Tab", "\t"],
  ["BTab", "\u001b[Z"],
  ["S-Tab", "\u001b[Z"],
  ["BSpace", "\u007f"],
  ["Space", " "],
  ["Up", "\u001b[A"],
  ["C-Left", "\u001b[1;5D"],
  ["S-M-Up", "\u001b[1;4A"],
  ["Home", "\u001b[H"],
  ["F1", "\u001bOP"],
  ["S-F1", "\u001b[1;2P"],
  ["F5", "\u001b[15~"],
  ["F12", "\u001b[24~"],
  ["C-F12", "\u001b[24;5~"],
  ["PPage", "\u001b[5~"],
  ["PageDown", "\u001b[6~"],
  ["DC", "\u001b[3~"],
  ["IC", "\u001b[2~"],
];

test.each(KEYS)("%s sends %j", (name, bytes) => {
  expect(keyBytes(name)).toBe(bytes);
});

test.each(["", "C-", "Entre", "F13", "C-é", "C-1", "C-Enter!", "ab", "constructor"])("%j is not a key", (name) => {
  expect(keyBytes(name)).toBeUndefined();
});
