// One line of the result: our figure, the peer's, and how they compare; as a table for people and as JSON for programs.
// B1. `ratio` is always "better is larger": ours ÷ peer's for a rate, peer's ÷ ours for a time.
// B2. A bar is information. Machines differ and are noisy, so a missed one is printed and never an exit code.

/** Printed with --json: fields are added, never changed. */
export type Row = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly peer: string;
  readonly peerValue: number;
  readonly ratio: number;
};

/** What the project promises of a figure. */
export type Bar =
  | { readonly of: "ratio" | "value"; readonly atLeast: number }
  | { readonly of: "value"; readonly atMost: number };

export type Figures = {
  readonly name: string;
  readonly value: number;
  readonly peer: string;
  readonly peerValue: number;
};

export function rateRow(figures: Figures, unit = "events/s"): Row {
  return { ...figures, unit, ratio: figures.value / figures.peerValue }; // B1
}

export function timeRow(figures: Figures): Row {
  return { ...figures, unit: "ms", ratio: figures.peerValue / figures.value }; // B1
}

/** Of something that should not happen. Nothing can be divided by none, so one is added on both sides. */
export function countRow(figures: Figures, unit: string): Row {
  return { ...figures, unit, ratio: (figures.peerValue + 1) / (figures.value + 1) }; // B1
}

export type Cost = { readonly name: string; readonly value: number; readonly unit: string; readonly bar: number };

/** If no peer is measured, the peer is the bar itself. */
export function costRow({ name, value, unit, bar }: Cost): Row {
  return { name, value, unit, peer: `bar ${bar} ${unit}`, peerValue: bar, ratio: bar / value }; // B1
}

export function toJson(rows: readonly Row[]): string {
  const plain = rows.map(({ name, value, unit, peer, peerValue, ratio }) => {
    return { name, value: short(value), unit, peer, peerValue: short(peerValue), ratio: short(ratio) };
  });
  return JSON.stringify(plain);
}

const WIDTHS = [34, 11, 9, 56, 11, 8] as const;

export function tableHead(): string {
  return line(["name", "ours", "unit", "peer", "peer's", "ratio"], "bar");
}

export function tableLine(row: Row, bar: Bar | undefined): string {
  const { name, value, unit, peer, peerValue, ratio } = row;
  return line([name, forPeople(value), unit, peer, forPeople(peerValue), forPeople(ratio)], verdict(row, bar));
}

function verdict(row: Row, bar: Bar | undefined): string {
  if (bar === undefined) return "";
  const [met, limit] =
    "atLeast" in bar
      ? [row[bar.of] >= bar.atLeast, `≥ ${forPeople(bar.atLeast)}`]
      : [row[bar.of] <= bar.atMost, `≤ ${forPeople(bar.atMost)}`];
  return `${bar.of} ${limit} ${met ? "met" : "MISSED"}`; // B2
}

function line(cells: readonly string[], last: string): string {
  const padded = cells.map((cell, index) => {
    const width = WIDTHS[index] ?? 0;
    const isNumber = index === 1 || index === 4 || index === 5;
    return isNumber ? cell.padStart(width) : cell.padEnd(width);
  });
  return [...padded, last].join("  ").trimEnd();
}

function forPeople(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** More digits than the measurement has would only be noise. */
function short(value: number): number {
  return Number(value.toPrecision(5));
}
