import { expect, test } from "bun:test";
import { bounded, MAX_LENGTH, MAX_ROWS } from "./listing.ts";

type Row = { readonly n: number; readonly over: boolean; readonly words?: string };
const isOver = ({ over }: Row) => over;

test("a list that fits is kept as it is", () => {
  const rows = [1, 2, 3].map((n) => ({ n, over: n === 2 }));
  expect(bounded(rows, isOver)).toEqual({ rows, more: 0 });
});

test("LS1 LS2 what goes on stays, then the newest that ended, in their order; the others are counted", () => {
  const rows = Array.from({ length: MAX_ROWS + 50 }, (_, n) => ({ n, over: n >= 10 }));
  const { rows: kept, more } = bounded(rows, isOver);
  expect(more).toBe(50);
  expect(kept.slice(0, 11).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 60]);
  expect(kept.at(-1)?.n).toBe(MAX_ROWS + 49);
});

test("LS2 a row that is too long alone is left out and counted, and the others stay", () => {
  const long = { n: 2, over: false, words: "x".repeat(MAX_LENGTH) };
  expect(bounded([{ n: 1, over: false }, long, { n: 3, over: true }], isOver)).toEqual({
    rows: [
      { n: 1, over: false },
      { n: 3, over: true },
    ],
    more: 1,
  });
});
