// The word that was probably meant: a known one that differs by few letters.

/** A third of the letters may be wrong; more is another word. */
const SHARE = 3;

/** The candidate closest to `word`; undefined if none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / SHARE)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(word.length - candidate.length) >= least) continue; // So many letters would have to be added.
    const away = distance(word.toLowerCase(), candidate.toLowerCase());
    if (away >= least) continue;
    best = candidate;
    least = away;
  }
  return best;
}

/** Letters to add, remove, replace or swap with their neighbour to turn one word into the other. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = swaps ? (before[j - 2] ?? 0) + 1 : replaced;
      row.push(Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
