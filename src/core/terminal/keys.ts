// Keys by the names that tmux gives them (C-c, M-x, Enter, BSpace, F5, C-Left …), and the bytes that a terminal sends.
// KY1. Arrows and the like are sent as in a terminal's normal mode, with modifiers as xterm writes them: which mode a
//      program has chosen is not known here.

const ESC = "\u001b";
const SHIFT = 1;
const META = 2;
const CONTROL = 4;

/** The keys that are one character. */
const CHARACTERS = { enter: "\r", escape: ESC, tab: "\t", bspace: "\u007f", space: " " };
/** The letter at the end: `CSI A`, with modifiers `CSI 1;5A`. */
const LETTERS = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F", f1: "P", f2: "Q", f3: "R", f4: "S" };
/** The number: `CSI 5~`, with modifiers `CSI 5;2~`. */
const NUMBERS = {
  ...{ insert: 2, ic: 2, delete: 3, dc: 3, pageup: 5, pgup: 5, ppage: 5, pagedown: 6, pgdn: 6, npage: 6 },
  ...{ f5: 15, f6: 17, f7: 18, f8: 19, f9: 20, f10: 21, f11: 23, f12: 24 },
};

const characters = new Map(Object.entries(CHARACTERS));
const letters = new Map(Object.entries(LETTERS));
const numbers = new Map(Object.entries(NUMBERS));

/** What the key sends; undefined if there is no such key. Names may be written in any case, single characters not. */
export function keyBytes(key: string): string | undefined {
  const [, prefixes = "", name = ""] = /^((?:[CMS]-|\^(?=.))*)(.+)$/su.exec(key) ?? [];
  const held = (letters: string, value: number) => ([...letters].some((one) => prefixes.includes(one)) ? value : 0);
  const modifiers = held("S", SHIFT) + held("M", META) + held("C^", CONTROL);
  return sequence(name.toLowerCase(), modifiers) ?? typed(name, modifiers);
}

function sequence(name: string, modifiers: number): string | undefined {
  if (name === "btab" || (name === "tab" && modifiers === SHIFT)) return `${ESC}[Z`;
  const letter = letters.get(name);
  const number = numbers.get(name);
  const held = modifiers === 0 ? "" : `;${modifiers + 1}`;
  if (number !== undefined) return `${ESC}[${number}${held}~`;
  if (letter === undefined) return undefined;
  if (held !== "") return `${ESC}[1${held}${letter}`;
  return /^f\d/.test(name) ? `${ESC}O${letter}` : `${ESC}[${letter}`; // KY1
}

/** A character, with Escape before it for Meta. */
function typed(name: string, modifiers: number): string | undefined {
  const plain = characters.get(name.toLowerCase()) ?? ([...name].length === 1 ? name : undefined);
  if (plain === undefined) return undefined;
  const shifted = (modifiers & SHIFT) === 0 ? plain : plain.toUpperCase();
  const sent = (modifiers & CONTROL) === 0 ? shifted : controlled(shifted);
  return sent === undefined || (modifiers & META) === 0 ? sent : `${ESC}${sent}`;
}

/** C-a … C-z, C-@ C-[ C-\ C-] C-^ C-_, C-Space, and C-? for Delete; other characters have no such key. */
function controlled(character: string): string | undefined {
  if (character === " ") return "\0";
  if (character === "?") return "\u007f";
  const upper = character.toUpperCase();
  return /^[@-_]$/.test(upper) ? String.fromCharCode(upper.charCodeAt(0) & 0x1f) : undefined;
}
