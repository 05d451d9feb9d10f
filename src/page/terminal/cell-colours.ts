// The colours of a cell as CSS, from what a terminal's buffer knows of it.
import type { ITheme } from "@xterm/xterm";

/** What is read of a cell; xterm's IBufferCell has it. */
export type CellStyle = {
  isFgRGB(): boolean;
  isBgRGB(): boolean;
  isFgPalette(): boolean;
  isBgPalette(): boolean;
  getFgColor(): number;
  getBgColor(): number;
  isInverse(): number;
  isBold(): number;
  isDim(): number;
  isInvisible(): number;
};

export type CellColours = { readonly fg: string; readonly bg: string };

/** The first sixteen, in the order of their numbers. */
const NAMED = [
  ...(["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const),
  ...(["brightBlack", "brightRed", "brightGreen", "brightYellow"] as const),
  ...(["brightBlue", "brightMagenta", "brightCyan", "brightWhite"] as const),
];
const BRIGHT = 8;
const CUBE = 16;
const GREYS = 232;
const STEPS = [0, 95, 135, 175, 215, 255];

export function paletteColour(index: number, theme: ITheme): string {
  const name = NAMED[index];
  if (name !== undefined) return theme[name] ?? "#888888";
  if (index >= GREYS) return rgbText((8 + 10 * (index - GREYS)) * 0x01_01_01);
  const cube = index - CUBE;
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(
    (step) => STEPS[step] ?? 0,
  );
  return rgbText(((red ?? 0) << 16) | ((green ?? 0) << 8) | (blue ?? 0));
}

export function coloursOf(cell: CellStyle, theme: ITheme): CellColours {
  const fg = foreground(cell, theme);
  const bg = background(cell, theme);
  const [ink, paper] = cell.isInverse() ? [bg, fg] : [fg, bg];
  return { fg: cell.isInvisible() ? paper : ink, bg: paper };
}

function foreground(cell: CellStyle, theme: ITheme): string {
  const usual = theme.foreground ?? "#000000";
  if (cell.isFgRGB()) return rgbText(cell.getFgColor());
  if (!cell.isFgPalette()) return usual;
  const index = cell.getFgColor();
  return paletteColour(cell.isBold() && index < BRIGHT ? index + BRIGHT : index, theme); // Bold is bright, as in xterm.
}

function background(cell: CellStyle, theme: ITheme): string {
  if (cell.isBgRGB()) return rgbText(cell.getBgColor());
  return cell.isBgPalette() ? paletteColour(cell.getBgColor(), theme) : (theme.background ?? "#ffffff");
}

function rgbText(rgb: number): string {
  return `#${rgb.toString(16).padStart(6, "0")}`;
}
