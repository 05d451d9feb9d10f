import { expect, test } from "bun:test";
import type { ListedStep } from "../../wire/rpc/workflow.ts";
import {
  BLOCK,
  blockOf,
  missingPage,
  PAGE,
  rowCount,
  rowOf,
  rowsIn,
  type StepPages,
  stepIn,
  withPage,
} from "./step-rows.ts";

const step = (name: number): ListedStep => ({ step: `s${name}`, outcome: "succeeded", durationMs: 1, message: null });
const page = (from: number, of: number) => {
  return { from, records: Array.from({ length: of - from }, (_, at) => step(from + at)), of };
};

test("SR2 of ten thousand steps only those in the window are drawn, at the place of their number", () => {
  const range = { first: 0, end: 10_000 };
  expect(rowCount(range)).toBe(10_400);
  const rows = rowsIn(range, { top: 100 * 28, height: 280, rowHeight: 28 });
  expect(rows.length).toBeLessThan(30);
  for (const row of rows) if (row.kind === "step") expect(rowOf(range, row.step)).toBe(row.row);
  expect(rowsIn(range, { top: 0, height: 28, rowHeight: 28 })[0]).toEqual({
    kind: "head",
    row: 0,
    first: 0,
    end: BLOCK,
  });
});

test("SR2 every step has one row, also of a run that has let go of its first ones", () => {
  const range = { first: 130, end: 190 };
  const rows = rowsIn(range, { top: 0, height: 10_000, rowHeight: 10 });
  expect(rows.flatMap((row) => (row.kind === "step" ? row.step : []))).toEqual(
    Array.from({ length: 60 }, (_, at) => 130 + at),
  );
  expect(rows.filter(({ kind }) => kind === "head")).toHaveLength(3);
  expect(blockOf(range, 184)).toEqual({ first: 180, end: 190 });
  expect(rowsIn({ first: 0, end: 0 }, { top: 0, height: 100, rowHeight: 10 })).toEqual([]);
});

test("SR3 a page is fetched once, again when the run has gone on, and far ones go", () => {
  const range = { first: 0, end: 450 };
  const rows = (top: number) => rowsIn(range, { top, height: 50, rowHeight: 10 });
  let pages: StepPages = new Map();
  expect(missingPage(pages, rows(0), range)).toBe(0);
  pages = withPage(pages, 0, page(0, PAGE));
  expect(missingPage(pages, rows(0), range)).toBeUndefined();
  expect(stepIn(pages, 7)?.step).toBe("s7");
  pages = withPage(pages, 400, page(400, 440));
  const last = rows(rowOf(range, 449) * 10);
  expect(missingPage(pages, last, range)).toBe(400);
  pages = withPage(pages, 400, page(400, 450));
  expect(missingPage(pages, last, range)).toBeUndefined();
  const short = withPage(pages, 400, { ...page(400, 440), of: range.end }); // Asked for in vain.
  expect(missingPage(short, last, range)).toBeUndefined();
  expect(missingPage(short, last, { ...range, end: 451 })).toBe(400);
  for (let at = 0; at < 50; at += 1) pages = withPage(pages, at * PAGE, page(at * PAGE, at * PAGE));
  expect([pages.size, pages.has(0), pages.has(49 * PAGE)]).toEqual([12, false, true]);
});

test("a page that begins later than it was asked for has its steps at their own numbers", () => {
  const pages = withPage(new Map(), 0, page(130, 200));
  expect([stepIn(pages, 129), stepIn(pages, 130)?.step]).toEqual([undefined, "s130"]);
});
