// Whether something grew over a run: what was seen of it in the last third of the run against the first.
// GR1. The medians count: one busy moment is not growth.
// GR2. What may grow is stated for each kind, and nothing else may: a fixed part for noise, a part of what was there at
//      the beginning, and a part for each cycle of work, if what the work leaves behind is meant to stay.
export type Sample = ReadonlyMap<string, number>;

export type Tolerance = { readonly fixed: number; readonly part: number; readonly eachCycle: number };

export type Growth = {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly allowed: number;
  readonly isTooMuch: boolean;
};

/** With fewer in a third, a median is a single glance. */
const LEAST_IN_A_THIRD = 3;

/** Undefined if there are too few samples to tell. What is missing in a sample counts as 0: it did not run. */
export function judge(samples: readonly Sample[], toleranceOf: (name: string) => Tolerance): Growth[] | undefined {
  const third = Math.floor(samples.length / 3);
  if (third < LEAST_IN_A_THIRD) return undefined;
  const names = [...new Set(samples.flatMap((sample) => [...sample.keys()]))].sort();
  return names.map((name) => {
    const values = samples.map((sample) => sample.get(name) ?? 0);
    const [first, last] = [median(values.slice(0, third)), median(values.slice(-third))]; // GR1
    const { fixed, part, eachCycle } = toleranceOf(name);
    const allowed = fixed + part * first + eachCycle * (samples.length - third); // GR2
    return { name, first, last, allowed, isTooMuch: last - first > allowed };
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function growthTable(all: readonly Growth[]): string {
  const line = (cells: readonly string[], end: string) =>
    [(cells[0] ?? "").padEnd(58), ...cells.slice(1).map((cell) => cell.padStart(14)), end].join(" ").trimEnd();
  const rows = all.map(({ name, first, last, allowed, isTooMuch }) =>
    line([name, ...[first, last, allowed].map(plain)], isTooMuch ? " GREW" : ""),
  );
  return [line(["what", "first third", "last third", "may grow by"], ""), ...rows].join("\n");
}

function plain(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
