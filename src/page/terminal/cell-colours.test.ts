import { expect, test } from "bun:test";
import { type CellStyle, coloursOf, paletteColour } from "./cell-colours.ts";

const THEME = { foreground: "#111111", background: "#eeeeee", red: "#cc0000", brightRed: "#ff0000" };
const PLAIN: CellStyle = {
  ...{ isFgRGB: () => false, isBgRGB: () => false, isFgPalette: () => false, isBgPalette: () => false },
  ...{ getFgColor: () => -1, getBgColor: () => -1, isInverse: () => 0, isBold: () => 0, isDim: () => 0 },
  isInvisible: () => 0,
};

test("the 256 colours are those of xterm", () => {
  expect([1, 9, 16, 21, 231, 232, 255].map((index) => paletteColour(index, THEME))).toEqual([
    ...["#cc0000", "#ff0000", "#000000", "#0000ff", "#ffffff", "#080808", "#eeeeee"],
  ]);
});

test("a cell has its own colours, those of the theme, or both exchanged", () => {
  expect(coloursOf(PLAIN, THEME)).toEqual({ fg: "#111111", bg: "#eeeeee" });
  const red = { ...PLAIN, isFgPalette: () => true, getFgColor: () => 1 };
  expect(coloursOf(red, THEME).fg).toBe("#cc0000");
  expect(coloursOf({ ...red, isBold: () => 1 }, THEME).fg).toBe("#ff0000");
  expect(coloursOf({ ...red, isInverse: () => 1 }, THEME)).toEqual({ fg: "#eeeeee", bg: "#cc0000" });
  const rgb = { ...PLAIN, isBgRGB: () => true, getBgColor: () => 0x00_12_ab };
  expect(coloursOf(rgb, THEME).bg).toBe("#0012ab");
  expect(coloursOf({ ...rgb, isInvisible: () => 1 }, THEME)).toEqual({ fg: "#0012ab", bg: "#0012ab" });
});
