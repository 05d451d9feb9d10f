// Which rows of a long timeline are drawn: those in the window, and a few around it.
// SR1. Steps are in blocks with a line of time of their own: a line for ten thousand steps would show none of them.
// SR2. All rows have the same height, so the place of each follows from its number alone.
// SR3. Steps are fetched in pages as they are seen, and only some pages are kept: a run of any length costs the same.
import type { ListedStep } from "../../wire/rpc/workflow.ts";

/** SR1. About what fits a window. */
export const BLOCK = 25;
/** As many as an answer has (MAX_RECORDS of wire/rpc/listed-run.ts). */
export const PAGE = 200;
/** SR3. Far more than are drawn at once. */
const MAX_PAGES = 12;
/** So that scrolling shows no empty rows. */
const AROUND = 6;

/** A row is the head of a block, or a step of it; `first` and `end` are numbers of steps. */
export type TimelineRow =
  | { readonly kind: "head"; readonly row: number; readonly first: number; readonly end: number }
  | { readonly kind: "step"; readonly row: number; readonly step: number };

/** The steps from `first` on, before `end`: of a run that repeats its steps, old ones are not kept. */
export type StepRange = { readonly first: number; readonly end: number };

export type Sight = { readonly top: number; readonly height: number; readonly rowHeight: number };

export function rowCount({ first, end }: StepRange): number {
  const steps = Math.max(0, end - first);
  return steps + Math.ceil(steps / BLOCK);
}

/** SR2 */
export function rowsIn(range: StepRange, { top, height, rowHeight }: Sight): TimelineRow[] {
  const from = Math.max(0, Math.floor(top / rowHeight) - AROUND);
  const to = Math.min(rowCount(range), Math.ceil((top + height) / rowHeight) + AROUND);
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => rowAt(range, from + at));
}

function rowAt({ first, end }: StepRange, row: number): TimelineRow {
  const block = Math.floor(row / (BLOCK + 1));
  const begin = first + block * BLOCK;
  const place = row % (BLOCK + 1);
  if (place === 0) return { kind: "head", row, first: begin, end: Math.min(end, begin + BLOCK) };
  return { kind: "step", row, step: begin + place - 1 };
}

/** The row of a step. */
export function rowOf({ first }: StepRange, step: number): number {
  const at = step - first;
  return at + Math.floor(at / BLOCK) + 1;
}

/** The block that a step is in. */
export function blockOf({ first, end }: StepRange, step: number): StepRange {
  const begin = first + Math.floor((step - first) / BLOCK) * BLOCK;
  return { first: begin, end: Math.min(end, begin + BLOCK) };
}

/** Steps from number `from` on, as they were when `of` steps had ended. */
export type StepPage = { readonly from: number; readonly records: readonly ListedStep[]; readonly of: number };
/** What was fetched of a run's steps, by the number that was asked for. It is replaced, never changed. */
export type StepPages = ReadonlyMap<number, StepPage>;

export function stepIn(pages: StepPages, step: number): ListedStep | undefined {
  const page = pages.get(pageOf(step));
  return page?.records[step - page.from];
}

function pageOf(step: number): number {
  return step - (step % PAGE);
}

/** The first page that these rows need and that is not there, or has more by now; undefined if there is none. */
export function missingPage(pages: StepPages, rows: readonly TimelineRow[], range: StepRange): number | undefined {
  const wanted = rows.flatMap((row) => (row.kind === "head" ? blockSteps(row) : [row.step]));
  const step = wanted.find((one) => one < range.end && stepIn(pages, one) === undefined && !isNew(pages, one, range));
  return step === undefined ? undefined : pageOf(step);
}

/** What was not there a moment ago is not asked for again before the run has gone on. */
function isNew(pages: StepPages, step: number, { end }: StepRange): boolean {
  return pages.get(pageOf(step))?.of === end;
}

/** Both ends of a block: its scale needs all between, and a page is longer. */
function blockSteps({ first, end }: StepRange): number[] {
  return end > first ? [first, end - 1] : [];
}

/** SR3. With a page more; those that are farthest from it go. */
export function withPage(pages: StepPages, start: number, page: StepPage): StepPages {
  const others = [...pages].filter(([one]) => one !== start);
  const near = others.toSorted(([a], [b]) => Math.abs(a - start) - Math.abs(b - start));
  return new Map([[start, page] as const, ...near].slice(0, MAX_PAGES));
}
