// How far each part of the proof has come, and what its row in docs/PROOF.md says. Pure: proof.ts reads and writes.
// PS1. Rounds of different commits are not added up: a part that another commit began starts again.
// PS2. A finished part stays finished, whatever is committed after it, because its row names its commit.
// PS3. A part with a failure is not finished: its row says how many, and the next run starts it again.
import type { Part } from "./proof-parts.ts";

export type Progress = {
  readonly commit: string;
  /** The day of the last round. */
  readonly date: string;
  /** Of the first round; each next one has the next number. */
  readonly seed: number;
  readonly rounds: number;
  readonly counted: number;
  readonly failures: number;
  readonly seconds: number;
};

export type State = ReadonlyMap<string, Progress>;

/** What a round came to. */
export type Round = { readonly counted: number; readonly failures: number; readonly seconds: number };

const SEEDS = 1e9;
const BEGIN = "<!-- runs of the proof: made by scripts/proof.ts -->\n";
const END = "<!-- end of runs of the proof -->";
const NOT_RUN = "not run yet | | | | |";

export function readState(text: string | undefined): State {
  const found: unknown = text === undefined ? {} : JSON.parse(text);
  return new Map(Object.entries(found ?? {}).filter((entry): entry is [string, Progress] => isProgress(entry[1])));
}

export function writeState(state: State): string {
  return `${JSON.stringify(Object.fromEntries(state), null, 2)}\n`;
}

const NUMBERS = ["seed", "rounds", "counted", "failures", "seconds"];

function isProgress(value: unknown): value is Progress {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  const isText = (name: string) => typeof fields.get(name) === "string";
  return isText("commit") && isText("date") && NUMBERS.every((name) => Number.isSafeInteger(fields.get(name)));
}

export function isFinished({ until }: Part, progress: Progress | undefined): boolean {
  if (progress === undefined || progress.failures > 0) return false; // PS3
  return "rounds" in until ? progress.rounds >= until.rounds : progress.counted >= until.goal;
}

/** Where a run at this commit begins: after the rounds before, or anew. `seed` is a fresh one. */
export function begun(before: Progress | undefined, commit: string, date: string, seed: number): Progress {
  if (before?.commit === commit && before.failures === 0) return { ...before, date }; // PS1, PS3
  return { commit, date, seed, rounds: 0, counted: 0, failures: 0, seconds: 0 };
}

export function seedOf({ seed, rounds }: Progress): number {
  return (seed + rounds) % SEEDS;
}

export function withRound(progress: Progress, { counted, failures, seconds }: Round): Progress {
  return {
    ...progress,
    rounds: progress.rounds + 1,
    counted: progress.counted + counted,
    failures: progress.failures + failures,
    seconds: progress.seconds + Math.round(seconds),
  };
}

/** From what a round printed: `N passed, M failed` if it says that, else its exit code; and what the part counts. */
export function readRound({ until }: Part, printed: string, code: number, seconds: number): Round {
  const told = Number(/^\d+ passed, (\d+) failed$/m.exec(printed)?.[1] ?? 0);
  const counts = "count" in until ? [...printed.matchAll(until.count)].map(([, count]) => Number(count)) : [];
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const countsNothing = "count" in until && counted === 0;
  const failures = told > 0 ? told : Number(code !== 0 || countsNothing);
  return { counted, failures, seconds };
}

/** The cells after what the part tries. */
export function resultOf(part: Part, progress: Progress): string {
  const { seed, rounds, counted, failures, seconds, commit, date } = progress;
  const times = `${rounds} ${rounds === 1 ? "round" : "rounds"}, ${Math.max(1, Math.round(seconds / 60))} min`;
  const count = "count" in part.until ? `${counted.toLocaleString("en-US")} ${part.until.of}, ` : "";
  const unfinished = failures === 0 && !isFinished(part, progress) ? " (unfinished)" : "";
  const seeds = rounds > 1 ? `${seed} to ${(seed + rounds - 1) % SEEDS}` : `${seed}`;
  return `${count}${times}${unfinished} | ${seeds} | ${failures} | \`${commit.slice(0, 12)}\` | ${date} |`;
}

/** The page with a row for each part: this result for `changed`, and for the others what was there. */
export function renewed(page: string, parts: readonly Part[], changed?: Part, result = NOT_RUN): string {
  const [before, rest] = page.split(BEGIN);
  const [old, after] = rest?.split(END) ?? [];
  if (before === undefined || old === undefined || after === undefined)
    throw new Error("the page has no place for runs");
  const rows = parts.map((part) => {
    const there = resultIn(old, part.name) ?? NOT_RUN;
    return `| \`${part.name}\` | ${part.tries} | ${part === changed ? result : there}\n`;
  });
  const head = "| part | what it tries | tried | seeds | failures | commit | date |\n|---|---|---|---|---|---|---|\n";
  return `${before}${BEGIN}${head}${rows.join("")}${END}${after}`;
}

function resultIn(table: string, name: string): string | undefined {
  const row = table.split("\n").find((line) => line.startsWith(`| \`${name}\` | `));
  return row?.split(" | ").slice(2).join(" | ");
}
