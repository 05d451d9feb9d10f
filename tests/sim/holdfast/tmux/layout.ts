// Layouts of windows as tmux writes them: a checksum, and cells, each with the number of its pane.
import type { Size } from "../../../../src/world/children.ts";

/** The cells of a layout, with a `%` for each pane's number. */
export type Shape = string;

const NUMBER = /(\d+x\d+,\d+,\d+),\d+(?=[,\]}]|$)/g;

/** So many panes of one size, above or beside each other; the last one takes what is left. */
export function evenly({ cols, rows }: Size, count: number, how: "above" | "beside"): Shape {
  if (count === 1) return `${cols}x${rows},0,0,%`;
  const whole = how === "above" ? rows : cols;
  const each = Math.floor((whole - (count - 1)) / count);
  const cells = Array.from({ length: count }, (_, at) => {
    const from = at * (each + 1);
    const length = at === count - 1 ? whole - from : each;
    return how === "above" ? `${cols}x${length},0,${from},%` : `${length}x${rows},${from},0,%`;
  });
  const [open, close] = how === "above" ? "[]" : "{}";
  return `${cols}x${rows},0,0${open}${cells.join(",")}${close}`;
}

export function layoutOf(shape: Shape, panes: readonly number[]): string {
  const left = [...panes];
  const cells = shape.replaceAll("%", () => String(left.shift()));
  return `${checksum(cells)},${cells}`;
}

/** Undefined if it is not one that tmux has written. */
export function shapeOf(layout: string): Shape | undefined {
  const cells = layout.slice(5);
  return layout.slice(0, 5) === `${checksum(cells)},` ? cells.replaceAll(NUMBER, "$1,%") : undefined;
}

export function cellsIn(shape: Shape): number {
  return shape.split("%").length - 1;
}

/** As `layout_checksum` of tmux. */
function checksum(cells: string): string {
  let sum = 0;
  for (const byte of Buffer.from(cells)) sum = ((sum >> 1) + ((sum & 1) << 15) + byte) & 0xffff;
  return sum.toString(16).padStart(4, "0");
}
