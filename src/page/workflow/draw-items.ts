// Draws the squares of items that are in the window.
import { CELL, type GridShape, type ItemPieces, itemsIn, letterOf } from "./item-grid.ts";

/** The colours of the page (style.css), by the letter of a state. */
const COLOURS: Readonly<Record<string, string>> = {
  ...{ p: "--line", a: "--info", s: "--good", f: "--bad", c: "--warn" },
};
const UNKNOWN = "--hover";
const GAP = 2;

type Place = { readonly shape: GridShape; readonly top: number; readonly height: number; readonly width: number };

export function drawItems(
  canvas: HTMLCanvasElement,
  place: Place,
  pieces: ItemPieces,
  chosen: number | undefined,
): void {
  const { shape, top, height, width } = place;
  const sharp = globalThis.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(sharp, sharp);
  const style = getComputedStyle(canvas);
  const colours = new Map(Object.entries(COLOURS).map(([letter, name]) => [letter, style.getPropertyValue(name)]));
  const unknown = style.getPropertyValue(UNKNOWN);
  const { first, end } = itemsIn(shape, top, height);
  for (let item = first; item < end; item += 1) {
    const x = (item % shape.columns) * CELL;
    const y = Math.floor(item / shape.columns) * CELL - top;
    context.fillStyle = colours.get(letterOf(pieces, item) ?? "") ?? unknown;
    context.fillRect(x, y, CELL - GAP, CELL - GAP);
    if (item !== chosen) continue;
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 2;
    context.strokeRect(x, y, CELL - GAP, CELL - GAP);
  }
}
