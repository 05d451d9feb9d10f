// The lines that an edit removes, adds and leaves, for people to read before they allow it.
// DF1. Exact: the kept and removed lines are the old text, the kept and added lines the new one.
// DF2. Bounded: texts that would take long to compare are shown as removed and added as a whole.
// DF3. Long stretches of kept lines are folded; a fold says how many lines it hides, so nothing is left out unsaid.

export type DiffLine = { readonly kind: "kept" | "removed" | "added"; readonly text: string };
export type DiffRow = DiffLine | { readonly kind: "fold"; readonly lines: number };

/** DF2. A table of so many cells takes some ten milliseconds. */
const MAX_CELLS = 1 << 20;
/** DF3. Kept lines around a change. */
const AROUND = 3;

export function diffOf(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = changed(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  return [...marked("kept", old.slice(0, head)), ...middle, ...marked("kept", old.slice(old.length - tail))];
}

/** DF3 */
export function folded(lines: readonly DiffLine[]): DiffRow[] {
  const near = new Set<number>();
  for (const [at, { kind }] of lines.entries())
    if (kind !== "kept") for (let by = -AROUND; by <= AROUND; by += 1) near.add(at + by);
  const rows: DiffRow[] = [];
  for (const [at, line] of lines.entries()) {
    const last = rows.at(-1);
    if (near.has(at) || lines.length === 1) rows.push(line);
    else if (last?.kind === "fold") rows[rows.length - 1] = { kind: "fold", lines: last.lines + 1 };
    else rows.push({ kind: "fold", lines: 1 });
  }
  return rows;
}

/** An empty text has no lines; a last line end does not begin another one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function marked(kind: DiffLine["kind"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

/** By the longest common subsequence. */
function changed(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  if (old.length * fresh.length > MAX_CELLS) return [...marked("removed", old), ...marked("added", fresh)]; // DF2
  const lengths = commonLengths(old, fresh);
  const lengthAt = (i: number, j: number) => lengths[i * (fresh.length + 1) + j] ?? 0;
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    const [a, b] = [old[i], fresh[j]];
    if (a !== undefined && a === b) {
      found.push({ kind: "kept", text: a });
      [i, j] = [i + 1, j + 1];
    } else if (a !== undefined && (b === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      found.push({ kind: "removed", text: a });
      i += 1;
    } else {
      found.push({ kind: "added", text: b ?? "" });
      j += 1;
    }
  }
  return found;
}

/** At i × (number of fresh + 1) + j: how many lines the rests from i and j have in common. */
function commonLengths(old: readonly string[], fresh: readonly string[]): Uint32Array {
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const isSame = old[i] === fresh[j];
      const [down, right] = [lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0];
      lengths[i * width + j] = isSame ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  return lengths;
}
