// The attributes of a cell or the pen, read from the emulator's words, and the sequences that set them. Pure.
// P1. `sgr` sets all attributes, starting from a reset pen; a terminal without underline styles still underlines.
import type { Attributes, ExtendedAttributes } from "../world/xterm.ts";

const FG = { inverse: 1 << 26, bold: 1 << 27, underline: 1 << 28, blink: 1 << 29, invisible: 1 << 30, strike: 1 << 31 };
const BG = { italic: 1 << 26, dim: 1 << 27, extended: 1 << 28, protected: 1 << 29, overline: 1 << 30 };
const MODE = 3 << 24;
const PALETTE_16 = 1 << 24;
const PALETTE_256 = 2 << 24;
const RGB = 0xffffff;
const STYLE_SHIFT = 26;
const STYLES = ["", "", "double", "curly", "dotted", "dashed"];

/** Numbers, so that comparing is cheap. `ext`: underline style and colour; `link`: the emulator's number of it. */
export type Pen = { readonly fg: number; readonly bg: number; readonly ext: number; readonly link: number };

export const PLAIN: Pen = { fg: 0, bg: 0, ext: 0, link: 0 };

export function isExtended(bg: number): boolean {
  return (bg & BG.extended) !== 0;
}

/** The pen of a cell: attributes outside its words count only if the words refer to them. */
export function penOf(fg: number, bg: number, extended: ExtendedAttributes | undefined): Pen {
  const beside = isExtended(bg) ? extended : undefined;
  return { fg: fg | 0, bg: bg & ~BG.extended, ext: beside?._ext ?? 0, link: beside?.urlId ?? 0 };
}

/** The pen keeps an underline colour even while nothing is underlined. */
export function currentPen({ fg, bg, extended }: Attributes): Pen {
  return { fg: fg | 0, bg: bg & ~BG.extended, ext: extended._ext, link: extended.urlId };
}

/** A saved pen has no attributes outside its words. */
export function savedPen({ fg, bg }: Attributes): Pen {
  return { fg: fg | 0, bg: bg & ~BG.extended, ext: 0, link: 0 };
}

export function samePen(a: Pen, b: Pen): boolean {
  return a === b || (a.fg === b.fg && a.bg === b.bg && a.ext === b.ext && a.link === b.link);
}

/** Whether they differ at most in the link. */
export function looksSame(a: Pen, b: Pen): boolean {
  return a.fg === b.fg && a.bg === b.bg && a.ext === b.ext;
}

/** Whether erasing can leave such a cell: with a background, and nothing else. */
export function isErased({ fg, bg, link }: Pen): boolean {
  return colour(fg) === undefined && !hasFlags(fg) && !hasFlags(bg) && link === 0;
}

export function hasBackground({ bg }: Pen): boolean {
  return (bg & MODE) !== 0;
}

export function backgroundOf({ bg }: Pen): Pen {
  return { ...PLAIN, bg: bg & (MODE | RGB) };
}

function hasFlags(word: number): boolean {
  return (word & ~(MODE | RGB)) !== 0;
}

type Colour = { readonly kind: "named" | "palette" | "rgb"; readonly value: number };

function colour(word: number): Colour | undefined {
  const mode = word & MODE;
  if (mode === 0) return undefined;
  if (mode === PALETTE_16) return { kind: "named", value: word & 0xff };
  return mode === PALETTE_256 ? { kind: "palette", value: word & 0xff } : { kind: "rgb", value: word & RGB };
}

const parts = (value: number): readonly number[] => [(value >> 16) & 255, (value >> 8) & 255, value & 255];

function colourSgr(word: number, base: 30 | 40): string {
  const found = colour(word);
  if (found === undefined) return "";
  const { kind, value } = found;
  if (kind === "named") return `;${value < 8 ? base + value : base + 60 + value - 8}`;
  return kind === "palette" ? `;${base + 8};5;${value}` : `;${base + 8};2;${parts(value).join(";")}`;
}

/** With colons: a terminal that does not know them must not misread the numbers. */
function underlineColourSgr(ext: number): string {
  const found = colour(ext);
  if (found === undefined) return "";
  return found.kind === "rgb" ? `;58:2::${parts(found.value).join(":")}` : `;58:5:${found.value}`;
}

/** 0: none, 1: single, 2 … 5 as in SGR 4:n. */
function underlineOf({ fg, ext }: Pen): number {
  return (fg & FG.underline) === 0 ? 0 : Math.max(1, (ext >> STYLE_SHIFT) & 7);
}

/** The numbers between CSI and `m` that turn a plain pen into this one (P1). */
export function sgr(pen: Pen): string {
  const { fg, bg, ext } = pen;
  const underline = underlineOf(pen);
  const flag = (on: number, code: string) => (on === 0 ? "" : code);
  const numbers =
    flag(fg & FG.bold, ";1") +
    flag(bg & BG.dim, ";2") +
    flag(bg & BG.italic, ";3") +
    flag(underline, underline > 1 ? `;4:${underline}` : ";4") +
    flag(fg & FG.blink, ";5") +
    flag(fg & FG.inverse, ";7") +
    flag(fg & FG.invisible, ";8") +
    flag(fg & FG.strike, ";9") +
    flag(bg & BG.overline, ";53") +
    colourSgr(fg, 30) +
    colourSgr(bg, 40) +
    underlineColourSgr(ext);
  return numbers.slice(1);
}

export function isProtected({ bg }: Pen): boolean {
  return (bg & BG.protected) !== 0;
}

/** For comparing: "" is the default, a number the palette, #rrggbb itself. */
export function colourName(word: number): string {
  const found = colour(word);
  if (found === undefined) return "";
  return found.kind === "rgb" ? `#${found.value.toString(16).padStart(6, "0")}` : String(found.value);
}

/** For comparing: the attributes as words. */
export function flagNames(pen: Pen, uri: string | undefined): string {
  const { fg, bg, ext } = pen;
  const underline = underlineOf(pen);
  const tint = underline === 0 ? "" : colourName(ext);
  const words: [boolean, string][] = [
    [(fg & FG.bold) !== 0, "bold"],
    [(bg & BG.dim) !== 0, "dim"],
    [(bg & BG.italic) !== 0, "italic"],
    [underline > 0, `underline${STYLES[underline] ? `=${STYLES[underline]}` : ""}${tint ? `/${tint}` : ""}`],
    [(fg & FG.blink) !== 0, "blink"],
    [(fg & FG.inverse) !== 0, "inverse"],
    [(fg & FG.invisible) !== 0, "invisible"],
    [(fg & FG.strike) !== 0, "strike"],
    [(bg & BG.overline) !== 0, "overline"],
    [isProtected(pen), "protected"],
    [uri !== undefined, `link=${uri}`],
  ];
  return words.flatMap(([on, word]) => (on ? [word] : [])).join(" ");
}
